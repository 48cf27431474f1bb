/** A row as a hash of Redis: fields f0, f1 and so on, in the formats of drivers. Pure. */

/** @type {string[]} by number, created on first use */
const NAMES = [];

/** @param {number} i */
function nameOf(i) {
  NAMES[i] ??= `f${i}`;
  return NAMES[i];
}

/**
 * @param {readonly string[]} fields
 * @returns {string[]} alternating names and values, for HSET
 */
export function namedFields(fields) {
  return fields.flatMap((text, i) => [nameOf(i), text]);
}

/**
 * @param {readonly string[]} fields
 * @returns {Record<string, string>} by name
 */
export function fieldRecord(fields) {
  return Object.fromEntries(fields.map((text, i) => [nameOf(i), text]));
}

/**
 * @param {readonly string[]} reply alternating names and values, from HGETALL
 * @returns {Record<string, string>} by name
 */
export function fieldsOfPairs(reply) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (let i = 0; i + 1 < reply.length; i += 2) fields[reply[i]] = reply[i + 1];
  return fields;
}
