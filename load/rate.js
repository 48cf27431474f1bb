/**
 * The open loop: operation k is due at T0 + k / R (or at its Poisson arrival), independent of
 * replies. Response time counts from the due time, so that a stalled server affects every operation
 * due during the stall and not only those in flight (coordinated omission).
 *
 * No arrival is skipped or shifted: late operations are sent late and counted as late; arrivals
 * beyond `maxInFlight` are dropped and counted. A blocking call has nothing in flight: there the
 * bound applies to operations that are due but not yet sent, and the oldest is dropped.
 *
 * Timers cannot pace below 1.4 ms, so the loop spins on setImmediate and sends operations that are
 * due; it sleeps only if the next arrival is far away. Client CPU therefore includes this waiting.
 */

import { DROPPED } from '../lib/outcome.js';
import { Arrivals } from './arrivals.js';
import { FAILURES_IN_A_ROW_MAX } from './recorder.js';

/** @typedef {import('./load.js').Load} Load */
/** @typedef {import('./detailed-recorder.js').DetailedRecorder} DetailedRecorder */

/** An operation sent more than this after its due time is late: the client was busy. */
export const LATE_NS = 1e6;
/** Default maximum in flight. */
export const MAX_IN_FLIGHT = 10_000;
/** Seconds of arrivals that may fail in a row. */
export const OPEN_FAILURES_S = 5;
/** Bounds per turn of the event loop, so that replies are processed in between. */
const TURN_OPERATIONS_MAX = 256;
const TURN_NS_MAX = 5e6;
/** Below this distance the loop spins instead of sleeping; a timer may be off by the reserve. */
const SLEEP_FROM_NS = 4e6;
const SLEEP_RESERVE_NS = 2e6;
/** Maximum delay until an abort is noticed. */
const SLEEP_MS_MAX = 100;

/**
 * @typedef {object} RateOptions
 * @property {number} perSecond rate of all processes that share the load
 * @property {import('./arrivals.js').ArrivalDistribution} arrivals
 * @property {number} seed seed of Poisson arrivals
 * @property {Float64Array} [timesNs] arrival times of a trace
 * @property {{ index: number, count: number }} [share] share of the arrivals, if several processes
 *   share them
 * @property {number} maxInFlight
 * @property {number} [count] number of its arrivals, see arrivals.js
 */

/**
 * Open-loop counters in addition to the outcomes: offered = sent + dropped, and sent = completed +
 * requests outstanding when the load was terminated.
 * @typedef {object} OpenCounts
 * @property {number} offered operations that came due
 * @property {number} sent
 * @property {number} completed replies and errors of any outcome
 * @property {number} dropped
 * @property {number} late sent more than 1 ms after their due time
 * @property {number} lateNsMax maximum delay
 */

/**
 * An open loop stops on failures no sooner than its rate allows, since a server may recover: a
 * cluster that promotes a replica refuses every request for a second or two.
 * @param {RateOptions | undefined} rate rate of an open loop
 * @returns {number} consecutive failures after which the rest is not sent
 */
export function failuresMax(rate) {
  const seconds = rate === undefined ? 0 : OPEN_FAILURES_S * rate.perSecond;
  return Math.max(FAILURES_IN_A_ROW_MAX, seconds);
}

/**
 * Starts the loop; load.finish() is called when every sent operation has settled.
 * @param {Load} load
 * @param {RateOptions} options
 */
export function startRate(load, options) {
  new Pacer(load, options).turn();
}

class Pacer {
  /**
   * @param {Load} load
   * @param {RateOptions} options
   */
  constructor(load, options) {
    this.load = load;
    this.recorder = /** @type {DetailedRecorder} */ (load.recorder);
    this.startNs = load.recorder.startNs;
    this.arrivals = new Arrivals(options);
    this.dueNs = this.startNs + this.arrivals.next();
    this.maxInFlight = options.maxInFlight;
    this.issue = { promise: issuePromise, callback: issueCallback, sync: issueSync }[load.calls];
    /** For blocking calls: the same arrivals, advanced to the current time. */
    this.ahead = load.calls === 'sync' ? new Arrivals(options) : null;
    this.aheadNs = this.ahead === null ? 0 : this.startNs + this.ahead.next();
    this.turn = this.turn.bind(this);
  }

