/**
 * The point read: one row by its key, keys uniform over the rows. The same keys in the same order
 * for every storage; a reply counts only if it is the row of its key.
 */

import { defineWorkload } from '../lib/define.js';
import { MISMATCH, MISS, OK } from '../lib/outcome.js';
import { createRandom, drawBelow } from '../lib/random.js';

/** 16 MiB of keys; a longer run goes through them again. */
export const KEYS_MAX = 4_194_304;

const KEY_STREAM = 0x6765; // apart from the streams that draw orders of cells

/** @typedef {import('../lib/types.js').Dataset} Dataset */

export const workload = defineWorkload({
  name: 'get',
  summary: 'one row by its key, uniform over all rows',
  needs: ['get'],
  prepare({ dataset, seed, ops }) {
    const keys = drawKeys(dataset.rows, seed, ops);
    return (handle) => ({ op: bindOp(handle, keys), verify: bindVerify(handle, dataset, keys) });
  },
});

/**
 * @param {number} rows
 * @param {number} seed
 * @param {number} ops how many operations there will be; any number from 1, or Infinity
 * @returns {Uint32Array} ids from 1 to rows; min(ops, KEYS_MAX) of them
 */
export function drawKeys(rows, seed, ops) {
  const random = createRandom(seed, KEY_STREAM);
  const keys = new Uint32Array(Math.max(1, Math.min(ops, KEYS_MAX)));
  for (let i = 0; i < keys.length; i += 1) keys[i] = 1 + drawBelow(random, rows);
  return keys;
}

/**
 * `done` is passed on whatever the style: an adapter of promises takes one argument.
 * @param {import('../lib/types.js').Handle} handle
 * @param {Uint32Array} keys
 * @returns {import('../lib/types.js').BoundWorkload['op']}
 */
function bindOp(handle, keys) {
  const { length } = keys;
  return (index, done) => handle.get(keys[index < length ? index : index % length], done);
}

/**
 * Two closures rather than one with a test inside: it runs once for every operation.
 * @param {import('../lib/types.js').Handle} handle
 * @param {Dataset} dataset
 * @param {Uint32Array} keys
 * @returns {import('../lib/types.js').BoundWorkload['verify']}
 */
function bindVerify(handle, dataset, keys) {
  const { length } = keys;
  const { value } = handle;
  if (value === undefined) {
    return (index, reply, whole) =>
      judge(dataset, keys[index < length ? index : index % length], reply, whole);
  }
  return (index, reply, whole) =>
    judge(dataset, keys[index < length ? index : index % length], value(reply), whole);
}

/**
 * @param {Dataset} dataset
 * @param {number} id
 * @param {unknown} text
 * @param {boolean} whole
 * @returns {number} OK, MISS or MISMATCH
 */
function judge(dataset, id, text, whole) {
  if (text === undefined) return MISS;
  if (typeof text !== 'string' || !dataset.belongs(id, text)) return MISMATCH;
  return !whole || dataset.value(id) === text ? OK : MISMATCH;
}
