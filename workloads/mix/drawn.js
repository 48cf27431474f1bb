/** Kind and row of each operation, drawn from the seed before the clock starts. */

import { createRandom, drawBelow } from '../../lib/random.js';
import { KINDS } from './weights.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */

const KIND_STREAM = 0x6372; // distinct from the streams of keys and orders
const SCAN_STREAM = 0x6373;
export const SCAN_ROWS_MAX = 100;
/** Number of hashes per process, written before the clock starts. */
const HASHES_MAX = 1000;
const HASH_CHARS_MAX = 8 * 2 ** 20;
/** Number of values to write, generated before the clock starts and then reused. */
const VALUES_CHARS_MAX = 64 * 2 ** 20;

/** Includes those of YCSB: a scan as one multi-get, and a read with a write of the same row. */
export const ALL_KINDS = Object.freeze([...KINDS, 'fetch', 'modify']);
/** Numbers of the kinds. @type {Readonly<Record<string, number>>} */
export const KIND = Object.freeze(Object.fromEntries(ALL_KINDS.map((name, i) => [name, i])));

/**
 * @typedef {object} Drawn
 * @property {Uint8Array} kinds by operation, an index of ALL_KINDS
 * @property {Uint32Array} keys rows of the dataset; for a scan, the first one
 * @property {Int32Array} slots see placeWrites
 * @property {Uint8Array} lengths lengths of scans, in rows
 * @property {Uint32Array} hashKeys ids of hashes; may be empty
 * @property {Int32Array} hashSlots slots of hsets
 * @property {number[]} hashes ids of all used hashes
 */

/**
 * @param {{ dataset: Dataset, seed: number, keys: Uint32Array, weights:
 *   import('./weights.js').Weights, firstHash: number }} from keys: drawn, changed in place;
 *   firstHash: the first id of a hash
 * @returns {Drawn}
 */
export function drawOperations({ dataset, seed, keys, weights, firstHash }) {
  const { rows, meanSize } = dataset;
  const kinds = drawKinds(weights, keys.length, seed);
  const isWrite = (/** @type {number} */ kind) => kind === KIND.set || kind === KIND.modify;
  const slots = placeWrites(keys, meanSize, (i) => isWrite(kinds[i]));
  const random = createRandom(seed, SCAN_STREAM);
  const lengths = new Uint8Array(keys.length);
  const isHash = (/** @type {number} */ kind) => kind === KIND.hget || kind === KIND.hset;
  const most = Math.max(1, Math.min(rows, HASHES_MAX, Math.floor(HASH_CHARS_MAX / meanSize)));
  const hashKeys = kinds.some(isHash) ? keys.map((id) => firstHash + (id % most)) : NO_KEYS;
  const hashSlots = placeWrites(hashKeys, meanSize, (i) => kinds[i] === KIND.hset);
  /** @type {Set<number>} */
  const hashes = new Set();
  for (let i = 0; i < keys.length; i += 1) {
    if (kinds[i] === KIND.scan || kinds[i] === KIND.fetch) {
      lengths[i] = Math.min(rows, 1 + drawBelow(random, SCAN_ROWS_MAX));
      keys[i] = Math.min(keys[i], rows - lengths[i] + 1);
    } else if (isHash(kinds[i])) hashes.add(hashKeys[i]);
  }
  return { kinds, keys, slots, lengths, hashKeys, hashSlots, hashes: [...hashes] };
}

const NO_KEYS = new Uint32Array(0);

/**
 * @param {import('./weights.js').Weights} weights
 * @param {number} length
 * @param {number} seed
 * @returns {Uint8Array}
 */
function drawKinds(weights, length, seed) {
  const random = createRandom(seed, KIND_STREAM);
  const sum = weights.reduce((all, { weight }) => all + weight, 0);
  const last = weights.findLast(({ weight }) => weight > 0) ?? weights[0];
  return Uint8Array.from({ length }, () => {
    let at = (random() / 2 ** 32) * sum;
    for (const { kind, weight } of weights) {
      if (at < weight) return KIND[kind];
      at -= weight;
    }
    return KIND[last.kind];
  });
}

/**
 * A write beyond the number of values reuses the key of an earlier write, so it changes `keys`.
 * @param {Uint32Array} keys
 * @param {number} valueSize on average
 * @param {(i: number) => boolean} isWrite called once per operation, in order
 * @returns {Int32Array} -1: not a write; otherwise the index of the value to write
 */
function placeWrites(keys, valueSize, isWrite) {
  const places = Math.max(1, Math.floor(VALUES_CHARS_MAX / valueSize));
  const slots = new Int32Array(keys.length);
  /** @type {number[]} ids by index of the value */
  const ids = [];
  let written = 0;
  for (let i = 0; i < slots.length; i += 1) {
    const writes = isWrite(i);
    slots[i] = writes ? written++ % places : -1;
    if (!writes) continue;
    if (ids.length < places) ids.push(keys[i]);
    else keys[i] = ids[slots[i]];
  }
  return slots;
}
