/**
 * The rows of every server: a pure function of (seed, index), identical everywhere. Loaders write
 * them, reads are verified against them.
 *
 * A value is plain ASCII from a 64-letter alphabet, so that it is the same in every character set
 * and protocol. Its first eight letters are a tag: five letters of the row's id, masked by the
 * seed, then three letters common to the whole dataset. The tag verifies every reply against its
 * key in a few nanoseconds. Its body is a piece of one long text, at an offset of its own, so a
 * reply can be compared in full without creating the row.
 */

import { usageError } from './errors.js';
import { namesOf } from './namespace.js';
import { mix32 } from './random.js';
import { parseVersion, VERSION_LETTERS } from './row-version.js';
import { parseSizes, sizesName, VALUE_SIZE_MAX, VALUE_SIZE_MIN } from './value-sizes.js';

export { VALUE_SIZE_MAX } from './value-sizes.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const LETTERS = Buffer.from(ALPHABET, 'latin1');

/** Letters in a tag; also the smallest value. */
export const TAG_LENGTH = VALUE_SIZE_MIN;
/** Number of offsets of bodies: two rows of 16 KiB rarely overlap. */
const TEXT_LENGTH = 2 ** 20;
const TEXT_SEED = 0x9e3779b9;
/** Five letters of six bits hold an id. */
export const ROWS_MAX = 2 ** 30 - 1;

/**
 * Location of the dataset on each server: names owned by Dragstrip, nothing else is touched.
 * @type {import('./types.js').Namespace}
 */
export const ROWS_NAMESPACE = Object.freeze({
  name: 'rows',
  rows: true,
  redis: { prefix: 'dragstrip:row:', marker: 'dragstrip:dataset' },
  mariadb: { database: 'hs_test', table: 'table_test' },
  tarantool: { space: 'dragstrip_rows', marker: 'dragstrip_dataset', key: 'dataset' },
});

/** The same names as in an open context. */
export const ROW_NAMES = namesOf(ROWS_NAMESPACE);

/** @typedef {import('./types.js').Dataset} Dataset */
/** @typedef {import('./types.js').DatasetOptions} DatasetOptions */

/** @type {Readonly<DatasetOptions>} */
export const DATASET_DEFAULTS = Object.freeze({ rows: 100_000, valueSize: 1024, seed: 1 });

/**
 * @param {Partial<DatasetOptions>} [options] rows 1 to ROWS_MAX, valueSize TAG_LENGTH to
 *   VALUE_SIZE_MAX characters, or valueSizes, seed 0 to 2^32 - 1
 * @returns {Dataset} dataset whose ids run from 1 to rows, as in the SQL table
 * @throws {import('./errors.js').DragstripError} E_USAGE: an option is out of range
 */
