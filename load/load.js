/**
 * Runs one load: issues operations and settles them, in one of four ways (sync and window: workers;
 * burst: all at once; rate: on a schedule) and three call styles (promise, callback, sync). This
 * module holds what the loops share: counting, verification and termination. It knows no storage,
 * workload or report.
 *
 * Path of an operation: a loop takes the next index, calls op(index) and passes the reply to
 * settle(), which reads the clock once, verifies, records, and returns that time as the issue time
 * of the worker's next operation. Verification (about 25 ns) therefore counts towards the next
 * operation's latency; a second clock reading would cost twice that.
 *
 * A worker that waits for I/O passes the reply to defer() instead, which reads the clock and stores
 * the reply in a batch. Up to 64 replies are later verified and recorded together: between two
 * system calls the processor caches are cold, so 100 ns of work per reply costs ten times as much
 * when done one reply at a time. The worker that verifies the batch reads the clock again, so
 * verification is in no latency.
 */

import { isGone } from '../lib/error-code.js';
import { ERROR, MISMATCH, OK, TIMEOUT } from '../lib/outcome.js';
import { countArrivals } from './arrivals.js';
import { startBurst } from './burst.js';
import { createRecorder } from './create-recorder.js';
import { FullComparisons } from './full-comparisons.js';
import { failuresMax, startRate } from './rate.js';
import { outcomeOfError } from './recorder.js';
import { END, FIELDS, INDEX, NEXT, ReplyBatch, START } from './reply-batch.js';
import { spinUntilStart } from './start.js';
import { TraceRecorder } from './trace-recorder.js';
import { startWorkers } from './workers.js';

/**
 * One in this many replies (of a batch: one batch in this many) is compared in full, and every
 * reply after the first mismatch: small values of servers, and all others. A comparison takes 0.05
 * to 0.8 µs. If that exceeds 2 % of an operation, fewer are compared (comparison-cost.js).
 */
export const WHOLE_EVERY = Object.freeze({ small: 3, others: 31 });
const SMALL_BYTES = 4096;
/** Grace period for outstanding replies after an abort. */
const DRAIN_NS = 1e9;
const WATCH_MS = 100;

/** @typedef {import('./recorder.js').Recorder} Recorder */

/**
 * @typedef {object} LoadOptions
 * @property {(index: number, done?: (error: any, reply?: any) => void) => any} op
 * @property {(index: number, reply: any, whole: boolean) => number} verify returns an outcome code
 * @property {import('../lib/types.js').CallStyle} calls
 * @property {import('../lib/types.js').LoadKind} kind
 * @property {number} inFlight number of workers; ignored by burst and rate
 * @property {import('./rate.js').RateOptions} [rate] for the load `rate`
 * @property {import('./detailed-recorder.js').Kinds} [kinds] kinds of operation in a mix
 * @property {readonly import('../lib/types.js').Series[]} [series] record every operation
 *   separately; `operations` must then be finite
 * @property {number} operations Infinity if a duration ends the load
 * @property {number} durationNs Infinity if a count ends the load
 * @property {number} [replyBytes] size of a reply; if given, verification may be deferred
 * @property {FullComparisons} [comparisons] state of the process, continued in each load
 * @property {number} [wholeEvery] least mean distance of the replies compared in full
 * @property {import('./comparison-cost.js').ComparisonCost} [cost] cost of a warm-up: picks the
 *   batches compared in full and measures the cost of comparing them
 * @property {number} [windowNs] window of the timeline, 100 ms by default
 * @property {{ onFailure: (error: any) => void, onStall: (sinceNs: number) => void }} [outage]
 *   receives failures, which then do not end the load
 * @property {boolean} [hasNodes] the driver has connections to several nodes: a lost one does not
 *   end the load
 * @property {number} stallNs fail all outstanding requests after this long without a reply
 * @property {(startNs: number) => Recorder} [recorder] recorder to use instead of the default one
 * @property {import('../measure/clock.js').Clock} clock
 * @property {number} [startNs] common start time with other processes; see start.js
 */

/**
 * @typedef {object} LoadWatch
 * @property {AbortSignal} [signal] stops issuing; outstanding requests get one second to settle
 * @property {AbortSignal} [crash] aborted by an uncaught error of the driver, which is the signal's
 *   reason
 * @property {(settled: number, recorder: Recorder) => void} [onProgress] called several times per
 *   second; about once per second while a burst is issued
 * @property {() => void} [onStart] called right before the load begins
 * @property {() => void} [onIssued] called when a burst has issued its last operation
 */

