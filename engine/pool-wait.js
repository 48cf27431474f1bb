/** Waits for a connection of a pool that the handles of a benchmark tell of, while it is measured. */

import { Histogram } from '../measure/histogram.js';

/** @typedef {import('../lib/types.js').RowsHandle} RowsHandle */

/**
 * @param {readonly import('../lib/types.js').Handle[]} handles of one benchmark
 * @returns {() => { poolWait?: import('./record.js').HistogramMessage | null }} waits that ended
 *   since this call; absent: no pool, or its driver does not show them
 */
export function watchPoolWait(handles) {
  const take = () => handles.reduce(addPoolWait, /** @type {Histogram | null} */ (null));
  take(); // those of the warm-up
  return () => {
    const sum = take();
    return sum === null ? {} : { poolWait: sum.count === 0 ? null : sum.toMessage() };
  };
}

/**
 * @param {Histogram | null} sum is added to; null: none yet
 * @param {import('../lib/types.js').Handle} handle its waits since the last call
 * @returns {Histogram | null} null: no pool, or its driver does not show them
 */
export function addPoolWait(sum, handle) {
  const waits = /** @type {RowsHandle} */ (handle).poolWait?.();
  if (waits === undefined) return sum;
  const added = sum ?? new Histogram();
  added.mergeSparse(waits);
  return added;
}
