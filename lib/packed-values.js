/**
 * The values of slices in a stored result: a text instead of each array, a third of its size. A
 * value is two bytes, its logarithm in steps of 0.06 %, far below the scatter of slices. Values in
 * memory are rounded to these steps on creation, so that a stored result equals its run exactly.
 */

const STEPS = 1750;
const NOTHING = 0;
const ZERO = 1;
const ONE = 2;
const CODE_MAX = 0xffff;
/** Digits of the numbers at the steps: enough to keep them distinct. */
const DIGITS = 6;

/** The packed fields of a contender's round. */
const FIELDS = Object.freeze(['timePs', 'clientCpuPs', 'serverCpuPs', 'medianNs']);

/** @param {number | null} value */
function codeOf(value) {
  if (value === null) return NOTHING;
  if (!(value > 0)) return ZERO;
  return Math.min(CODE_MAX, ONE + Math.max(0, Math.round(Math.log(value) * STEPS)));
}

/** @param {number} code */
function numberAt(code) {
  if (code === NOTHING) return null;
  return code === ZERO ? 0 : Number(Math.exp((code - ONE) / STEPS).toPrecision(DIGITS));
}

/**
 * @param {number | null} value
 * @returns {number | null} the nearest packable value
 */
export function roundedToStep(value) {
  return numberAt(codeOf(value));
}

/**
 * @param {readonly (number | null)[]} values
 * @returns {string} base64 of two bytes each, the lower one first
 */
export function packValues(values) {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt16LE(codeOf(value), 2 * i);
  return bytes.toString('base64');
}

/**
 * @param {string} text result of packValues
 * @returns {(number | null)[]}
 */
export function unpackValues(text) {
  const bytes = Buffer.from(text, 'base64');
  return Array.from({ length: bytes.length >> 1 }, (_, i) => numberAt(bytes.readUInt16LE(2 * i)));
}

/**
 * @template Document
 * @param {Document} result
 * @returns {Document} as stored; unchanged if it has no slices
 */
export function packResult(result) {
  return mapSlices(result, (values) => (Array.isArray(values) ? packValues(values) : values));
}

/**
 * @template Document
 * @param {Document} data stored result, not validated yet, of this or an earlier version
 * @returns {Document}
 */
export function unpackResult(data) {
  return mapSlices(data, (values) => (typeof values === 'string' ? unpackValues(values) : values));
}

/**
 * @template Document
 * @param {Document} document document of any form
 * @param {(values: unknown) => unknown} map
 * @returns {Document}
 */
function mapSlices(document, map) {
  const { comparison } = /** @type {any} */ (document) ?? {};
  const ofRound = (/** @type {any} */ round) => ({
    ...round,
    ...Object.fromEntries(
      FIELDS.flatMap((name) => (name in round ? [[name, map(round[name])]] : [])),
    ),
  });
  const loads = each(comparison?.loads, (load) => ({
    ...load,
    contenders: each(load.contenders, (contender) => ({
      ...contender,
      rounds: each(contender.rounds, ofRound),
    })),
  }));
  if (loads === undefined) return document;
  const { unfinished } = comparison;
  const packed = { loads: each(unfinished?.loads, (list) => each(list, ofRound)) };
  const journal = packed.loads && { unfinished: { ...unfinished, ...packed } };
  return { ...document, comparison: { ...comparison, loads, ...journal } };
}

/**
 * @param {any} list
 * @param {(one: any) => any} map
 * @returns {any} unchanged if it is not a list of objects
 */
function each(list, map) {
  if (!Array.isArray(list)) return list;
  return list.map((one) => (typeof one === 'object' && one !== null ? map(one) : one));
}
