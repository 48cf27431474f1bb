/** A uniform sample of keys, in a number that is known, of a sequence whose length is not. */

import { createRandom, drawBelow } from '../../lib/random.js';

const SAMPLE_STREAM = 0x6f77; // apart from the streams of keys and orders

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

  /** Each once: SCAN may give a key twice. */
  get drawn() {
    return [...new Set(this.keys)];
  }
}
