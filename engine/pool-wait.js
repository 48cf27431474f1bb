/** Waits for a connection of a pool that the handles of a benchmark tell of, while it is measured. */

import { Histogram } from '../measure/histogram.js';

/** @typedef {import('../lib/types.js').RowsHandle} RowsHandle */

/**
 * @param {Histogram | null} sum is added to; null: none yet
 * @param {import('./opening.js').OpenedStorage} opened the waits of its handles since the last call
 * @returns {Histogram | null} null: no pool, or its driver does not show them
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
