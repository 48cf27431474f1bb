/**
 * One slice of a load: a fixed number of operations, some milliseconds long, run again and again in
 * one process with pauses between. What a slice gives is its time per operation; latencies and
 * outcomes add up over the slices of a round.
 *
 * The rules of recording hold in each slice: every reply is verified, the number scheduled is the
 * sum of the outcomes, the number in flight is counted apart from the latencies. Latencies are kept
 * in a plain array while the slice runs and go into the histogram after it.
 *
 * Time per operation of a closed loop: from the first issue of the last worker to the issue of the
 * last operation, over the operations that were completed in it, which are as many as were issued.
 * The ramp before it and the drain after it, with fewer in flight, are no part of it. With slices
 * of a multiple of the number in flight this is exact both for drivers whose replies come evenly
 * and for those whose replies come a whole window at a time. A burst, and one in flight, count
 * whole.
 */

import { OK, OUTCOMES, UNSENT } from '../lib/outcome.js';
import { Histogram } from '../measure/histogram.js';
import { runLoad } from './load.js';
import { Recorder, SAMPLES_MAX } from './recorder.js';

/** Latencies of which the median of a slice is taken, evenly spread; sorting more costs too much */
const MEDIAN_OF_MAX = 1023;
/**
 * A latency counts at most so many medians in the capped mean. A thread that lost its processor is
 * away for milliseconds, some 50 medians and more; an operation that asks twice takes two.
 */
const CAP_MEDIANS = 10;

/**
 * @typedef {object} SliceFigures
 * @property {number} startNs on the clock of the process
 * @property {number} endNs when the last reply had come
 * @property {number} spanNs what the time per operation is of
 * @property {number} spanOperations
 * @property {number} operations scheduled, of all repetitions
 * @property {number} medianNs of the latencies
 * @property {number} cappedNs mean of the latencies, none above ten medians
 * @property {boolean} valid every operation was right
 */

/**
 * @typedef {object} SliceOptions
 * @property {import('../lib/types.js').BoundWorkload['op']} op
 * @property {import('../lib/types.js').BoundWorkload['verify']} verify
 * @property {import('../lib/types.js').CallStyle} calls
 * @property {'sync' | 'window' | 'burst'} kind
 * @property {number} inFlight of a window
 * @property {number} [replyBytes]
 * @property {import('./detailed-recorder.js').Kinds} [kinds] of operations, in a mix
 * @property {number} stallNs
 * @property {import('../measure/clock.js').Clock} clock
 */

/** The recorder of the slices of one load; reset before each run. */
export class SliceRecorder extends Recorder {
  /** @param {import('./detailed-recorder.js').Kinds | null} [kinds] of operations, in a mix */
  constructor(kinds = null) {
    super(0);
    this.kinds = kinds;
    this.byKind = (kinds?.names ?? []).map(() => new Histogram());
    /** Kind of the operation of each latency, in a mix. */
    this.kindOf = new Uint8Array(kinds === null ? 0 : 4096);
    this.latencies = new Float64Array(4096);
    this.okCount = 0;
    /** No loop of a slice is long enough to keep timers out. */
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

  /**
   * Latencies of the last run into the histogram.
   * @returns {{ medianNs: number, cappedNs: number }} of the run
   */
  absorb() {
    const { latencies, okCount, histogram } = this;
    if (okCount === 0) return { medianNs: 0, cappedNs: 0 };
    for (let i = 0; i < okCount; i += 1) histogram.record(latencies[i]);
    for (let i = 0; i < okCount && this.kinds !== null; i += 1) {
      this.byKind[this.kindOf[i]].record(latencies[i]);
    }
    const medianNs = this.median();
    const cap = CAP_MEDIANS * medianNs;
    let sum = 0;
    for (let i = 0; i < okCount; i += 1) sum += Math.min(latencies[i], cap);
    return { medianNs, cappedNs: sum / okCount };
  }

  median() {
    const { latencies, okCount } = this;
    const size = Math.min(okCount, MEDIAN_OF_MAX);
    const picked = new Float64Array(size);
    for (let i = 0; i < size; i += 1) picked[i] = latencies[Math.floor((i * okCount) / size)];
    picked.sort();
    return picked[size >>> 1];
  }
}

/** All slices of one load in one process. */
export class SliceSeries {
  /** @param {SliceOptions} options */
  constructor(options) {
    this.options = options;
    const { op, verify, kinds } = options;
    /** @type {import('./detailed-recorder.js').Kinds | null} */
    this.kinds = kinds ? { names: kinds.names, of: (index) => kinds.of(this.first + index) } : null;
    this.recorder = this.createRecorder();
    /** Index of the workload's operation at which the next run begins. */
    this.first = 0;
    this.outcomes = new Float64Array(OUTCOMES.length);
    /** @type {import('../lib/result.js').Sample[]} */
    this.samples = [];
    this.scheduled = 0;
    this.durationNs = 0;
    this.inFlightAreaNs = 0;
    this.steady = { ns: 0, areaNs: 0 };
    /** @type {SliceOptions['op']} */
    this.op = (index, done) => op(this.first + index, done);
    /** @type {SliceOptions['verify']} */
    this.verify = (index, reply, whole) => verify(this.first + index, reply, whole);
  }

