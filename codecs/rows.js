/**
 * The contents of the fixtures, as pure functions of a number: the rows stored when the replies
 * were recorded, which every codec must decode, and the input of encoders. Independent of all
 * codecs.
 */

import { createDataset } from '../lib/dataset.js';

const SEED = 4;
const small = createDataset({ rows: 1000, valueSize: 16, seed: SEED });
const large = createDataset({ rows: 100, valueSize: 1024, seed: SEED });

/** 21 result sets, 18,600 rows in total, about 800 KB on the wire, as in the original program. */
export const SET_COUNT = 21;
export const SET_ROWS = 18_600;
const ROWS_OF_SET = Math.ceil(SET_ROWS / SET_COUNT);
const PERIOD = 1024;
const BLOBS = 61;
const OTHER_BLOBS = 53;

/** @param {number} id 1 to 1000 @returns {string} 16 characters */
export const smallValue = (id) => small.value(id);

/** @param {number} id 1 to 100 @returns {string} 1024 characters */
export const largeValue = (id) => large.value(id);

/**
 * @param {number} index 0 to 449 @returns {string} three characters, as in the original program's
 *   lists
 */
export const listItem = (index) => (46_656 / 36 + index).toString(36).padStart(3, '0').slice(-3);

/**
 * @param {number} length
 * @param {number} seed
 * @param {number} mask 0x7f keeps them ASCII
 * @returns {Buffer}
 */
function blob(length, seed, mask = 0xff) {
  let state = (seed + 1) * 2_654_435_761;
  return Buffer.from(
    Array.from({ length }, () => {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
      return (state >>> 11) & mask;
    }),
  );
}

const BLOB_POOL = Array.from({ length: BLOBS }, (_, i) => blob(4 + (i % 9), i));
const OTHER_POOL = Array.from({ length: OTHER_BLOBS }, (_, i) => blob(4 + (i % 9), 1000 + i));

/**
 * A bigint, a tinyint, a double and two blobs.
 * @typedef {[number, number, number, Buffer, Buffer]} SetRow
 */

/**
 * The first is beyond 32 bits and within 2^53, different in each row; the others repeat after
 * PERIOD rows, so that the recorded bytes compress well. The third has a fraction that is exact in
 * binary; the blobs contain all bytes, including those that HandlerSocket escapes.
 * @param {number} index 0 to SET_ROWS - 1
 * @returns {SetRow}
 */
export function setRow(index) {
  const i = index % PERIOD;
  return [
    1_700_000_000_000_000 + index * 1000,
    ((i * 7) % 256) - 128,
    ((i * 37) % 9973) + 0.125 * (1 + (i % 7)),
    BLOB_POOL[(i * 13) % BLOBS],
    OTHER_POOL[(i * 29) % OTHER_BLOBS],
  ];
}

/**
 * @param {number} set 0 to SET_COUNT - 1
 * @returns {SetRow[]}
 */
export function setRows(set) {
  const from = set * ROWS_OF_SET;
  const length = Math.min(ROWS_OF_SET, SET_ROWS - from);
  return Array.from({ length }, (_, i) => setRow(from + i));
}

/** Texts that are easy to get wrong: escapes, the empty text, NULL, multi-byte characters. */
export const MIXED_TEXTS = Object.freeze([
  'plain',
  '',
  null,
  'a tab\tand\na line\r\nor two',
  'é and ß',
  '漢字かな交じり文',
  'a smile 😀 and \u0001 one \u0000 nought \u000f',
  '  blanks at both ends  ',
  '*3 $-1 :0 +OK -ERR',
  `long ${'x'.repeat(120)} end`,
]);

/** @typedef {[string, number, number, Buffer]} BatchRow 40 bytes, int, int, 8 bytes */

export const BATCH_ROWS = 4096;

/**
 * An input row of the batch for encoders. Its blob is ASCII, including control characters, so that
 * codecs that only support strings can write it.
 * @param {number} index
 * @returns {BatchRow}
 */
function batchRow(index) {
  const text = `${smallValue(1 + (index % 1000))}${smallValue(1 + ((index * 7) % 1000))}`;
  return [
    `${text}${String(index).padStart(8, '0')}`,
    index,
    (index * 2_654_435) % 1_000_000_007,
    blob(8, index, 0x7f),
  ];
}

/** @returns {BatchRow[]} */
export function batchRows() {
  return Array.from({ length: BATCH_ROWS }, (_, i) => batchRow(i));
}

export const REQUESTS = 1000;

/** @returns {number[]} keys of point reads, 1 to 1,000,000 */
export function requestKeys() {
  return Array.from({ length: REQUESTS }, (_, i) => 1 + ((i * 611_953) % 1_000_000));
}