/** @typedef {'complete' | 'aborted' | 'stalled' | 'crashed'} LoadEnd */

export class Load {
  /**
   * @param {LoadOptions} options
   * @param {() => void} [onStart]
   */
  constructor(options, onStart) {
    this.op = options.op;
    this.verify = options.verify;
    this.calls = options.calls;
    this.batch = new ReplyBatch(options.replyBytes);
    this.cost = options.cost;
    this.cost?.restart();
    this.wholeEvery = wholeEveryOf(options);
    this.comparisons = options.comparisons ?? new FullComparisons(1);
    this.kind = options.kind;
    this.inFlight = options.inFlight;
    this.clock = options.clock;
    this.outage = options.outage;
    this.endsByLoss = this.outage === undefined && options.hasNodes !== true;
    this.failuresMax = this.outage ? Number.POSITIVE_INFINITY : failuresMax(options.rate);
    this.now = options.clock.now;
    this.next = 0;
    // An open loop schedules every operation due within its duration, however long it takes.
    this.limit = options.rate ? countArrivals(options.rate, options) : options.operations;
    /** Number of operations originally scheduled, if the load was aborted; else -1. */
    this.scheduled = -1;
    this.settledCount = 0;
    /** The first error of a lost connection; null: none. @type {any} */
    this.lost = null;
    if (options.startNs !== undefined) spinUntilStart(options.startNs, options.clock);
    onStart?.();
    const startNs = this.now();
    this.deadlineNs = options.rate ? Number.POSITIVE_INFINITY : startNs + options.durationNs;
    this.recorder = createRecorder(startNs, options);
    if (this.recorder instanceof TraceRecorder) this.op = this.recorder.timed(options.op, this.now);
    /** Open-loop counters; zero in the other loads. */
    this.open = { sent: 0, dropped: 0, late: 0, lateNsMax: 0 };
    /** Set about every 100 ms: a loop without I/O must then yield to the event loop. */
    this.yieldDue = false;
    /** @type {() => void} */
    this.finish = () => {};
    /** @type {Promise<void>} */
    this.finished = new Promise((resolve) => {
      this.finish = resolve;
    });
    this.lastNs = startNs;
    /** Integral of the number in flight over time until countedNs, for Little's law. */
    this.inFlightAreaNs = 0;
    this.countedNs = startNs;
    /** Between the issue of the last worker's first operation and the issue of the last one. */
    this.steady = { fromNs: Number.NaN, fromArea: 0, toNs: Number.NaN, toArea: 0 };
  }

  /**
   * Adds the number in flight since the last call to the integral. Call it before issuing an
   * operation at a time other than the settling of one.
   * @param {number} nowNs
   */
  accountInFlight(nowNs) {
    if (this.batch.count > 0) this.verifyBatch();
    if (this.next === this.limit) this.markLast();
    const inFlight = this.next - this.open.dropped - this.settledCount;
    this.inFlightAreaNs += inFlight * (nowNs - this.countedNs);
    this.countedNs = nowNs;
  }

  /** Marks the time from which all workers have an operation in flight. */
  markFull() {
    this.steady.fromNs = this.countedNs;
    this.steady.fromArea = this.inFlightAreaNs;
  }

  /** The last operation was issued when the integral was last extended, at the first call. */
  markLast() {
    if (!Number.isNaN(this.steady.toNs)) return;
    this.steady.toNs = this.countedNs;
    this.steady.toArea = this.inFlightAreaNs;
  }

  /**
   * @param {number} index
   * @param {number} startNs
   * @param {any} reply
   * @returns {number} time after the reply
   */
  settle(index, startNs, reply) {
    const endNs = this.now();
    const recorder = this.recorder;
    if (recorder.closed) return endNs;
    this.accountInFlight(endNs);
    const isFull = this.comparisons.next(this.wholeEvery) || this.comparisons.all;
    this.count(index, startNs, endNs, reply, isFull);
    if (endNs >= this.deadlineNs) this.stop();
    if (!isFull) return endNs;
    // Excludes a full comparison from the next latency.
    const nowNs = this.now();
    this.accountInFlight(nowNs);
    return nowNs;
  }

  /**
   * Stores a reply of a closed loop for later verification; see the header.
   * @param {number} index
   * @param {number} startNs
   * @param {any} reply
   * @returns {number} current time: the issue time of the worker's next operation
   */
  defer(index, startNs, reply) {
    const { batch } = this;
    if (batch.limit === 1) return this.settle(index, startNs, reply);
    const endNs = this.now();
    batch.add(index, startNs, endNs, this.next, reply);
    if (endNs >= this.deadlineNs) this.stop();
    else if (batch.count < batch.limit) return endNs;
    const { count } = batch;
    this.verifyBatch();
    const nowNs = this.now();
    this.cost?.add(endNs, nowNs, count);
    this.accountInFlight(nowNs);
    return nowNs;
  }

