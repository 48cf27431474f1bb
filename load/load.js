/**
 * One load: operations that are issued and settled, in one of four ways (sync and window: lanes;
 * burst: all at once; rate: when each is due) and three call styles (promise, callback, sync). This
 * module holds what the loops share: counting, verifying, the ways to end. It knows no storage,
 * workload or report.
 *
 * The path of an operation: a loop takes the next index, calls op(index), and gives the reply to
 * settle(), which reads the clock once, verifies, records, and gives that time back: it is the
 * moment at which the lane's next operation is issued. Verifying (some 25 ns) so falls into the
 * next operation's latency; a second reading of the clock would cost twice that.
 *
 * A lane that waits for I/O gives it to hold() instead: that reads the clock and keeps the reply,
 * and some dozen replies later all of them are verified and recorded one after the other. Between
 * two system calls the processor's caches are cold, and the same 100 ns of work cost ten times
 * that, once for each reply; together they are done while its code and counts are at hand. The lane
 * in which it happens reads the clock again, so that it falls into no latency.
 */

import { ERROR, OK, TIMEOUT } from '../lib/outcome.js';
import { countArrivals } from './arrivals.js';
import { startBurst } from './burst.js';
import { DetailedTally } from './detail.js';
import { END, FIELDS, HeldReplies, INDEX, NEXT, START } from './held.js';
import { startLanes } from './lanes.js';
import { startRate } from './rate.js';
import { FAILURES_IN_A_ROW_MAX, outcomeOfError, Tally } from './tally.js';
import { TraceTally } from './trace.js';

/** Every n-th reply is compared as a whole, the others by length and tag; a power of two. */
export const WHOLE_EVERY = 512;
/** How long replies may still come in after an abort. */
const DRAIN_NS = 1e9;
const WATCH_MS = 100;

/**
 * @typedef {object} LoadOptions
 * @property {(index: number, done?: (error: any, reply?: any) => void) => any} op
 * @property {(index: number, reply: any, whole: boolean) => number} verify outcome code
 * @property {import('../lib/types.js').CallStyle} calls
 * @property {import('../lib/types.js').LoadKind} kind
 * @property {number} inFlight lanes; not used by a burst, nor by a rate
 * @property {import('./rate.js').RateOptions} [rate] of the load `rate`
 * @property {import('./detail.js').Kinds} [kinds] of operation, where the workload mixes them
 * @property {readonly import('../lib/types.js').Series[]} [series] where each operation is looked
 *   at by
 *   itself; operations are then finite
 * @property {number} operations Infinity where a duration ends the load
 * @property {number} durationNs Infinity where a count ends the load
 * @property {number} [replyBytes] of a reply; given where replies may be verified some time later
 * @property {number} [windowNs] of the timeline; absent: 100 ms
 * @property {number} stallNs without any reply for this long, what is pending has timed out
 * @property {import('../measure/clock.js').Clock} clock
 */

/**
 * @typedef {object} LoadWatch
 * @property {AbortSignal} [signal] stops issuing; what is in flight gets a second to settle
 * @property {AbortSignal} [crash] the driver threw out of the event loop: its reason is the error
 * @property {(settled: number) => void} [onProgress] some times a second
 * @property {() => void} [onIssued] a burst has issued its last operation
 */

/** @typedef {'complete' | 'aborted' | 'stalled' | 'crashed'} LoadEnd */

export class Load {
  /** @param {LoadOptions} options */
  constructor(options) {
    this.op = options.op;
    this.verify = options.verify;
    this.calls = options.calls;
    this.kind = options.kind;
    this.inFlight = options.inFlight;
    this.clock = options.clock;
    this.now = options.clock.now;
    this.next = 0;
    // An open loop schedules what is due within its time, however long it then takes.
    this.limit = options.rate ? countArrivals(options.rate, options) : options.operations;
    /** How many were to be issued, where that differs from the limit in the end. */
    this.scheduled = -1;
    this.settledCount = 0;
    const startNs = this.now();
    this.deadlineNs = options.rate ? Number.POSITIVE_INFINITY : startNs + options.durationNs;
    this.tally = createTally(startNs, options);
    if (this.tally instanceof TraceTally) this.op = this.tally.timed(options.op, this.now);
    /** What an open loop counts; zeros in the others. */
    this.open = { sent: 0, dropped: 0, late: 0, lateNsMax: 0 };
    /** Set about every 100 ms: a loop without I/O then lets timers and messages in. */
    this.breathe = false;
    /** @type {() => void} */
    this.finish = () => {};
    /** @type {Promise<void>} */
    this.finished = new Promise((resolve) => {
      this.finish = resolve;
    });
    this.lastNs = startNs;
    /** Number in flight × time, by counting, until countedNs: what Little's law is checked by. */
    this.inFlightAreaNs = 0;
    this.countedNs = startNs;
    this.held = new HeldReplies(options.replyBytes);
  }

