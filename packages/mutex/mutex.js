/**
 * One mutex over one name or several: all or none are locked. It is the owner of what it locks,
 * unless it was given the name of an owner that several share.
 */

import { argumentsOf, requireBlockMs, requireExpireMs } from './lock-arguments.js';

/** @typedef {import('./locker.js').Locker} Locker */
/** @typedef {import('./script-handler.js').Claim} Claim */

/**
 * @typedef {object} MutexOptions
 * @property {string} [owner] default: this mutex alone. Who locks a name that the same owner holds
 *   gets MUTEX_DEADLOCK
 * @property {number} [expireMs] what is not refreshed or unlocked for so long is free again
 * @property {number} [blockMs] how long lock waits at most; 0: it tries once; Infinity
 */

export class Mutex {
  /** @type {Locker} */
  #locker;
  /** @type {Claim | null} of the last lock, until it is unlocked */
  #claim = null;

  /**
   * @param {Locker} locker
   * @param {readonly string[]} names
   * @param {{ owner: string, expireMs: number, blockMs: number }} options
   */
  constructor(locker, names, { owner, expireMs, blockMs }) {
    this.#locker = locker;
    this.names = Object.freeze([...names]);
    this.owner = owner;
    this.expireMs = expireMs;
    this.blockMs = blockMs;
  }

  /**
   * Waits until all names are locked.
   * @param {{ blockMs?: number, signal?: AbortSignal }} [options]
   * @returns {Promise<void>}
   * @throws {import('./mutex-error.js').MutexError} MUTEX_TIMEOUT, MUTEX_DEADLOCK, MUTEX_ABORTED,
   *   MUTEX_CONNECTION, MUTEX_SERVER, MUTEX_CLOSED: nothing is locked then, or, after a lost
   *   connection, for expireMs at most
   */
  async lock({ blockMs = this.blockMs, signal } = {}) {
    const claim = this.#locker.claim(this);
    await this.#locker.lock(claim, { blockMs: requireBlockMs(blockMs), signal });
    this.#claim = claim;
  }

  /**
   * One command, no waiting.
   * @returns {Promise<boolean>} whether all names are locked now; false also where the owner holds
   *   one of them already
   */
  async tryLock() {
    const claim = this.#locker.claim(this);
    const locked = await this.#locker.tryLock(claim);
    if (locked) this.#claim = claim;
    return locked;
  }

  /**
   * @returns {Promise<boolean>} whether all names were still locked by this lock; false means that
   *   the lock had expired, and another owner may have been inside
   */
  async unlock() {
    const claim = this.#claim;
    if (claim === null) return false;
    this.#claim = null;
    return this.#locker.unlock(claim);
  }

  /**
   * @param {number} [expireMs] from now on
   * @returns {Promise<boolean>} false: the time was over already, nothing was refreshed
   */
  async refresh(expireMs = this.expireMs) {
    requireExpireMs(expireMs);
    return this.#claim !== null && this.#locker.refresh(this.#claim, expireMs);
  }

  /** @returns {Promise<boolean>} whether the server holds all names for this lock */
  async owned() {
    return this.#claim !== null && this.#locker.owned(this.#claim);
  }

  /**
   * Locks, works, unlocks, also where the work throws.
   * @template T
   * @param {() => Promise<T> | T} work
   * @param {{ blockMs?: number, signal?: AbortSignal }} [options]
   * @returns {Promise<T>}
   */
  async run(work, options) {
    argumentsOf(work, 'run: give the function that is to be run while all is locked');
    await this.lock(options);
    try {
      return await work();
    } finally {
      await this.unlock();
    }
  }
}
