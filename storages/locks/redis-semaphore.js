/**
 * npm redis-semaphore: its Mutex with default options. It refreshes itself while it is locked, so
 * its expiry matters only if the process dies.
 */

import { MutexError, timedOut } from '../../packages/mutex/mutex-error.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */
/** @typedef {import('../../lib/types.js').DistributedLock} DistributedLock */

/**
 * @param {any} client client of ioredis
 * @param {string} prefix prefix of keys; the package prepends its own
 * @param {number} [retryMs] instead of its 10 ms
 * @returns {Promise<Pick<Locks, 'mutex' | 'close'>>}
 */
export async function openSemaphore(client, prefix, retryMs) {
  const { Mutex } = await import('redis-semaphore');
  const retry = retryMs === undefined ? {} : { retryInterval: retryMs };
  return {
    mutex([name], { expireMs, blockMs }) {
      const options = { lockTimeout: expireMs, ...retry };
      const key = prefix + name;
      return new SemaphoreMutex(
        (acquireTimeout) =>
          // By default a lost lock ends the process; here unlock reports it.
          new Mutex(client, key, { ...options, acquireTimeout, onLockLost: () => {} }),
        { name, blockMs },
      );
    },
    close: async () => {},
  };
}

/** @implements {DistributedLock} */
class SemaphoreMutex {
  /** @type {import('redis-semaphore').Mutex | null} */
  #mutex = null;

  /**
   * @param {(acquireTimeout: number) => import('redis-semaphore').Mutex} make
   * @param {{ name: string, blockMs: number }} options
   */
  constructor(make, { name, blockMs }) {
    this.make = make;
    this.name = name;
    this.blockMs = Math.min(blockMs, Number.MAX_SAFE_INTEGER / 2);
  }

  async lock() {
    if (!(await this.#take(this.blockMs))) throw timedOut(this.name, this.blockMs);
  }

  tryLock() {
    return this.#take(1); // at least one attempt
  }

  /** @param {number} blockMs */
  async #take(blockMs) {
    const mutex = this.make(blockMs);
    if (!(await mutex.tryAcquire())) return false;
    this.#mutex = mutex;
    return true;
  }

  async unlock() {
    const mutex = this.#mutex;
    this.#mutex = null;
    const held = mutex?.isAcquired ?? false;
    await mutex?.release();
    return held;
  }

  /** @returns {Promise<boolean>} */
  async refresh() {
    throw new MutexError('MUTEX_UNSUPPORTED', 'a Mutex of redis-semaphore refreshes itself');
  }

  async owned() {
    return this.#mutex?.isAcquired ?? false;
  }
}
