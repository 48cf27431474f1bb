/**
 * Time limits for storage code outside the loop: it must not block a run, and a signal or a crash
 * of the driver ends the wait.
 */

import { within } from '../lib/within.js';

const CLOSE_TIMEOUT_MS = 5000;

/**
 * @template T
 * @param {Promise<T>} work work of a storage
 * @param {Pick<import('./opening.js').BenchmarkContext, 'signal' | 'crash'>} context
 * @param {number} timeoutMs
 * @param {string} what
 * @returns {Promise<T>} rejects on timeout, abort or crash of the driver
 */
export async function withTimeout(work, { signal, crash }, timeoutMs, what) {
  /** @type {(() => void)[]} */
  const undo = [];
  /** @type {Promise<never>} */
  const interrupted = new Promise((_, reject) => {
    const onAbort = () => reject(errorWithCode('E_ABORTED', `stopped during ${what}`));
    const onCrash = () =>
      reject(crash?.reason ?? errorWithCode('DRIVER_CRASHED', 'the driver crashed'));
    if (signal?.aborted) onAbort();
    if (crash?.aborted) onCrash();
    signal?.addEventListener('abort', onAbort);
    crash?.addEventListener('abort', onCrash);
    undo.push(() => signal?.removeEventListener('abort', onAbort));
    undo.push(() => crash?.removeEventListener('abort', onCrash));
  });
  const late = () => errorWithCode('E_TIMEOUT', `${what} took more than ${timeoutMs / 1000} s`);
  try {
    return await Promise.race([within(work, timeoutMs, late), interrupted]);
  } finally {
    for (const step of undo) step();
  }
}

/**
 * @param {string} code
 * @param {string} message
 */
function errorWithCode(code, message) {
  return Object.assign(new Error(message), { code });
}

/**
 * A lost connection cannot be closed; its loss is already counted.
 * @param {import('../lib/types.js').Handle} handle
 */
export async function closeBounded(handle) {
  const closing = (async () => handle.close())();
  await within(closing, CLOSE_TIMEOUT_MS, () => new Error('late')).catch(() => {});
}
