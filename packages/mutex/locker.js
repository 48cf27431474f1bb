/**
 * State shared by the mutexes of a process: the driver's connection, the subscription that wakes
 * waiters, their queues, and the locks known to be held by this process.
 *
 * All waiters listen to one channel. An unlock publishes the released names there; in each process
 * the first waiter for them tries to lock. If a waiter is in this process, its attempt is sent
 * directly after the unlock, in the same write, without waiting for the channel. For fairness only
 * some consecutive unlocks do that while other processes listen.
 */

import { randomBytes } from 'node:crypto';
import { completeOptions, requireNames } from './lock-arguments.js';
import { Mutex } from './mutex.js';
import { commandError, MutexError, timedOut } from './mutex-error.js';
import { Waiter, WaitQueue } from './wait-queue.js';

/** @typedef {import('./script-handler.js').Claim} Claim */
/** @typedef {import('./script-handler.js').Handler} Handler */
/** @typedef {import('./script-handler.js').Attempt} Attempt */

/** Consecutive unlocks handed over within this process while others listen. */
const HANDOVERS_MAX = 8;
/** Grace period for a command in flight when the block timeout is over. */
const REPLY_MS = 1000;

/**
 * @typedef {object} LockerOptions
 * @property {Handler} handler
 * @property {string} prefix prefix of the keys
 * @property {{ now(): number }} clock
 * @property {number} [expireMs] default expiry of a mutex
 * @property {number} [blockMs]
 */

export class Locker {
  #id = randomBytes(9).toString('base64url');
  #count = 0;
  #handovers = 0;
  /** Number of processes that received the last unlock message. */
  #listeners = 0;
  /** @type {Map<string, { claim: Claim, untilNs: number }>} locks held by this process, by name */
  #held = new Map();
  /** @type {(() => void) | null} */
  #unsubscribe = null;
  /** @type {MutexError | null} reason why locking is no longer possible */
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
      disown: (claim) => this.#release(claim).catch(() => {}), // otherwise it ends by itself
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

  /** @returns {number} number of waiting lock calls */
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
    const refreshed = await withCommandError(
      this.handler.refresh(claim, expireMs),
      claim,
      'refresh',
    );
    if (refreshed) this.#keep({ ...claim, expireMs }, sentNs);
    return refreshed;
  }

  /**
   * @param {Claim} claim
   * @returns {Promise<boolean>}
   */
  owned(claim) {
    return withCommandError(this.handler.owned(claim), claim, 'owned');
  }

  /** @param {Claim} claim */
  #attempt(claim) {
    return withCommandError(this.handler.attempt(claim), claim, 'lock');
  }

  /** @param {Claim} claim */
  async #release(claim) {
    const { names } = claim;
    const release = this.handler.release(claim, JSON.stringify([this.#id, ...names]));
    // The next local waiter's attempt is sent with the unlock, in the same write.
    const handOver = this.handler.pipelines && this.#mayHandOver();
    if (handOver && this.waiters.pump(names) > 0) this.#handovers += 1;
    try {
      const released = await withCommandError(release, claim, 'unlock');
      this.#listeners = released.receivers;
      return released;
    } finally {
      // Not by the channel, which skips messages of this locker.
      this.waiters.pump(names);
    }
  }

  #mayHandOver() {
    if (this.#listeners <= 1 || this.#handovers < HANDOVERS_MAX) return true;
    this.#handovers = 0;
    return false;
  }

  /** @param {string} message `["ID", "name", …]` message of a locker that unlocked these names */
  #onMessage(message) {
    /** @type {string[]} */
    let words;
    try {
      words = JSON.parse(message);
    } catch {
      return; // a different channel
    }
    if (!Array.isArray(words)) return;
    const [sender, ...names] = words;
    if (sender !== this.#id) this.waiters.pump(names);
  }

  /**
   * @param {Claim} claim
   * @param {number} sentNs the expiry starts when the server receives the command, so not before
   *   this time
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
   * @returns {number | null} maximum remaining time of this process's lock; null: not held
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
async function withCommandError(work, { names }, what) {
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
  const message = `lock ${name}: its owner ${owner} already ${does} it, and would wait for itself`;
  return new MutexError('MUTEX_DEADLOCK', message);
}

/**
 * @param {Claim} claim
 * @param {AbortSignal} [signal]
 */
function aborted({ names }, signal) {
  return new MutexError('MUTEX_ABORTED', `lock ${names.join(', ')}: aborted`, signal?.reason);
}
