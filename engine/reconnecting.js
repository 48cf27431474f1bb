/**
 * `--on-outage continue`: reopens a storage whose connection is lost, while the open loop continues
 * and counts unsent operations as errors. The procedure is the same for all drivers: their own
 * reconnection stays off, since some resend requests or queue them for minutes.
 *
 * A failed operation is not yet an outage: a row is read first, and only if that also fails, the
 * handle is closed and new ones are opened until a row can be read.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { ERROR } from '../lib/outcome.js';
import { promised } from '../lib/promised.js';
import { within } from '../lib/within.js';
import { closeBounded } from './guard.js';
import { mergeOutages } from './outages.js';

/** @typedef {import('../lib/types.js').RowsHandle} RowsHandle */
/** @typedef {import('../lib/types.js').CallStyle} CallStyle */
/** @typedef {import('../lib/result.js').Outage} Outage */

/**
 * @typedef {object} OutageWatch failures reported by a load
 * @property {(error: any) => void} onFailure
 * @property {(sinceNs: number) => void} onStall
 * @property {(load: import('../load/load.js').LoadReport) => Outage[]} end
 */

/** An attempt that hangs must not delay the next one once the server is back. */
const OPEN_MS_MAX = 2000;
const READ_MS_MAX = 1000;
const PAUSE_MS = 100;
/** Any row; it need not exist. */
const PROBE_ID = 1;

/**
 * Replaces the handles of a storage by reopened ones.
 * @param {import('./opening.js').OpenedStorage} opened
 * @param {import('../measure/clock.js').Clock} clock
 */
export function keepOpen(opened, clock) {
  const { handles, calls } = opened;
  const open = /** @type {() => Promise<RowsHandle>} */ (opened.open);
  const kept = handles.map(
    (one) => new Reconnecting(/** @type {RowsHandle} */ (one), { open, calls, clock }),
  );
  opened.handles = kept.map((one) => one.handle);
  opened.outage = {
    onFailure: (error) => {
      for (const one of kept) one.onFailure(error);
    },
    onStall: (sinceNs) => {
      for (const one of kept) one.onStall(sinceNs);
    },
    end: (load) => mergeOutages(kept.flatMap((one) => one.end(load))),
  };
}

class Reconnecting {
  /** @type {RowsHandle | null} null while it is being reopened */
  #current;
  /** @type {Outage[]} starts on the clock; the last outage may be ongoing */
  #outages = [];
  #failed = 0;
  #failedBefore = 0;
  #isLooking = false;
  #isOver = false;

  /**
   * @param {RowsHandle} handle
   * @param {{ open: () => Promise<RowsHandle>, calls: CallStyle,
   *   clock: import('../measure/clock.js').Clock }} how
   */
  constructor(handle, how) {
    this.#current = handle;
    this.how = how;
    /** Handle of the workload. @type {RowsHandle} */
    this.handle = this.#wrap(handle);
  }

  /**
   * @param {RowsHandle} first
   * @returns {RowsHandle}
   */
  #wrap(first) {
    const { calls } = this.how;
    const { mgetCalls = calls } = first;
    /** @type {RowsHandle} */
    const wrapped = {
      ...first,
      get: (id, done) =>
        this.#current === null ? refuse(calls, done) : this.#current.get(id, done),
      close: async () => {
        this.#isOver = true;
        await this.#current?.close();
      },
    };
    if (first.mget !== undefined) {
      wrapped.mget = (ids, done) =>
        this.#current === null ? refuse(mgetCalls, done) : this.#current.mget?.(ids, done);
    }
    if (first.set !== undefined) {
      wrapped.set = (id, text, done) =>
        this.#current === null ? refuse(calls, done) : this.#current.set?.(id, text, done);
    }
    return wrapped;
  }

  /**
   * Reports a failed operation.
   * @param {any} error
   */
  onFailure(error) {
    this.#failed += 1;
    this.#look(this.how.clock.now(), String(error?.message ?? error));
  }

  /** @param {number} sinceNs time since which there was no reply */
  onStall(sinceNs) {
    this.#look(sinceNs, 'no reply');
  }

  /**
   * @param {number} startNs
   * @param {string} reason
   */
  async #look(startNs, reason) {
    const lost = this.#current;
    if (this.#isLooking || this.#isOver || lost === null) return;
    this.#isLooking = true;
    this.#failedBefore = Math.max(0, this.#failed - 1);
    if (await answers(lost, this.how.calls)) {
      await sleep(PAUSE_MS); // not for every write that the server refuses
    } else {
      /** @type {Outage} */
      const outage = { startNs, ns: null, failed: 0, reason: reason.slice(0, 300) };
      this.#outages.push(outage);
      await this.#openAgain(lost);
      outage.failed = this.#failed - this.#failedBefore;
      if (this.#current !== null) outage.ns = this.how.clock.now() - startNs;
    }
    this.#isLooking = false;
  }

  /** @param {RowsHandle} lost */
  async #openAgain(lost) {
    const { open, calls } = this.how;
    this.#current = null;
    closeBounded(lost); // settles requests in flight, for which a driver may need seconds
    while (!this.#isOver) {
      const next = await openWithin(open);
      if (next !== null && !this.#isOver && (await answers(next, calls))) {
        this.#current = next;
        return;
      }
      if (next !== null) closeBounded(next);
      await sleep(PAUSE_MS);
    }
  }

  /**
   * @param {import('../load/load.js').LoadReport} load
   * @returns {Outage[]} times since the start of measurement
   */
  end({ recorder: { startNs, endNs, outcomes }, ended }) {
    this.#isOver = true;
    const last = this.#outages.at(-1);
    const isLasting = last !== undefined && last.ns === null;
    if (isLasting) last.failed = this.#failed - this.#failedBefore;
    if (ended === 'crashed') {
      const reason = 'the driver threw an error outside of its requests';
      if (isLasting) last.reason = reason;
      else this.#outages.push({ startNs: endNs, ns: null, failed: outcomes[ERROR], reason });
    }
    return this.#outages.map((one) => ({ ...one, startNs: Math.max(0, one.startNs - startNs) }));
  }
}

/**
 * @param {CallStyle} calls
 * @param {((error: any) => void) | undefined} done
 */
function refuse(calls, done) {
  const message = 'no connection: it is being reopened';
  const error = Object.assign(new Error(message), { code: 'OUTAGE' });
  if (calls === 'sync') throw error;
  if (calls === 'promise') return Promise.reject(error);
  return process.nextTick(/** @type {(error: Error) => void} */ (done), error);
}

/**
 * @param {() => Promise<RowsHandle>} open
 * @returns {Promise<RowsHandle | null>} null: not within the time
 */
async function openWithin(open) {
  const opening = open();
  const handle = await orNull(opening, OPEN_MS_MAX);
  if (handle === null) opening.then(closeBounded, () => {}); // it may still succeed
  return handle;
}

/**
 * @param {RowsHandle} handle
 * @param {CallStyle} calls
 * @returns {Promise<boolean>} whether a row can be read
 */
async function answers(handle, calls) {
  const reading = promised(calls, (done) => handle.get(PROBE_ID, done));
  const read = await orNull(
    reading.then(() => true),
    READ_MS_MAX,
  );
  return read === true;
}

/**
 * @template T
 * @param {Promise<T>} work
 * @param {number} ms
 * @returns {Promise<T | null>} null: it failed, or took longer
 */
function orNull(work, ms) {
  return within(work, ms, () => new Error('late')).catch(() => null);
}
