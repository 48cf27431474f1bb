/**
 * The errors of the mutex: one class, a closed set of codes. The mutex is a separate package, so
 * this is not the error class of the harness.
 */

/**
 * All codes of rejections, with their meaning.
 * @type {Readonly<Record<string, string>>}
 */
export const MUTEX_CODES = Object.freeze({
  MUTEX_ARGUMENT: 'refused by the client before anything was sent',
  MUTEX_TIMEOUT: 'not locked within the block timeout',
  MUTEX_DEADLOCK: 'the owner holds, or waits for, one of the names already',
  MUTEX_ABORTED: 'the signal of the caller aborted',
  MUTEX_CONNECTION: 'the connection was lost; requests in flight may have been executed',
  MUTEX_SERVER: 'error reply of the server',
  MUTEX_UNSUPPORTED: 'not supported by this kind of lock',
  MUTEX_CLOSED: 'the locker is closed',
});

/** The error class of all rejections of lock, tryLock, unlock, refresh and owned. */
export class MutexError extends Error {
  /**
   * @param {keyof typeof MUTEX_CODES & string} code one of MUTEX_CODES
   * @param {string} message the problem, its location, and a hint
   * @param {unknown} [cause]
   */
  constructor(code, message, cause) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'MutexError';
    this.code = code;
  }
}

/**
 * @param {string} names
 * @param {number} blockMs
 */
export function timedOut(names, blockMs) {
  return new MutexError('MUTEX_TIMEOUT', `lock ${names}: not acquired within ${blockMs} ms`);
}

/**
 * Wraps a driver's error: an error reply of the server, or a lost connection.
 * @param {any} error
 * @param {string} what the failed request
 * @returns {MutexError}
 */
export function commandError(error, what) {
  if (error instanceof MutexError) return error;
  const message = String(error?.message ?? error);
  // Error replies begin with an upper-case word: ERR, WRONGTYPE, NOAUTH, READONLY, OOM …
  const replied = /^[A-Z]{2,}\b/.test(message) && error?.code === undefined;
  const code = replied ? 'MUTEX_SERVER' : 'MUTEX_CONNECTION';
  return new MutexError(code, `${what}: ${message}`, error);
}
