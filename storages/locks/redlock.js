/**
 * npm redlock over one server, with default options except retryCount: its ten retries would abort
 * most waits for a contended lock after two seconds.
 */

import { MutexError } from '../../packages/mutex/mutex-error.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */
/** @typedef {import('../../lib/types.js').DistributedLock} DistributedLock */

const RETRY_MS = 200;

/**
 * @param {any} client client of ioredis
 * @param {string} prefix prefix of keys
 * @param {number} [retryMs] instead of its 200 ms ± 100 ms
 * @returns {Promise<Pick<Locks, 'mutex' | 'close'>>}
 */
export async function openRedlock(client, prefix, retryMs) {
  // Its exports do not include its types.
  const { default: Redlock } = await import(/** @type {any} */ ('redlock'));
  const settings = retryMs === undefined ? {} : { retryDelay: retryMs, retryJitter: retryMs / 2 };
  const redlock = new Redlock([client], settings);
  return {
    mutex(names, { expireMs, blockMs }) {
      const keys = names.map((name) => prefix + name);
      return new RedlockMutex(redlock, keys, { expireMs, blockMs, retryMs: retryMs ?? RETRY_MS });
    },
    close: async () => {},
  };
}

/** @implements {DistributedLock} */
class RedlockMutex {
  /** @type {any} */
  #lock = null;

  /**
   * @param {any} redlock
   * @param {string[]} keys
   * @param {{ expireMs: number, blockMs: number, retryMs: number }} options
   */
  constructor(redlock, keys, { expireMs, blockMs, retryMs }) {
    this.redlock = redlock;
    this.keys = keys;
    this.expireMs = expireMs;
    this.retryCount = blockMs === Number.POSITIVE_INFINITY ? -1 : Math.ceil(blockMs / retryMs);
  }

  async lock() {
    try {
      this.#lock = await this.#acquire(this.retryCount);
    } catch (error) {
      throw await explain(error, this.keys);
    }
  }

  async tryLock() {
    try {
      this.#lock = await this.#acquire(0);
      return true;
    } catch (error) {
      const explained = await explain(error, this.keys);
      if (explained.code === 'MUTEX_TIMEOUT') return false;
      throw explained;
    }
  }

  /** @param {number} retryCount */
  #acquire(retryCount) {
    return this.redlock.acquire(this.keys, this.expireMs, { retryCount });
  }

  async unlock() {
    const lock = this.#lock;
    this.#lock = null;
    // Retries cannot restore an expired lock.
    return lock !== null && (await succeeds(this.redlock.release(lock, { retryCount: 0 })));
  }

  async refresh() {
    if (this.#lock === null) return false;
    try {
      this.#lock = await this.redlock.extend(this.#lock, this.expireMs, { retryCount: 0 });
      return true;
    } catch {
      return false;
    }
  }

  /** @returns {Promise<boolean>} */
  async owned() {
    throw new MutexError('MUTEX_UNSUPPORTED', 'redlock cannot query the owner of a lock');
  }
}

/** @param {Promise<unknown>} work */
async function succeeds(work) {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
}

/**
 * Its ExecutionError contains the reason of each attempt: held by another, or no connection.
 * @param {any} error
 * @param {string[]} keys
 * @returns {Promise<MutexError>}
 */
async function explain(error, keys) {
  const attempts = error?.attempts ?? [];
  const last = await attempts[attempts.length - 1];
  const [cause] = [...(last?.votesAgainst?.values() ?? [])];
  const held = cause?.name === 'ResourceLockedError';
  const code = held ? 'MUTEX_TIMEOUT' : 'MUTEX_CONNECTION';
  return new MutexError(code, `lock ${keys.join(', ')}: ${(cause ?? error).message}`, error);
}
