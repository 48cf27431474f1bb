/** Several connections for one inserter: all or none are opened. */

/**
 * @template T
 * @param {number} count
 * @param {() => Promise<T>} open
 * @param {(connection: T) => unknown} close
 * @returns {Promise<{ all: T[], close: () => Promise<void> }>}
 */
export async function openSeveral(count, open, close) {
  /** @type {T[]} */
  const all = [];
  const closeAll = async () => {
    for (const one of all.splice(0)) await close(one);
  };
  try {
    while (all.length < count) all.push(await open());
  } catch (error) {
    await closeAll();
    throw error;
  }
  return { all, close: closeAll };
}
