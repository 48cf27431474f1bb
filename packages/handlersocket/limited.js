/** Limits the wait for one request by a signal or a time. The request itself stays queued. */

import { HandlerSocketError } from './handlersocket-error.js';

/**
 * @typedef {object} WaitOptions
 * @property {AbortSignal} [signal] rejects with HS_ABORTED
 * @property {number} [timeoutMs] rejects with HS_REQUEST_TIMEOUT
 */

/**
 * Settles as `promise` does, or rejects earlier. A sent request cannot be cancelled: its reply is
 * read and dropped, because replies are identified by order only.
 * @template T
 * @param {Promise<T>} promise
 * @param {WaitOptions} options
 * @param {boolean} change whether giving up leaves an unknown outcome
 * @returns {Promise<T>}
 */
export function limited(promise, { signal, timeoutMs }, change) {
  if (signal === undefined && timeoutMs === undefined) return promise;
  return new Promise((resolve, reject) => {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const onAbort = () => end(abortedError(signal, change));
    /** @param {HandlerSocketError} [error] */
    const end = (error) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      if (error !== undefined) reject(error);
    };
    if (timeoutMs !== undefined) {
      timer = setTimeout(() => {
        const text = `no reply within ${timeoutMs} ms${change ? '; it may be executed' : ''}`;
        end(new HandlerSocketError('HS_REQUEST_TIMEOUT', text, { outcomeUnknown: change }));
      }, timeoutMs);
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    promise.then(
      (value) => {
        end();
        resolve(value);
      },
      (error) => {
        end();
        reject(error);
      },
    );
  });
}

/**
 * @param {AbortSignal | undefined} signal
 * @param {boolean} outcomeUnknown
 * @returns {HandlerSocketError} with the signal's reason as its cause
 */
export function abortedError(signal, outcomeUnknown) {
  const text = `aborted by the caller${outcomeUnknown ? '; the change may be executed' : ''}`;
  return new HandlerSocketError('HS_ABORTED', text, { outcomeUnknown, cause: signal?.reason });
}
