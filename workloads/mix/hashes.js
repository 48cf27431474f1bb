/** A row as a hash: its value is split into fields f0 to f9; a read joins them. */

/** As many fields as a record of YCSB. */
const FIELDS = 10;
const NAMES = Object.freeze(Array.from({ length: FIELDS }, (_, i) => `f${i}`));

/**
 * @param {number} size size of a value @returns {number} size of a field; the last one may be
 *   shorter
 */
function fieldSize(size) {
  return Math.ceil(size / FIELDS);
}

/** @param {number} size size of a value @returns {readonly string[]} names of its fields */
export function fieldNames(size) {
  const count = Math.ceil(size / fieldSize(size));
  return count === FIELDS ? NAMES : NAMES.slice(0, count);
}

/** @param {string} text a value @returns {string[]} its fields, in the order of their names */
export function splitFields(text) {
  const size = fieldSize(text.length);
  return fieldNames(text.length).map((_, i) => text.slice(i * size, (i + 1) * size));
}

/**
 * @param {Readonly<Record<string, unknown>>} fields by name
 * @param {number} size size of the value
 * @returns {string | null | undefined} the value; undefined: no fields; null: unexpected fields or
 *   lengths
 */
export function joinFields(fields, size) {
  const names = Object.keys(fields);
  if (names.length === 0) return undefined;
  const fieldsOfValue = fieldNames(size);
  if (names.length !== fieldsOfValue.length) return null;
  const each = fieldSize(size);
  let text = '';
  for (const [i, name] of fieldsOfValue.entries()) {
    const field = fields[name];
    const length = Math.min(each, size - i * each);
    if (typeof field !== 'string' || field.length !== length) return null;
    text += field;
  }
  return text;
}