  /**
   * Verifies and records the deferred replies: all of them in full, or all by their tags. A single
   * full comparison among replies verified by tags takes two to four times as long as one of many
   * in succession, since its code and data are not in the processor caches.
   */
  verifyBatch() {
    const { batch, recorder } = this;
    const { count, times, replies } = batch;
    batch.count = 0;
    if (count === 0 || recorder.closed) return;
    const isFull = this.cost?.isWhole() ?? this.comparisons.next(this.wholeEvery);
    for (let i = 0, at = 0; i < count; i += 1, at += FIELDS) {
      const endNs = times[at + END];
      if (times[at + NEXT] === this.limit) this.markLast();
      this.inFlightAreaNs += (times[at + NEXT] - this.settledCount) * (endNs - this.countedNs);
      this.countedNs = endNs;
      this.count(times[at + INDEX], times[at + START], endNs, replies[i], isFull);
      replies[i] = undefined;
    }
  }

  /**
   * @param {number} index
   * @param {number} startNs
   * @param {number} endNs
   * @param {any} reply
   * @param {boolean} isFull whether to compare it in full
   */
  count(index, startNs, endNs, reply, isFull) {
    const { recorder } = this;
    this.settledCount += 1;
    this.lastNs = endNs;
    let outcome = ERROR;
    let failure = null;
    try {
      outcome = this.verify(index, reply, isFull || this.comparisons.all);
    } catch (error) {
      outcome = outcomeOfError(error);
      failure = error;
    }
    if (outcome === OK) {
      if (endNs >= recorder.windowEndNs) this.yieldDue = true;
      recorder.ok(startNs, endNs, index);
    } else {
      if (outcome === MISMATCH) this.comparisons.all = true;
      recorder.wrong(outcome, index, failure);
      if (recorder.failuresInARow >= this.failuresMax) this.abort();
    }
  }

  /**
   * @param {number} index
   * @param {any} error
   * @returns {number} time after the failure
   */
  fail(index, error) {
    const endNs = this.now();
    const recorder = this.recorder;
    if (recorder.closed) return endNs;
    this.accountInFlight(endNs);
    this.settledCount += 1;
    this.lastNs = endNs;
    recorder.wrong(outcomeOfError(error), index, error);
    const isLost = this.endsByLoss && isGone(error);
    if (isLost) this.lost ??= error;
    if (isLost || recorder.failuresInARow >= this.failuresMax) this.abort();
    this.outage?.onFailure(error);
    if (endNs >= this.deadlineNs) this.stop();
    return endNs;
  }

  /** Ends the load at its deadline. Operations never scheduled are not counted as unsent. */
  stop() {
    if (this.next < this.limit) this.limit = this.next;
  }

  /** Stops issuing before the scheduled end: the remaining operations are unsent. */
  abort() {
    if (this.scheduled < 0) this.scheduled = this.limit;
    this.limit = Math.min(this.limit, this.next);
  }
}

/** @param {LoadOptions} options */
function wholeEveryOf({ calls, replyBytes = Number.POSITIVE_INFINITY, wholeEvery = 1 }) {
  const isSmall = calls !== 'sync' && replyBytes <= SMALL_BYTES;
  return Math.max(wholeEvery, isSmall ? WHOLE_EVERY.small : WHOLE_EVERY.others);
}

/**
 * @typedef {object} LoadReport
 * @property {Recorder} recorder DetailedRecorder for an open loop or a mix
 * @property {number} scheduled
 * @property {LoadEnd} ended
 * @property {any} lost the error of a lost connection that ended the load; null: none
 * @property {number} durationNs
 * @property {number} inFlightAreaNs integral of the number in flight over time, for Little's law
 * @property {{ fromNs: number, toNs: number, areaNs: number } | null} steady from the first issue
 *   of the last worker to the last issue of all: the part in which every worker has one in flight
 * @property {import('./rate.js').OpenCounts | null} open open-loop counters
 */

/**
 * Runs a load until it completes, stalls, crashes or is aborted.
 * @param {LoadOptions} options
 * @param {LoadWatch} [watch]
 * @returns {Promise<LoadReport>} always resolves; failures are in the recorder
 */