  /**
   * To be called before an operation is issued at another moment than one has settled: what was in
   * flight until then is added up.
   * @param {number} nowNs
   */
  enter(nowNs) {
    if (this.held.count > 0) this.judge();
    const inFlight = this.next - this.open.dropped - this.settledCount;
    this.inFlightAreaNs += inFlight * (nowNs - this.countedNs);
    this.countedNs = nowNs;
  }

  /**
   * @param {number} index
   * @param {number} startNs
   * @param {any} reply
   * @returns {number} the clock after the reply
   */
  settle(index, startNs, reply) {
    const endNs = this.now();
    const tally = this.tally;
    if (tally.closed) return endNs;
    this.enter(endNs);
    this.count(index, startNs, endNs, reply);
    if (endNs >= this.deadlineNs) this.stop();
    return endNs;
  }

  /**
   * Settles later what came in a closed loop; see above.
   * @param {number} index
   * @param {number} startNs
   * @param {any} reply
   * @returns {number} the clock, at which the lane goes on
   */
  hold(index, startNs, reply) {
    const { held } = this;
    if (held.limit === 1) return this.settle(index, startNs, reply);
    const endNs = this.now();
    held.add(index, startNs, endNs, this.next, reply);
    if (endNs >= this.deadlineNs) this.stop();
    else if (held.count < held.limit) return endNs;
    this.judge();
    const nowNs = this.now();
    this.enter(nowNs);
    return nowNs;
  }

  /** Verifies and records what is held. */
  judge() {
    const { held, tally } = this;
    const { count, times, replies } = held;
    held.count = 0;
    if (tally.closed) return;
    for (let i = 0, at = 0; i < count; i += 1, at += FIELDS) {
      const endNs = times[at + END];
      this.inFlightAreaNs += (times[at + NEXT] - this.settledCount) * (endNs - this.countedNs);
      this.countedNs = endNs;
      this.count(times[at + INDEX], times[at + START], endNs, replies[i]);
      replies[i] = undefined;
    }
  }

  /**
   * @param {number} index
   * @param {number} startNs
   * @param {number} endNs
   * @param {any} reply
   */
  count(index, startNs, endNs, reply) {
    const { tally } = this;
    this.settledCount += 1;
    this.lastNs = endNs;
    let outcome = ERROR;
    let failure = null;
    try {
      outcome = this.verify(index, reply, (index & (WHOLE_EVERY - 1)) === 0);
    } catch (error) {
      outcome = outcomeOfError(error);
      failure = error;
    }
    if (outcome === OK) {
      if (endNs >= tally.windowEndNs) this.breathe = true;
      tally.ok(startNs, endNs, index);
    } else {
      tally.wrong(outcome, index, failure);
      if (tally.failuresInARow >= FAILURES_IN_A_ROW_MAX) this.giveUp();
    }
  }

  /**
   * @param {number} index
   * @param {any} error
   * @returns {number} the clock after the failure
   */
  fail(index, error) {
    const endNs = this.now();
    const tally = this.tally;
    if (tally.closed) return endNs;
    this.enter(endNs);
    this.settledCount += 1;
    this.lastNs = endNs;
    tally.wrong(outcomeOfError(error), index, error);
    if (tally.failuresInARow >= FAILURES_IN_A_ROW_MAX) this.giveUp();
    if (endNs >= this.deadlineNs) this.stop();
    return endNs;
  }

  /** No further operation is issued: the load's time is over. What was not due is not unsent. */
  stop() {
    if (this.next < this.limit) this.limit = this.next;
  }

  /** No further operation is issued although more were scheduled: they are unsent. */
  giveUp() {
    if (this.scheduled < 0) this.scheduled = this.limit;
    this.limit = Math.min(this.limit, this.next);
  }
}

