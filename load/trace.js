/**
 * A tally that keeps when each operation was called and when its reply was there, for workloads
 * whose operations are looked at one by one (exact medians, points of a plot). Apart from Tally so
 * that the other loads pay nothing for it.
 *
 * The call is timed by itself: what a lane does between a reply and its next call (verifying the
 * reply) is in no latency here, and shows as concurrency that is not reached.
 */

import { Tally } from './tally.js';

export class TraceTally extends Tally {
  /**
   * @param {number} startNs
   * @param {number} operations a finite number: 16 bytes are kept for each
   * @param {number} [windowNs] of the timeline
   */
  constructor(startNs, operations, windowNs) {
    super(startNs, windowNs);
    /** NaN: not called */
    this.calledNs = new Float64Array(operations).fill(Number.NaN);
    /** NaN: no right answer */
    this.endedNs = new Float64Array(operations).fill(Number.NaN);
  }

  /**
   * @param {number} startNs
   * @param {number} endNs
   * @param {number} index
   */
  ok(startNs, endNs, index) {
    super.ok(startNs, endNs, index);
    this.endedNs[index] = endNs;
  }

  /**
   * @param {import('./load.js').LoadOptions['op']} op
   * @param {() => number} now
   * @returns {import('./load.js').LoadOptions['op']} the same, its calls timed
   */
  timed(op, now) {
    const { calledNs } = this;
    return (index, done) => {
      calledNs[index] = now();
      return op(index, done);
    };
  }
}
