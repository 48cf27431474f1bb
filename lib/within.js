/** A bound on the time that something may take. */

/**
 * @template T
 * @param {Promise<T>} work what comes of it later is of no interest
 * @param {number} ms
 * @param {() => Error} late the error of a work that takes longer
 * @returns {Promise<T>}
 */
export async function within(work, ms, late) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<never>} */
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