  /**
   * @param {number} operations of a run
   * @param {number} repetitions runs one after the other: of a burst that is short
   * @param {import('./load.js').LoadWatch} [watch]
   * @returns {Promise<SliceFigures>}
   */
  async run(operations, repetitions, watch) {
    const { recorder, options } = this;
    const { clock } = options;
    const startNs = clock.now();
    let [spanNs, spanOperations, medianNs, cappedNs] = [0, 0, 0, 0];
    let valid = true;
    for (let i = 0; i < repetitions && valid; i += 1) {
      const report = await runLoad(
        {
          ...options,
          op: this.op,
          verify: this.verify,
          operations,
          durationNs: Number.POSITIVE_INFINITY,
          recorder: (now) => {
            recorder.reset(now, operations);
            return recorder;
          },
        },
        watch,
      );
      valid = recorder.okCount === operations && report.ended === 'complete';
      const span = spanOf(report, options, operations);
      spanNs += span.ns;
      spanOperations += span.operations;
      const latency = recorder.absorb();
      medianNs += latency.medianNs / repetitions;
      cappedNs += latency.cappedNs / repetitions;
      this.add(report, operations);
    }
    const endNs = clock.now();
    return {
      ...{ startNs, endNs, spanNs, spanOperations, medianNs, cappedNs, valid },
      operations: operations * repetitions,
    };
  }

  /** @param {import('./load.js').LoadReport} report @param {number} operations */
  add({ scheduled, durationNs, inFlightMean, steady }, operations) {
    const { recorder } = this;
    for (let code = 0; code < this.outcomes.length; code += 1) {
      this.outcomes[code] += recorder.outcomes[code];
    }
    this.samples.push(...recorder.samples.splice(0));
    this.samples.length = Math.min(this.samples.length, SAMPLES_MAX);
    this.scheduled += scheduled;
    this.durationNs += durationNs;
    this.inFlightAreaNs += inFlightMean * durationNs;
    this.steady.ns += steady?.ns ?? 0;
    this.steady.areaNs += (steady?.ns ?? 0) * (steady?.inFlightMean ?? 0);
    this.first += operations;
  }

  createRecorder() {
    return new SliceRecorder(this.kinds);
  }

  /** Forgets what was recorded until now: the warm-up. */
  clear() {
    this.recorder = this.createRecorder();
    this.outcomes.fill(0);
    this.samples = [];
    this.scheduled = 0;
    this.durationNs = 0;
    this.inFlightAreaNs = 0;
    this.steady = { ns: 0, areaNs: 0 };
  }
}

/**
 * @param {import('./load.js').LoadReport} report
 * @param {SliceOptions} options
 * @param {number} operations
 * @returns {{ ns: number, operations: number }} what the time per operation is taken of
 */
function spanOf({ durationNs, steady }, { kind, inFlight, calls }, operations) {
  const complete = operations - inFlight;
  const isLong = kind === 'window' && calls !== 'sync' && complete >= operations / 2;
  return isLong && steady
    ? { ns: steady.ns, operations: complete }
    : { ns: durationNs, operations };
}
