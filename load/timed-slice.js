/**
 * A slice at a given time, while processes elsewhere run theirs of the same load: it begins when a
 * clock says so and ends when it says so, however many operations that are. Its throughput is of
 * the operations that were completed in a window in the middle, which begins when all processes
 * have begun, and is the same for all of them, so that throughputs can be added.
 */

import { Histogram } from '../measure/histogram.js';
import { runLoad } from './load.js';
import { SliceRecorder, SliceSeries } from './slice.js';
import { sleepUntilStart } from './start.js';

/**
 * @typedef {object} SliceTimes on the clock of the process
 * @property {number} startNs it begins
 * @property {number} fromNs the window begins
 * @property {number} endNs the window ends, and nothing is issued any more
 *
 * @typedef {import('./slice.js').SliceFigures & { lateNs: number,
 *   latency: ReturnType<Histogram['toMessage']> | null }} TimedFigures spanOperations: completed in
 *   the window; lateNs: after its start; latency: of all of its operations
 */

export class TimedSliceRecorder extends SliceRecorder {
  /** Of the window. */
  fromNs = 0;
  toNs = Number.POSITIVE_INFINITY;
  completed = 0;

  /** @param {number} startNs @param {number} endNs @param {number} index @override */
  ok(startNs, endNs, index) {
    if (this.okCount === this.latencies.length) this.grow();
    if (endNs > this.fromNs && endNs <= this.toNs) this.completed += 1;
    super.ok(startNs, endNs, index);
  }

  /** How many there will be is not known; after the warm-up this is rare. */
  grow() {
    const { latencies, kindOf, kinds } = this;
    const size = 2 * latencies.length;
    this.latencies = new Float64Array(size);
    this.latencies.set(latencies);
    if (kinds === null) return;
    this.kindOf = new Uint8Array(size);
    this.kindOf.set(kindOf);
  }

  /** @returns {TimedFigures['latency']} of the last run */
  lastLatency() {
    if (this.okCount === 0) return null;
    const histogram = new Histogram();
    for (let i = 0; i < this.okCount; i += 1) histogram.record(this.latencies[i]);
    return histogram.toMessage();
  }
}

export class TimedSliceSeries extends SliceSeries {
  /** @override */
  createRecorder() {
    return new TimedSliceRecorder(this.kinds);
  }

  /**
   * @param {SliceTimes} times
   * @param {import('./load.js').LoadWatch} [watch]
   * @returns {Promise<TimedFigures>}
   */
  async runBetween({ startNs, fromNs, endNs }, watch = {}) {
    const { options } = this;
    const { clock } = options;
    const recorder = /** @type {TimedSliceRecorder} */ (this.recorder);
    await sleepUntilStart(startNs, { clock, signal: watch.signal });
    Object.assign(recorder, { fromNs, toNs: endNs, completed: 0 });
    const report = await runLoad(
      {
        ...options,
        ...{ op: this.op, verify: this.verify, startNs },
        operations: Number.POSITIVE_INFINITY,
        durationNs: Math.max(0, endNs - Math.max(startNs, clock.now())),
        recorder: (now) => {
          recorder.reset(now, 0);
          return recorder;
        },
      },
      watch,
    );
    const { scheduled } = report;
    const isWhole = recorder.okCount === scheduled && report.ended === 'complete';
    const latency = recorder.lastLatency();
    const typical = recorder.absorb();
    this.add(report, scheduled);
    return {
      ...{ startNs: recorder.startNs, endNs: recorder.endNs, ...typical, latency },
      ...{ spanNs: endNs - fromNs, spanOperations: recorder.completed, operations: scheduled },
      valid: isWhole && recorder.completed > 0,
      lateNs: Math.max(0, recorder.startNs - startNs),
    };
  }
}
