/**
 * When the operations of an open loop are due: at constant distances, or at the arrivals of a
 * Poisson process drawn from a seed. Pure; it knows no clock and sends nothing.
 *
 * Arrivals are drawn one after another while the load runs, without an allocation: a list of them
 * would be 8 bytes an operation, and its filling a pause before the start.
 */

import { createRandom } from '../lib/random.js';

/** @typedef {'constant' | 'poisson'} ArrivalLaw */

const STREAM = 0x6172; // apart from the streams of keys and orders

/** Times of arrivals, one after another. */
export class Arrivals {
  /**
   * @param {{ perSecond: number, arrivals: ArrivalLaw, seed: number, offsetNs?: number }} options
   *   offsetNs: of the first constant arrival, where others send in between
   */
  constructor({ perSecond, arrivals, seed, offsetNs = 0 }) {
    this.offsetNs = offsetNs;
    this.gapNs = 1e9 / perSecond;
    this.poisson = arrivals === 'poisson';
    this.random = createRandom(seed, STREAM);
    this.drawn = 0;
    this.atNs = 0;
  }

  /**
   * The first constant arrival is at 0, the k-th at k / R: computed, not summed up, so that no
   * rounding adds up. The gaps of a Poisson process are exponential: -ln(1 - U) / R, U in [0, 1).
   * @returns {number} ns after the start, never less than the one before
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
 * How many operations a load schedules: those due before `durationNs`, `operations` at most.
 * @param {{ perSecond: number, arrivals: ArrivalLaw, seed: number, offsetNs?: number }} options
 * @param {{ durationNs: number, operations: number }} bounds one of them is finite
 * @returns {number}
 */
export function countArrivals(options, { durationNs, operations }) {
  if (!Number.isFinite(durationNs)) return operations;
  const arrivals = new Arrivals(options);
  let count = 0;
  if (options.arrivals === 'constant') {
    // The division may be a rounding off: the product decides, as it does when they are sent.
    const { gapNs, offsetNs } = arrivals;
    count = Math.max(0, Math.ceil((durationNs - offsetNs) / gapNs));
    while (count > 0 && offsetNs + (count - 1) * gapNs >= durationNs) count -= 1;
    while (offsetNs + count * gapNs < durationNs) count += 1;
    return Math.min(count, operations);
  }
  while (count < operations && arrivals.next() < durationNs) count += 1;
  return count;
}
