/**
 * The open loop: operation k is due at T0 + k / R (or at its Poisson arrival), whatever the replies
 * do. Its response time counts from then, so that a server that stands still is seen by all that
 * came in the meantime, and not only by those in flight (coordinated omission).
 *
 * Nothing is skipped or shifted: what is due late is sent late and counted so; what would be more
 * than `maxInFlight` is dropped and counted. A call that blocks has nothing in flight: there the
 * bound is on what is due and not yet sent, and the operation that has waited longest is dropped.
 *
 * Timers do not pace below 1.4 ms, so the loop turns by setImmediate and sends what is due; it
 * sleeps only where the next operation is far. Client CPU therefore contains this waiting.
 */

import { DROPPED } from '../lib/outcome.js';
import { Arrivals } from './arrivals.js';

/** @typedef {import('./load.js').Load} Load */
/** @typedef {import('./detail.js').DetailedTally} DetailedTally */

/** Sent more than this after it was due, an operation is late: the client was busy elsewhere. */
export const LATE_NS = 1e6;
/** In flight at most, where nothing is said. */
export const MAX_IN_FLIGHT = 10_000;
/** Replies must come in between: a turn of the event loop sends no more than that. */
const TURN_OPERATIONS_MAX = 256;
const TURN_NS_MAX = 5e6;
/** Nearer than this the loop turns without sleeping; a timer may be this much off. */
const SLEEP_FROM_NS = 4e6;
const SLEEP_RESERVE_NS = 2e6;
/** An abort is seen after this at the latest. */
const SLEEP_MS_MAX = 100;

/**
 * @typedef {object} RateOptions
 * @property {number} perSecond
 * @property {import('./arrivals.js').ArrivalLaw} arrivals
 * @property {number} seed of the Poisson arrivals
 * @property {number} [offsetNs] of the first constant arrival
 * @property {number} maxInFlight
 */

/**
 * What an open loop counts beside the outcomes: offered = sent + dropped, and sent = completed +
 * what was pending when the load was ended from outside.
 * @typedef {object} OpenCounts
 * @property {number} offered operations that came due
 * @property {number} sent
 * @property {number} completed replies and errors, of whatever outcome
 * @property {number} dropped
 * @property {number} late sent more than 1 ms after they were due
 * @property {number} lateNsMax the most that one was late
 */

/**
 * Starts the loop; load.finish() is called when all that was sent has settled.
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
    this.tally = /** @type {DetailedTally} */ (load.tally);
    this.startNs = load.tally.startNs;
    this.arrivals = new Arrivals(options);
    this.dueNs = this.startNs + this.arrivals.next();
    this.maxInFlight = options.maxInFlight;
    this.issue = { promise: issuePromise, callback: issueCallback, sync: issueSync }[load.calls];
    /** For calls that block: the same arrivals again, as far as they are due by now. */
    this.ahead = load.calls === 'sync' ? new Arrivals(options) : null;
    this.aheadNs = this.ahead === null ? 0 : this.startNs + this.ahead.next();
    this.turn = this.turn.bind(this);
  }

  /** Sends what is due, and comes back in the next turn of the event loop. */
  turn() {
    const { load } = this;
    if (load.tally.closed) return;
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
   * @returns {number} the clock afterwards
   */
  send(nowNs) {
    const { load, dueNs } = this;
    const { open } = load;
    const index = load.next;
    load.enter(nowNs);
    load.next = index + 1;
    this.dueNs = this.startNs + this.arrivals.next();
    if (this.isFull(index, nowNs)) {
      open.dropped += 1;
      load.tally.outcomes[DROPPED] += 1;
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
   * @param {number} index of the operation that is to be sent
   * @param {number} nowNs
   */
  isFull(index, nowNs) {
    const { load, ahead } = this;
    if (ahead === null) return load.open.sent - load.settledCount >= this.maxInFlight;
    while (this.aheadNs <= nowNs && ahead.drawn <= load.limit) {
      this.aheadNs = this.startNs + ahead.next();
    }
    // drawn - 1 are due by now; index of them have been handled.
    return ahead.drawn - 1 - index > this.maxInFlight;
  }

  /**
   * @param {number} index
   * @param {number} dueNs
   * @param {number} sentNs
   * @param {any} reply
   */
  settle(index, dueNs, sentNs, reply) {
    this.tally.sentNs = sentNs;
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