export function createDataset(options = {}) {
  const { rows, seed, valueSizes } = { ...DATASET_DEFAULTS, ...options };
  const sizes = valueSizes === undefined ? null : parseSizes(valueSizes);
  const { valueSize = DATASET_DEFAULTS.valueSize } = sizes ? { valueSize: sizes.max } : options;
  requireInteger('--rows', rows, 1, ROWS_MAX);
  requireInteger('--value-size', valueSize, TAG_LENGTH, VALUE_SIZE_MAX);
  requireInteger('--seed', seed, 0, 2 ** 32 - 1);
  const mask = mix32(seed, 0x7461) & ROWS_MAX;
  const family = mix32(mix32(seed, sizes ? hashOf(sizes.text) : valueSize), 0x6673) & 0x3ffff;
  const sizeOfRow = sizes?.bind(seed) ?? null;
  const sizeOf = sizeOfRow ?? (() => valueSize);
  const f0 = LETTERS[family >>> 12];
  const f1 = LETTERS[(family >>> 6) & 63];
  const f2 = LETTERS[family & 63];
  const scratch = Buffer.allocUnsafe(valueSize);
  const { string: letters, bytes } = textFor(valueSize);
  const placeOf = (/** @type {number} */ id) => mix32(seed, id) & (TEXT_LENGTH - 1);

  /** @type {Dataset['write']} */
  function write(id, target, offset = 0) {
    const word = id ^ mask;
    target[offset] = LETTERS[(word >>> 24) & 63];
    target[offset + 1] = LETTERS[(word >>> 18) & 63];
    target[offset + 2] = LETTERS[(word >>> 12) & 63];
    target[offset + 3] = LETTERS[(word >>> 6) & 63];
    target[offset + 4] = LETTERS[word & 63];
    target[offset + 5] = f0;
    target[offset + 6] = f1;
    target[offset + 7] = f2;
    const end = offset + (sizeOfRow === null ? valueSize : sizeOfRow(id));
    const from = placeOf(id);
    target.set(bytes.subarray(from, from + end - offset - TAG_LENGTH), offset + TAG_LENGTH);
    return end;
  }

  /** @type {Dataset['value']} */
  function value(id) {
    return scratch.toString('latin1', 0, write(id, scratch, 0));
  }

  /** @type {Dataset['belongs']} */
  function belongs(id, text) {
    const word = id ^ mask;
    return (
      text.length === (sizeOfRow === null ? valueSize : sizeOfRow(id)) &&
      text.charCodeAt(0) === LETTERS[(word >>> 24) & 63] &&
      text.charCodeAt(1) === LETTERS[(word >>> 18) & 63] &&
      text.charCodeAt(2) === LETTERS[(word >>> 12) & 63] &&
      text.charCodeAt(3) === LETTERS[(word >>> 6) & 63] &&
      text.charCodeAt(4) === LETTERS[word & 63] &&
      text.charCodeAt(5) === f0 &&
      text.charCodeAt(6) === f1 &&
      text.charCodeAt(7) === f2
    );
  }

  /** @type {Dataset['matches']} */
  function matches(id, text) {
    if (!belongs(id, text)) return false;
    const from = placeOf(id);
    const { length } = text;
    if (text.slice(TAG_LENGTH) === letters.slice(from, from + length - TAG_LENGTH)) return true;
    const at = length - VERSION_LETTERS;
    if (at < TAG_LENGTH || parseVersion(id, text) === null) return false;
    return text.slice(TAG_LENGTH, at) === letters.slice(from, from + at - TAG_LENGTH);
  }

  const meanSize = sizes?.mean ?? valueSize;
  const minSize = sizes?.min ?? valueSize;
  const fields = { rows, valueSize, ...(sizes && { valueSizes: sizes.text }), seed };
  return { ...fields, minSize, meanSize, sizeOf, value, write, belongs, matches };
}

/**
 * @param {DatasetOptions} dataset any object with these fields
 * @returns {DatasetOptions} only these fields, from which another process recreates the dataset
 */
export function datasetOptions({ rows, valueSize, valueSizes, seed }) {
  return { rows, valueSize, ...(valueSizes !== undefined && { valueSizes }), seed };
}

/**
 * @param {DatasetOptions} a fields of a dataset, or of the mark of a server
 * @param {DatasetOptions} b
 * @returns {boolean} whether a row of both has the same value
 */
export function haveSameRows(a, b) {
  const names = [a, b].map(({ valueSizes = '' }) => sizesName(valueSizes));
  return a.seed === b.seed && a.valueSize === b.valueSize && names[0] === names[1];
}

/**
 * @param {DatasetOptions} a
 * @param {DatasetOptions} b
 */
export function isSameDataset(a, b) {
  return a.rows === b.rows && haveSameRows(a, b);
}

/** @param {string} text @returns {number} 32 bits of its hash */
function hashOf(text) {
  let hash = 0;
  for (let i = 0; i < text.length; i += 1) hash = mix32(hash, text.charCodeAt(i));
  return hash;
}

/** Source of all bodies, by the required length. */
const text = { string: '', bytes: Buffer.alloc(0) };

/**
 * A text of TEXT_LENGTH letters, repeated, drawn by a 32-bit xorshift (Marsaglia 2003: 13, 17, 5).
 * @param {number} length length of the longest piece
 * @returns {typeof text}
 */
function textFor(length) {
  if (text.bytes.length >= TEXT_LENGTH + length) return text;
  const bytes = Buffer.allocUnsafe(TEXT_LENGTH + length);
  let word = TEXT_SEED;
  for (let at = 0; at < TEXT_LENGTH; at += 1) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    bytes[at] = LETTERS[word >>> 26];
  }
  for (let at = TEXT_LENGTH; at < bytes.length; at += TEXT_LENGTH) bytes.copy(bytes, at, 0, at);
  return Object.assign(text, { bytes, string: bytes.toString('latin1') });
}

/**
 * @param {string} option
 * @param {number} value
 * @param {number} min
 * @param {number} max
 */
function requireInteger(option, value, min, max) {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw usageError(`${option} ${value}: not a whole number from ${min} to ${max}`);
}