  /** Sends operations that are due and schedules itself for the next turn of the event loop. */
  turn() {
    const { load } = this;
    if (load.recorder.closed) return;
    let nowNs = load.now();
    const turnEndNs = nowNs + TURN_NS_MAX;
    for (let sent = 0; sent < TURN_OPERATIONS_MAX; sent += 1) {
      if (this.dueNs > nowNs || load.next >= load.limit || nowNs > turnEndNs) break;
      nowNs = this.send(nowNs);
    }
    if (load.next >= load.limit) {
      finishIfSettled(load);
    } else if (this.dueNs - nowNs > SLEEP_FROM_NS) {
      const ms = Math.floor((this.dueNs - nowNs - SLEEP_RESERVE_NS) / 1e6);
      setTimeout(this.turn, Math.min(ms, SLEEP_MS_MAX));
    } else {
      setImmediate(this.turn);
    }
  }

  /**
   * @param {number} nowNs
   * @returns {number} time afterwards
   */
  send(nowNs) {
    const { load, dueNs } = this;
    const { open } = load;
    const index = load.next;
    load.accountInFlight(nowNs);
    load.next = index + 1;
    this.dueNs = this.startNs + this.arrivals.next();
    if (this.isFull(index, nowNs)) {
      open.dropped += 1;
      load.recorder.outcomes[DROPPED] += 1;
      return nowNs;
    }
    open.sent += 1;
    const lateNs = nowNs - dueNs;
    if (lateNs > LATE_NS) open.late += 1;
    if (lateNs > open.lateNsMax) open.lateNsMax = lateNs;
    this.issue(this, index, dueNs, nowNs);
    return load.now();
  }

  /**
   * @param {number} index index of the operation to send
   * @param {number} nowNs
   */
  isFull(index, nowNs) {
    const { load, ahead } = this;
    if (ahead === null) return load.open.sent - load.settledCount >= this.maxInFlight;
    while (this.aheadNs <= nowNs && ahead.drawn <= load.limit) {
      this.aheadNs = this.startNs + ahead.next();
    }
    // drawn - 1 operations are due by now; `index` of them have been handled.
    return ahead.drawn - 1 - index > this.maxInFlight;
  }

  /**
   * @param {number} index
   * @param {number} dueNs
   * @param {number} sentNs
   * @param {any} reply
   */
  settle(index, dueNs, sentNs, reply) {
    this.recorder.sentNs = sentNs;
    this.load.settle(index, dueNs, reply);
  }
}

/** @param {Load} load */
function finishIfSettled(load) {
  if (load.next >= load.limit && load.settledCount + load.open.dropped >= load.next) load.finish();
}

/**
 * @param {Pacer} pacer
 * @param {number} index
 * @param {number} dueNs
 * @param {number} sentNs
 */
async function issuePromise(pacer, index, dueNs, sentNs) {
  const { load } = pacer;
  try {
    pacer.settle(index, dueNs, sentNs, await load.op(index));
  } catch (error) {
    load.fail(index, error);
  }
  finishIfSettled(load);
}

/**
 * @param {Pacer} pacer
 * @param {number} index
 * @param {number} dueNs
 * @param {number} sentNs
 */
function issueCallback(pacer, index, dueNs, sentNs) {
  const { load } = pacer;
  let pending = true;
  const done = (/** @type {any} */ error, /** @type {any} */ reply) => {
    // A driver that calls back twice must not count twice.
    if (!pending) return;
    pending = false;
    if (error) load.fail(index, error);
    else pacer.settle(index, dueNs, sentNs, reply);
    finishIfSettled(load);
  };
  try {
    load.op(index, done);
  } catch (error) {
    done(error, undefined);
  }
}

/**
 * @param {Pacer} pacer
 * @param {number} index
 * @param {number} dueNs
 * @param {number} sentNs
 */
function issueSync(pacer, index, dueNs, sentNs) {
  const { load } = pacer;
  try {
    pacer.settle(index, dueNs, sentNs, load.op(index));
  } catch (error) {
    load.fail(index, error);
  }
}