export async function runLoad(options, watch = {}) {
  const load = new Load(options, watch.onStart);
  const end = {
    reason: /** @type {LoadEnd} */ ('complete'),
    error: /** @type {{ code?: string, message: string } | null} */ (null),
  };
  const stopWatching = watchLoad(load, options, watch, (reason, error) => {
    end.reason = reason;
    end.error = error;
    // Without this, a driver that now rejects immediately would keep the workers busy forever.
    load.abort();
    load.finish();
  });
  try {
    if (options.rate) startRate(load, options.rate);
    else if (load.kind === 'burst') startBurst(load, watch);
    else startWorkers(load);
    await load.finished;
  } finally {
    stopWatching();
  }
  load.verifyBatch();
  if (watch.signal?.aborted && end.reason === 'complete') end.reason = 'aborted';
  const planned = load.scheduled < 0 ? load.limit : load.scheduled;
  const scheduled = Number.isFinite(planned) ? planned : load.next;
  load.recorder.close({
    endNs: isIdle(load) ? load.lastNs : load.now(),
    issued: load.next,
    scheduled,
    pendingOutcome: end.reason === 'crashed' ? ERROR : TIMEOUT,
    pendingError: end.error,
  });
  const durationNs = load.recorder.endNs - load.recorder.startNs;
  load.accountInFlight(load.recorder.endNs);
  const open = options.rate
    ? { offered: load.next, completed: load.settledCount, ...load.open }
    : null;
  return {
    recorder: load.recorder,
    scheduled,
    ended: end.reason,
    lost: load.lost,
    durationNs,
    inFlightAreaNs: load.inFlightAreaNs,
    steady: steadyOf(load),
    open,
  };
}

/** @param {Load} load @returns {LoadReport['steady']} */
function steadyOf({ steady: { fromNs, fromArea, toNs, toArea } }) {
  return toNs > fromNs ? { fromNs, toNs, areaNs: toArea - fromArea } : null;
}

/** @param {Load} load */
function isIdle({ settledCount, open, next }) {
  return settledCount + open.dropped === next;
}

/**
 * Watches for stalls, aborts and crashes.
 * @param {Load} load
 * @param {LoadOptions} options
 * @param {LoadWatch} watch
 * @param {(reason: LoadEnd, error: { code?: string, message: string } | null) => void} end
 * @returns {() => void} function that stops watching
 */
function watchLoad(load, options, watch, end) {
  let seen = 0;
  let seenNs = load.now();
  let lookedNs = seenNs;
  /** Excludes the time in which the event loop was blocked, since replies may be waiting. */
  let silentNs = 0;
  const sawLife = (/** @type {number} */ nowNs) => {
    seenNs = nowNs;
    silentNs = 0;
  };
  /** @type {number | null} */
  let abortedNs = null;
  const timer = setInterval(() => {
    load.verifyBatch();
    const nowNs = load.now();
    silentNs += Math.min(nowNs - lookedNs, 2e6 * WATCH_MS);
    lookedNs = nowNs;
    if (load.settledCount !== seen) {
      seen = load.settledCount;
      sawLife(nowNs);
      watch.onProgress?.(seen, load.recorder);
    } else if (isIdle(load)) {
      sawLife(nowNs); // an open loop is waiting for its next arrival, not for a reply
    } else if (silentNs > options.stallNs && load.outage && load.next < load.limit) {
      load.outage.onStall(seenNs);
      sawLife(nowNs);
    } else if (silentNs > options.stallNs) {
      const seconds = (options.stallNs / 1e9).toFixed(1);
      end('stalled', { code: 'NO_REPLY', message: `no reply for ${seconds} s` });
    }
    if (abortedNs !== null && nowNs - abortedNs > DRAIN_NS) {
      end('aborted', { code: 'ABORTED', message: 'outstanding when the run was aborted' });
    }
  }, WATCH_MS);
  const onAbort = () => {
    abortedNs = load.now();
    load.abort();
  };
  const onCrash = () => {
    const error = watch.crash?.reason;
    end('crashed', {
      code: String(error?.code ?? 'DRIVER_CRASHED'),
      message: `uncaught error in the driver: ${error?.message ?? error}`,
    });
  };
  if (watch.signal?.aborted) onAbort();
  if (watch.crash?.aborted) onCrash();
  watch.signal?.addEventListener('abort', onAbort, { once: true });
  watch.crash?.addEventListener('abort', onCrash, { once: true });
  return () => {
    clearInterval(timer);
    watch.signal?.removeEventListener('abort', onAbort);
    watch.crash?.removeEventListener('abort', onCrash);
  };
}
