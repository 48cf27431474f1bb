/**
 * Due times of the operations of an open loop: constant intervals, a Poisson process drawn from a
 * seed, or the times of a trace. Pure; it reads no clock and sends nothing.
 *
 * Arrivals are drawn one by one while the load runs, without allocation: a list would take 8 bytes
 * per operation and delay the start.
 */

import { createRandom } from '../lib/random.js';

/** @typedef {'constant' | 'poisson' | 'trace'} ArrivalDistribution */

/**
 * @typedef {object} ArrivalOptions
 * @property {number} perSecond
 * @property {ArrivalDistribution} arrivals
 * @property {number} seed
 * @property {Float64Array} [timesNs] start times of a trace, ascending
 * @property {{ index: number, count: number }} [share] only every `count`-th arrival, from index
 *   `index` on: other processes send the others
 * @property {number} [count] number of arrivals, if already counted: counting millions takes tenths
 *   of a second, which would delay a load with a fixed start
 */

const WHOLE = Object.freeze({ index: 0, count: 1 });
const STREAM = 0x6172; // distinct from the streams of keys and orders

/** A sequence of arrival times. */
export class Arrivals {
  /** @param {ArrivalOptions} options */
  constructor({ perSecond, arrivals, seed, share = WHOLE, timesNs }) {
    this.share = share;
    this.gapNs = 1e9 / perSecond;
    this.poisson = arrivals === 'poisson';
    this.timesNs = arrivals === 'trace' ? (timesNs ?? new Float64Array()) : null;
    this.random = createRandom(seed, STREAM);
    this.drawn = 0;
    this.atNs = 0;
  }

  /**
   * The first constant arrival is at 0, the k-th at k / R: a product, not a sum, so that rounding
   * errors do not accumulate. The gaps of a Poisson process are exponential: -ln(1 - U) / R, with U
   * in [0, 1). A share draws the arrivals of the others too: together they are one process's.
   * @returns {number} ns after the start, ascending; Infinity after the end of a trace
   */
  next() {
    const { index, count } = this.share;
    if (this.timesNs !== null) {
      this.atNs = this.timesNs[this.drawn * count + index] ?? Number.POSITIVE_INFINITY;
    } else if (this.poisson) {
      for (let left = this.drawn === 0 ? index + 1 : count; left > 0; left -= 1) this.addGap();
    } else {
      this.atNs = (this.drawn * count + index) * this.gapNs;
    }
    this.drawn += 1;
    return this.atNs;
  }

  addGap() {
    const u = ((this.random() >>> 5) * 67108864 + (this.random() >>> 6)) / 9007199254740992;
    this.atNs -= Math.log1p(-u) * this.gapNs;
  }
}

/**
 * Number of operations a load schedules: those due before `durationNs`, at most `operations`.
 * @param {ArrivalOptions} options
 * @param {{ durationNs: number, operations: number }} bounds at least one is finite
 * @returns {number}
 */
export function countArrivals(options, { durationNs, operations }) {
  if (options.count !== undefined) return options.count;
  if (!Number.isFinite(durationNs)) return operations;
  const arrivals = new Arrivals(options);
  let count = 0;
  if (options.arrivals === 'constant') {
    // The division may round, so the product decides, as it does when they are sent.
    const { gapNs, share } = arrivals;
    const atNs = (/** @type {number} */ k) => (k * share.count + share.index) * gapNs;
    count = Math.max(0, Math.ceil((durationNs / gapNs - share.index) / share.count));
    while (count > 0 && atNs(count - 1) >= durationNs) count -= 1;
    while (atNs(count) < durationNs) count += 1;
    return Math.min(count, operations);
  }
  while (count < operations && arrivals.next() < durationNs) count += 1;
  return count;
}
