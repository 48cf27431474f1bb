/**
 * What the mutexes of one process share: the driver's connection, the subscription by which they
 * are woken, the queues of those that wait, and what this process knows that it holds.
 *
 * All waiters listen to one channel. An unlock publishes the released names there; in each process
 * the first that waits for them tries. Where one of this process waits, its attempt is sent right
 * behind the unlock, in the same write, and the channel is not waited for. So that other processes
 * get their turn too, only some unlocks in a row do that while others listen.
 */

import { randomBytes } from 'node:crypto';
import { completeOptions, requireNames } from './lock-arguments.js';
import { Mutex } from './mutex.js';
import { commandError, MutexError, timedOut } from './mutex-error.js';
import { Waiter, WaitQueue } from './wait-queue.js';

/** @typedef {import('./script-handler.js').Claim} Claim */
/** @typedef {import('./script-handler.js').Handler} Handler */
/** @typedef {import('./script-handler.js').Attempt} Attempt */

/** Unlocks in a row that are handed over in this process while others listen. */
const HANDOVERS_MAX = 8;
/** A command that is in flight when the block timeout is over may still come back for so long. */
const REPLY_MS = 1000;

/**
 * @typedef {object} LockerOptions
 * @property {Handler} handler
 * @property {string} prefix of the keys
 * @property {{ now(): number }} clock
 * @property {number} [expireMs] of a mutex that says nothing
 * @property {number} [blockMs]
 */

export class Locker {
  #id = randomBytes(9).toString('base64url');
  #count = 0;
  #handovers = 0;
  /** Processes that listened to the last unlock. */
  #listeners = 0;
  /** @type {Map<string, { claim: Claim, untilNs: number }>} what this process holds, by name */
  #held = new Map();
  /** @type {(() => void) | null} */
  #unsubscribe = null;
  /** @type {MutexError | null} why nothing can be locked any more */
  #lost = null;

  /** @param {LockerOptions} options */
  constructor({ handler, prefix, clock, expireMs, blockMs }) {
    this.handler = handler;
    this.prefix = prefix;
    this.clock = clock;
    this.defaults = { expireMs, blockMs };
    this.waiters = new WaitQueue({
      attempt: (claim) => this.#attempt(claim),
      heldMs: (name) => this.#heldMs(name),
      disown: (claim) => this.#release(claim).catch(() => {}), // else it ends by itself
      deadlock: (claim, name) => deadlock(claim.owner, name, 'holds'),
      now: () => clock.now(),
    });
  }

