/** Pre-encoded reads: many in one buffer, delimited by offsets. */

import { createRandom, drawBelow } from '../../lib/random.js';

/** More than fit into a processor's caches; the pump cycles through them. */
export const REQUESTS = 65_536;
/** Separate from the streams of keys and orders that a race draws. */
const WIRE_STREAM = 0x7769;

/**
 * @typedef {object} Requests
 * @property {Buffer} bytes
 * @property {Uint32Array} offsets one more than there are requests
 * @property {Uint32Array} ids
 */

/**
 * @param {(id: number) => Buffer} encode
 * @param {import('../../lib/types.js').DatasetOptions} dataset
 * @param {number} [count]
 * @returns {Requests} keys uniform over the rows, drawn from the dataset's seed
 */
export function encodeRequests(encode, { rows, seed }, count = REQUESTS) {
  const random = createRandom(seed, WIRE_STREAM);
  const ids = new Uint32Array(count);
  const offsets = new Uint32Array(count + 1);
  /** @type {Buffer[]} */
  const parts = [];
  for (let i = 0; i < count; i += 1) {
    ids[i] = 1 + drawBelow(random, rows);
    parts.push(encode(ids[i]));
    offsets[i + 1] = offsets[i] + parts[i].length;
  }
  return { bytes: Buffer.concat(parts), offsets, ids };
}
