/** A uniform sample of a known number of keys from a sequence of unknown length. */

import { createRandom, drawBelow } from '../../lib/random.js';

const SAMPLE_STREAM = 0x6f77; // distinct from the streams of keys and orders

/**
 * Algorithm R (J. S. Vitter, "Random sampling with a reservoir", 1985).
 * @template {string | number} [K=string]
 */
export class Reservoir {
  /**
   * @param {number} limit
   * @param {number} seed
   */
  constructor(limit, seed) {
    this.limit = limit;
    this.random = createRandom(seed, SAMPLE_STREAM);
    /** @type {K[]} */
    this.keys = [];
    this.seen = 0;
  }

  /** @param {K} key */
  add(key) {
    this.seen += 1;
    if (this.keys.length < this.limit) {
      this.keys.push(key);
      return;
    }
    const at = drawBelow(this.random, this.seen);
    if (at < this.limit) this.keys[at] = key;
  }

  /** Each key once, since SCAN may return a key twice. */
  get drawn() {
    return [...new Set(this.keys)];
  }
}

/**
 * @template {string | number} K
 * @param {{ limit: number, seed: number, listed?: readonly string[] }} how limit: maximum keys;
 *   listed: keys to draw from, instead of those of the server
 * @param {(reservoir: Reservoir<K>) => Promise<void>} look inspects keys of the server
 * @param {(drawn: K[], leave: (why: string) => void) => Promise<{ keys: K[], sizes: number[] }>}
 *   keep receives keys with a text value, sizes: in bytes
 * @returns {Promise<import('./redis.js').Sample<K>>}
 */
export async function drawSample({ limit, seed, listed }, look, keep) {
  /** @type {Reservoir<K>} */
  const reservoir = new Reservoir(limit, seed);
  if (listed === undefined) await look(reservoir);
  else for (const key of listed) reservoir.add(/** @type {K} */ (key));
  /** @type {Record<string, number>} */
  const leftOut = {};
  const { keys, sizes } = await keep(reservoir.drawn, (why) => {
    leftOut[why] = (leftOut[why] ?? 0) + 1;
  });
  sizes.sort((a, b) => a - b);
  const [min = 0] = sizes;
  const valueBytes = { min, median: sizes[sizes.length >> 1] ?? 0, max: sizes.at(-1) ?? 0 };
  return { keys, seen: reservoir.seen, leftOut, valueBytes };
}
