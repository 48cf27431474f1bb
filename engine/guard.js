/**
 * What a storage does outside of the loop, bounded: it must not hang a run, and a signal or a crash
 * of the driver ends the wait.
 */

const CLOSE_TIMEOUT_MS = 5000;

/**
 * @template T
 * @param {Promise<T>} work of a storage
 * @param {Pick<import('./benchmark.js').BenchmarkContext, 'signal' | 'crash'>} context
 * @param {number} timeoutMs
 * @param {string} what
 * @returns {Promise<T>} rejects where the time is over, the run is stopped or the driver crashes
 */
export async function withTimeout(work, { signal, crash }, timeoutMs, what) {
  /** @type {(() => void)[]} */
  const undo = [];
  const interrupted = new Promise((_, reject) => {
    const timer = setTimeout(
      () => reject(codedError('E_TIMEOUT', `${what} took more than ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    undo.push(() => clearTimeout(timer));
    const onAbort = () => reject(codedError('E_ABORTED', `stopped during ${what}`));
    const onCrash = () =>
      reject(crash?.reason ?? codedError('DRIVER_CRASHED', 'the driver crashed'));
    if (signal?.aborted) onAbort();
    if (crash?.aborted) onCrash();
    signal?.addEventListener('abort', onAbort);
    crash?.addEventListener('abort', onCrash);
    undo.push(() => signal?.removeEventListener('abort', onAbort));
    undo.push(() => crash?.removeEventListener('abort', onCrash));
  });
  try {
    return /** @type {T} */ (await Promise.race([work, interrupted]));
  } finally {
    for (const step of undo) step();
    // What comes of it later is of no interest any more.
    work.catch(() => {});
  }
}

/**
 * @param {string} code
 * @param {string} message
 */
function codedError(code, message) {
  return Object.assign(new Error(message), { code });
}

/** @param {import('../lib/types.js').Handle} handle */
export async function closeBounded(handle) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
  });
  try {
    await Promise.race([handle.close(), late]);
  } catch {
    // A connection that is gone cannot be closed; its loss has been counted already.
  }
  clearTimeout(timer);
}
