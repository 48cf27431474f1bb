/**
 * Waits for a connection of a pool, as reported by the handles of a benchmark while it is measured.
 */

import { Histogram } from '../measure/histogram.js';

/** @typedef {import('../lib/types.js').RowsHandle} RowsHandle */

/**
 * @param {Histogram | null} sum accumulator; null: none yet
 * @param {import('./opening.js').OpenedStorage} opened waits reported by its handles since the last
 *   call
 * @returns {Histogram | null} null: no pool, or its driver does not report waits
 */
export function addPoolWait(sum, { handles }) {
  let added = sum;
  for (const one of handles) {
    const waits = /** @type {RowsHandle} */ (one).poolWait?.();
    if (waits === undefined) continue;
    added ??= new Histogram();
    added.mergeSparse(waits);
  }
  return added;
}
