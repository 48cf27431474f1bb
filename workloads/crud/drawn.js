/** What each operation is and on which row: drawn from the seed before the clock starts. */

import { createRandom, drawBelow } from '../../lib/random.js';
import { drawKeys } from '../get/keys.js';
import { placeWrites } from '../mix/slots.js';
import { ALL_KINDS, parseMix } from '../mix/weights.js';
import { SCAN_ROWS_MAX } from '../ycsb/operations.js';
import { splitFields } from './hashes.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */

const KIND_STREAM = 0x6372; // apart from the streams of keys and orders
const SCAN_STREAM = 0x6373;
/** Hashes of a process: written before the clock starts. */
const HASHES_MAX = 1000;
const HASH_CHARS_MAX = 8 * 2 ** 20;

/** Numbers of the kinds, as `kinds` of what is drawn has them. */
export const KIND = /** @type {Readonly<Record<import('../mix/weights.js').Kind, number>>} */ (
  Object.freeze(Object.fromEntries(ALL_KINDS.map((name, i) => [name, i])))
);

/**
 * @typedef {object} Drawn
 * @property {Uint8Array} kinds by operation, an index of ALL_KINDS
 * @property {Uint32Array} keys rows of the dataset; of a scan, the first one
 * @property {Int32Array} slots of sets, see placeWrites
 * @property {Uint8Array} lengths of scans, in rows
 * @property {Uint32Array} hashKeys ids of hashes
 * @property {Int32Array} hashSlots of hsets
 * @property {number[]} hashes ids of all hashes that are used
 */

/**
 * @param {{ dataset: Dataset, seed: number, ops: number, mix: string, keys?: string,
 *   firstHash: number }} from firstHash: the first id of a hash
 * @returns {Drawn}
 */
export function drawOperations({ dataset, seed, ops, mix, keys: distribution, firstHash }) {
  const { rows, meanSize } = dataset;
  const keys = drawKeys(rows, seed, ops, { keys: distribution, spread: dataset.seed });
  const kinds = drawKinds(parseMix(mix), keys.length, seed);
  const slots = placeWrites(keys, meanSize, (i) => kinds[i] === KIND.set);
  const random = createRandom(seed, SCAN_STREAM);
  const lengths = new Uint8Array(keys.length);
  const most = Math.max(1, Math.min(rows, HASHES_MAX, Math.floor(HASH_CHARS_MAX / meanSize)));
  const hashKeys = keys.map((id) => firstHash + (id % most));
  const hashSlots = placeWrites(hashKeys, meanSize, (i) => kinds[i] === KIND.hset);
  /** @type {Set<number>} */
  const hashes = new Set();
  for (let i = 0; i < keys.length; i += 1) {
    if (kinds[i] === KIND.scan) {
      lengths[i] = Math.min(rows, 1 + drawBelow(random, SCAN_ROWS_MAX));
      keys[i] = Math.min(keys[i], rows - lengths[i] + 1);
    } else if (kinds[i] === KIND.hget || kinds[i] === KIND.hset) hashes.add(hashKeys[i]);
  }
  return { kinds, keys, slots, lengths, hashKeys, hashSlots, hashes: [...hashes] };
}

/**
 * @param {import('../mix/weights.js').Weights} weights
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
 * @param {readonly string[]} values
 * @returns {string[][]} the fields of each
 */
export function fieldsOfAll(values) {
  return values.map(splitFields);
}
