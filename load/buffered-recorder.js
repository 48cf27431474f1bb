/**
 * The recorder of short segments of some milliseconds, of which one process runs many: latencies
 * are kept in a plain array during a segment and added to the histogram after it. The histogram
 * covers all segments since the recorder was created; everything else is reset for each.
 */

import { OK, UNSENT } from '../lib/outcome.js';
import { Histogram } from '../measure/histogram.js';
import { Recorder } from './recorder.js';

/**
 * Number of latencies from which the median is computed, evenly spread; sorting more would cost too
 * much.
 */
const MEDIAN_OF_MAX = 1023;

export class BufferedRecorder extends Recorder {
  /**
   * @param {import('./detailed-recorder.js').Kinds | null} [kinds] kinds of operations, in a mix
   */
  constructor(kinds = null) {
    super(0);
    this.kinds = kinds;
    this.byKind = (kinds?.names ?? []).map(() => new Histogram());
    /** Kind of the operation of each latency, in a mix. */
    this.kindOf = new Uint8Array(kinds === null ? 0 : 4096);
    this.latencies = new Float64Array(4096);
    this.okCount = 0;
    /** Short segments end before a blocked loop could delay timers. */
    this.windowEndNs = Number.POSITIVE_INFINITY;
  }

  /** @param {number} startNs @param {number} operations */
  reset(startNs, operations) {
    if (this.latencies.length < operations) this.latencies = new Float64Array(operations);
    if (this.kinds !== null && this.kindOf.length < operations) {
      this.kindOf = new Uint8Array(operations);
    }
    this.okCount = 0;
    this.outcomes.fill(0);
    this.failuresInARow = 0;
    this.samples = [];
    this.startNs = startNs;
    this.endNs = startNs;
    this.closed = false;
  }

  /** @param {number} startNs @param {number} endNs @param {number} index @override */
  ok(startNs, endNs, index) {
    this.latencies[this.okCount] = endNs - startNs;
    if (this.kinds !== null) this.kindOf[this.okCount] = this.kinds.of(index);
    this.okCount += 1;
    this.failuresInARow = 0;
  }

  /** @param {Parameters<Recorder['close']>[0]} end @override */
  close({ endNs, issued, scheduled, pendingOutcome, pendingError }) {
    this.closed = true;
    this.endNs = endNs;
    this.outcomes[OK] = this.okCount;
    const pending = issued - this.total();
    if (pending > 0) {
      this.wrong(pendingOutcome, issued - pending, pendingError);
      this.outcomes[pendingOutcome] += pending - 1;
    }
    this.outcomes[UNSENT] += scheduled - issued;
  }

  /** Adds the latencies of the last segment to the histograms. */
  absorb() {
    const { latencies, okCount, histogram } = this;
    for (let i = 0; i < okCount; i += 1) histogram.record(latencies[i]);
    for (let i = 0; i < okCount && this.kinds !== null; i += 1) {
      this.byKind[this.kindOf[i]].record(latencies[i]);
    }
  }

  /** @returns {number | null} median of the latencies of the last segment */
  median() {
    const { latencies, okCount } = this;
    if (okCount === 0) return null;
    const size = Math.min(okCount, MEDIAN_OF_MAX);
    const picked = new Float64Array(size);
    for (let i = 0; i < size; i += 1) picked[i] = latencies[Math.floor((i * okCount) / size)];
    picked.sort();
    return picked[size >>> 1];
  }

  /** @returns {ReturnType<Histogram['toMessage']> | null} outcome counts of the last segment */
  lastLatency() {
    if (this.okCount === 0) return null;
    const histogram = new Histogram();
    for (let i = 0; i < this.okCount; i += 1) histogram.record(this.latencies[i]);
    return histogram.toMessage();
  }
}

/**
 * The same for segments that end at a given time: the number of operations is unknown, and only
 * those completed in part of the time are counted.
 */
export class TimedRecorder extends BufferedRecorder {
  fromNs = 0;
  toNs = Number.POSITIVE_INFINITY;
  completed = 0;

  /** @param {number} startNs @param {number} endNs @param {number} index @override */
  ok(startNs, endNs, index) {
    if (this.okCount === this.latencies.length) this.grow();
    if (endNs > this.fromNs && endNs <= this.toNs) this.completed += 1;
    super.ok(startNs, endNs, index);
  }

  /** Rare after the warm-up. */
  grow() {
    const { latencies, kindOf, kinds } = this;
    const size = 2 * latencies.length;
    this.latencies = new Float64Array(size);
    this.latencies.set(latencies);
    if (kinds === null) return;
    this.kindOf = new Uint8Array(size);
    this.kindOf.set(kindOf);
  }
}
