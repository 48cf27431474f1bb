/**
 * A mutex over one name or several, locked all or none. It is the owner of its locks, unless it is
 * created with the name of a shared owner.
 */

import { argumentsOf, requireBlockMs, requireExpireMs } from './lock-arguments.js';

/** @typedef {import('./locker.js').Locker} Locker */
/** @typedef {import('./script-handler.js').Claim} Claim */

/**
 * @typedef {object} MutexOptions
 * @property {string} [owner] default: this mutex. Locking a name held by the same owner rejects
 *   with MUTEX_DEADLOCK
 * @property {number} [expireMs] a lock that is not refreshed or unlocked expires after this time
 * @property {number} [blockMs] maximum wait of lock; 0: one attempt; default: Infinity
 */

export class Mutex {
  /** @type {Locker} */
  #locker;
  /** @type {Claim | null} state of the last lock, until it is unlocked */
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
   *   MUTEX_CONNECTION, MUTEX_SERVER, MUTEX_CLOSED: nothing is locked, or, after a lost connection,
   *   for at most expireMs
   */
  async lock({ blockMs = this.blockMs, signal } = {}) {
    const claim = this.#locker.claim(this);
    await this.#locker.lock(claim, { blockMs: requireBlockMs(blockMs), signal });
    this.#claim = claim;
  }

  /**
   * One command, no waiting.
   * @returns {Promise<boolean>} whether all names are locked now; false also if the owner already
   *   holds a name
   */
  async tryLock() {
    const claim = this.#locker.claim(this);
    const locked = await this.#locker.tryLock(claim);
    if (locked) this.#claim = claim;
    return locked;
  }

  /**
   * @returns {Promise<boolean>} whether all names were still locked by this lock; false: the lock
   *   had expired, and another owner may have held it
   */
  async unlock() {
    const claim = this.#claim;
    if (claim === null) return false;
    this.#claim = null;
    return this.#locker.unlock(claim);
  }

  /**
   * @param {number} [expireMs] expiry from now on
   * @returns {Promise<boolean>} false: it had expired, nothing was refreshed
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
   * Locks, calls the function, and unlocks, even if it throws.
   * @template T
   * @param {() => Promise<T> | T} work
   * @param {{ blockMs?: number, signal?: AbortSignal }} [options]
   * @returns {Promise<T>}
   */
  async run(work, options) {
    argumentsOf(work, 'run: must be a function to call while all names are locked');
    await this.lock(options);
    try {
      return await work();
    } finally {
      await this.unlock();
    }
  }
}