/**
 * @param {number} startNs
 * @param {LoadOptions} options
 * @returns {Tally}
 */
function createTally(startNs, { rate, kinds, windowNs, series, operations }) {
  if (series !== undefined) return new TraceTally(startNs, operations, windowNs);
  if (rate === undefined && kinds === undefined) return new Tally(startNs, windowNs);
  const what = { service: rate !== undefined, kinds: kinds ?? null };
  return new DetailedTally(startNs, what, windowNs);
}

/**
 * @typedef {object} LoadReport
 * @property {Tally} tally a DetailedTally in an open loop and in a mix
 * @property {number} scheduled
 * @property {LoadEnd} ended
 * @property {number} durationNs
 * @property {number} inFlightMean mean number in flight, counted; for Little's law
 * @property {import('./rate.js').OpenCounts | null} open of an open loop
 */

/**
 * Runs a load to its end, whatever that is.
 * @param {LoadOptions} options
 * @param {LoadWatch} [watch]
 * @returns {Promise<LoadReport>} resolves in every case; what went wrong is in the tally
 */
export async function runLoad(options, watch = {}) {
  const load = new Load(options);
  const end = {
    reason: /** @type {LoadEnd} */ ('complete'),
    error: /** @type {{ code?: string, message: string } | null} */ (null),
  };
  const stopWatching = watchLoad(load, options, watch, (reason, error) => {
    end.reason = reason;
    end.error = error;
    // A driver that rejects at once from now on would keep the lanes going without end.
    load.giveUp();
    load.finish();
  });
  try {
    if (options.rate) startRate(load, options.rate);
    else if (load.kind === 'burst') startBurst(load, watch.onIssued);
    else startLanes(load);
    await load.finished;
  } finally {
    stopWatching();
  }
  load.judge();
  if (watch.signal?.aborted && end.reason === 'complete') end.reason = 'aborted';
  const planned = load.scheduled < 0 ? load.limit : load.scheduled;
  const scheduled = Number.isFinite(planned) ? planned : load.next;
  load.tally.close({
    endNs: isIdle(load) ? load.lastNs : load.now(),
    issued: load.next,
    scheduled,
    pendingOutcome: end.reason === 'crashed' ? ERROR : TIMEOUT,
    pendingError: end.error,
  });
  const durationNs = load.tally.endNs - load.tally.startNs;
  load.enter(load.tally.endNs);
  const inFlightMean = durationNs > 0 ? load.inFlightAreaNs / durationNs : 0;
  const open = options.rate
    ? { offered: load.next, completed: load.settledCount, ...load.open }
    : null;
  return { tally: load.tally, scheduled, ended: end.reason, durationNs, inFlightMean, open };
}

/** @param {Load} load */
function isIdle({ settledCount, open, next }) {
  return settledCount + open.dropped === next;
}

/**
 * Watches for what ends a load from outside.
 * @param {Load} load
 * @param {LoadOptions} options
 * @param {LoadWatch} watch
 * @param {(reason: LoadEnd, error: { code?: string, message: string } | null) => void} end
 * @returns {() => void} stops watching
 */
function watchLoad(load, options, watch, end) {
  let seen = 0;
  let seenNs = load.now();
  /** @type {number | null} */
  let abortedNs = null;
  const timer = setInterval(() => {
    load.judge();
    const nowNs = load.now();
    if (load.settledCount !== seen) {
      seen = load.settledCount;
      seenNs = nowNs;
      watch.onProgress?.(seen);
    } else if (isIdle(load)) {
      seenNs = nowNs; // an open loop waits for its next operation, and not for a reply
    } else if (nowNs - seenNs > options.stallNs) {
      const seconds = (options.stallNs / 1e9).toFixed(1);
      end('stalled', { code: 'NO_REPLY', message: `no reply for ${seconds} s` });
    }
    if (abortedNs !== null && nowNs - abortedNs > DRAIN_NS) {
      end('aborted', { code: 'ABORTED', message: 'pending when the run was stopped' });
    }
  }, WATCH_MS);
  const onAbort = () => {
    abortedNs = load.now();
    load.giveUp();
  };
  const onCrash = () => {
    const error = watch.crash?.reason;
    end('crashed', {
      code: String(error?.code ?? 'DRIVER_CRASHED'),
      message: `the driver threw out of the event loop: ${error?.message ?? error}`,
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
