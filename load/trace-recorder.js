/**
 * A recorder that stores the call and reply times of every operation, for workloads that analyse
 * operations individually (exact medians, points of a plot). A separate class, so that other loads
 * do not pay for it.
 *
 * Calls are timed individually: a worker's work between a reply and its next call (verification) is
 * not part of any latency and appears as lower concurrency than configured.
 */

import { Recorder } from './recorder.js';

export class TraceRecorder extends Recorder {
  /**
   * @param {number} startNs
   * @param {number} operations finite: 16 bytes are stored per operation
   * @param {number} [windowNs] window of the timeline
   */
  constructor(startNs, operations, windowNs) {
    super(startNs, windowNs);
    /** NaN: not called */
    this.calledNs = new Float64Array(operations).fill(Number.NaN);
    /** NaN: no verified reply */
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
   * @returns {import('./load.js').LoadOptions['op']} the same function with its calls timed
   */
  timed(op, now) {
    const { calledNs } = this;
    return (index, done) => {
      calledNs[index] = now();
      return op(index, done);
    };
  }
}