  /**
   * @param {import('./client-adapter.js').ClientAdapter} adapter
   * @param {string} channel
   */
  async listen(adapter, channel) {
    this.#unsubscribe = await adapter.subscribe(channel, {
      onMessage: (message) => this.#onMessage(message),
      onResubscribed: () => this.waiters.pumpAll(),
      onLost: (error) => this.#fail(commandError(error, 'the subscription is lost')),
    });
  }

  /** @returns {number} calls of lock that wait */
  get waiting() {
    return this.waiters.size;
  }

  /**
   * @param {string | readonly string[]} names
   * @param {import('./mutex.js').MutexOptions} [options]
   * @returns {Mutex}
   * @throws {MutexError} MUTEX_ARGUMENT
   */
  mutex(names, options = {}) {
    const { owner = this.#next(), ...rest } = completeOptions(options, this.defaults);
    return new Mutex(this, requireNames(names), { owner, ...rest });
  }

  /** Rejects all waiters; held locks stay until they expire. */
  async close() {
    this.#fail(new MutexError('MUTEX_CLOSED', 'the locker is closed'));
    this.#unsubscribe?.();
    this.handler.close();
  }

  /**
   * @param {{ names: readonly string[], owner: string, expireMs: number }} mutex
   * @returns {Claim}
   */
  claim({ names, owner, expireMs }) {
    const keys = names.map((name) => this.prefix + name);
    return { names, keys, owner, serial: this.#next(), expireMs };
  }

  /**
   * @param {Claim} claim
   * @param {{ blockMs: number, signal?: AbortSignal }} options
   * @returns {Promise<void>}
   */
  lock(claim, { blockMs, signal }) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw aborted(claim, signal);
      if (this.#lost !== null) throw this.#lost;
      const waits = this.waiters.conflict(claim);
      if (waits !== null) throw deadlock(claim.owner, waits, 'waits for');
      const holds = claim.names.find((name) => this.#holds(claim.owner, name));
      if (holds !== undefined) throw deadlock(claim.owner, holds, 'holds');
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      const onAbort = () => abandon(aborted(claim, signal));
      const waiter = new Waiter(claim, (error, sentNs) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        if (error === null) this.#keep(claim, sentNs);
        if (error === null) resolve();
        else reject(error);
      });
      const abandon = (/** @type {MutexError} */ error) => this.waiters.abandon(waiter, error);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.waiters.add(waiter);
      if (blockMs < 2 ** 31) {
        const onTime = () => {
          const error = timedOut(claim.names.join(', '), blockMs);
          timer = setTimeout(() => abandon(error), REPLY_MS);
          this.waiters.abort(waiter, error);
        };
        timer = setTimeout(onTime, Math.ceil(blockMs));
      }
    });
  }

  /**
   * @param {Claim} claim
   * @returns {Promise<boolean>}
   */
  async tryLock(claim) {
    if (this.#lost !== null) throw this.#lost;
    if (claim.names.some((name) => this.#heldMs(name) !== null)) return false;
    const sentNs = this.clock.now();
    const locked = (await this.#attempt(claim)).state === 'acquired';
    if (locked) this.#keep(claim, sentNs);
    return locked;
  }

  /**
   * @param {Claim} claim
   * @returns {Promise<boolean>}
   */
  async unlock(claim) {
    this.#forget(claim);
    return (await this.#release(claim)).all;
  }

  /**
   * @param {Claim} claim
   * @param {number} expireMs
   * @returns {Promise<boolean>}
   */
  async refresh(claim, expireMs) {
    const sentNs = this.clock.now();
    const refreshed = await told(this.handler.refresh(claim, expireMs), claim, 'refresh');
    if (refreshed) this.#keep({ ...claim, expireMs }, sentNs);
    return refreshed;
  }

  /**
   * @param {Claim} claim
   * @returns {Promise<boolean>}
   */
  owned(claim) {
    return told(this.handler.owned(claim), claim, 'owned');
  }

  /** @param {Claim} claim */
  #attempt(claim) {
    return told(this.handler.attempt(claim), claim, 'lock');
  }

  /** @param {Claim} claim */
  async #release(claim) {
    const { names } = claim;
    const release = this.handler.release(claim, JSON.stringify([this.#id, ...names]));
    // The next local waiter's attempt is sent with the unlock, in the same write.
    const handOver = this.handler.pipelines && this.#mayHandOver();
    if (handOver && this.waiters.pump(names) > 0) this.#handovers += 1;
    try {
      const released = await told(release, claim, 'unlock');
      this.#listeners = released.receivers;
      return released;
    } finally {
      // Not by the channel: our own messages are left out there.
      this.waiters.pump(names);
    }
  }

  #mayHandOver() {
    if (this.#listeners <= 1 || this.#handovers < HANDOVERS_MAX) return true;
    this.#handovers = 0;
    return false;
  }

  /** @param {string} message `["ID", "name", …]` of a locker that has unlocked these */
  #onMessage(message) {
    /** @type {string[]} */
    let words;
    try {
      words = JSON.parse(message);
    } catch {
      return; // of another channel
    }
    if (!Array.isArray(words)) return;
    const [sender, ...names] = words;
    if (sender !== this.#id) this.waiters.pump(names);
  }

  /**
   * @param {Claim} claim
   * @param {number} sentNs the time runs from when the server got it, so at the earliest from here
   */
  #keep(claim, sentNs) {
    const untilNs = sentNs + claim.expireMs * 1e6;
    for (const name of claim.names) this.#held.set(name, { claim, untilNs });
  }

  /** @param {Claim} claim */
  #forget({ names, serial }) {
    for (const name of names) {
      if (this.#held.get(name)?.claim.serial === serial) this.#held.delete(name);
    }
  }

  /**
   * @param {string} name
   * @returns {number | null} how long this process holds it at the most; null: not at all
   */
  #heldMs(name) {
    const held = this.#held.get(name);
    if (held === undefined) return null;
    const leftMs = (held.untilNs - this.clock.now()) / 1e6;
    if (leftMs > 0) return leftMs;
    this.#held.delete(name);
    return null;
  }

  /**
   * @param {string} owner
   * @param {string} name
   */
  #holds(owner, name) {
    return this.#heldMs(name) !== null && this.#held.get(name)?.claim.owner === owner;
  }

  /** @param {MutexError} error */
  #fail(error) {
    this.#lost ??= error;
    for (const waiter of this.waiters.all()) this.waiters.abandon(waiter, error);
  }

  #next() {
    this.#count += 1;
    return `${this.#id}.${this.#count}`;
  }
}

/**
 * @template T
 * @param {Promise<T>} work
 * @param {Claim} claim
 * @param {string} what
 * @returns {Promise<T>}
 */
async function told(work, { names }, what) {
  try {
    return await work;
  } catch (error) {
    throw commandError(error, `${what} ${names.join(', ')}`);
  }
}

/**
 * @param {string} owner
 * @param {string} name
 * @param {string} does
 */
function deadlock(owner, name, does) {
  const message = `lock ${name}: its owner ${owner} ${does} it already, and would wait for itself`;
  return new MutexError('MUTEX_DEADLOCK', message);
}

/**
 * @param {Claim} claim
 * @param {AbortSignal} [signal]
 */
function aborted({ names }, signal) {
  return new MutexError('MUTEX_ABORTED', `lock ${names.join(', ')}: aborted`, signal?.reason);
}
