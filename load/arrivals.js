/**
 * Due times of the operations of an open loop: constant intervals, or a Poisson process drawn from
 * a seed. Pure; it reads no clock and sends nothing.
 *
 * Arrivals are drawn one by one while the load runs, without allocation: a list would take 8 bytes
 * per operation and delay the start.
 */

import { createRandom } from '../lib/random.js';

/** @typedef {'constant' | 'poisson'} ArrivalDistribution */

/**
 * @typedef {object} ArrivalOptions
 * @property {number} perSecond
 * @property {ArrivalDistribution} arrivals
 * @property {number} seed
 * @property {number} [offsetNs] time of the first constant arrival, if other processes send in
 *   between
 */

const STREAM = 0x6172; // distinct from the streams of keys and orders

/** A sequence of arrival times. */
export class Arrivals {
  /** @param {ArrivalOptions} options */
  constructor({ perSecond, arrivals, seed, offsetNs = 0 }) {
    this.offsetNs = offsetNs;
    this.gapNs = 1e9 / perSecond;
    this.poisson = arrivals === 'poisson';
    this.random = createRandom(seed, STREAM);
    this.drawn = 0;
    this.atNs = 0;
  }

  /**
   * The first constant arrival is at 0, the k-th at k / R: a product, not a sum, so that rounding
   * errors do not accumulate. The gaps of a Poisson process are exponential: -ln(1 - U) / R, with U
   * in [0, 1).
   * @returns {number} ns after the start, not decreasing
   */
  next() {
    if (this.poisson) {
      const u = ((this.random() >>> 5) * 67108864 + (this.random() >>> 6)) / 9007199254740992;
      this.atNs -= Math.log1p(-u) * this.gapNs;
    } else {
      this.atNs = this.offsetNs + this.drawn * this.gapNs;
    }
    this.drawn += 1;
    return this.atNs;
  }
}

/**
 * Number of operations a load schedules: those due before `durationNs`, at most `operations`.
 * @param {ArrivalOptions} options
 * @param {{ durationNs: number, operations: number }} bounds one of them is finite
 * @returns {number}
 */
export function countArrivals(options, { durationNs, operations }) {
  if (!Number.isFinite(durationNs)) return operations;
  const arrivals = new Arrivals(options);
  let count = 0;
  if (options.arrivals === 'constant') {
    // The division may round: the product decides, as it does when they are sent.
    const { gapNs, offsetNs } = arrivals;
    count = Math.max(0, Math.ceil((durationNs - offsetNs) / gapNs));
    while (count > 0 && offsetNs + (count - 1) * gapNs >= durationNs) count -= 1;
    while (offsetNs + count * gapNs < durationNs) count += 1;
    return Math.min(count, operations);
  }
  while (count < operations && arrivals.next() < durationNs) count += 1;
  return count;
}
