/** A time limit for a promise. */

/**
 * @template T
 * @param {Promise<T>} work work whose later outcome is ignored
 * @param {number} ms
 * @param {() => Error} late error if the work takes longer
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
