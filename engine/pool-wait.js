/** Waits for a connection of a pool that the handles of a benchmark tell of, while it is measured. */

import { Histogram } from '../measure/histogram.js';

/** @typedef {import('../lib/types.js').RowsHandle} RowsHandle */

/**
 * @param {readonly import('../lib/types.js').Handle[]} handles of one benchmark
 * @returns {() => { poolWait?: import('./record.js').HistogramMessage | null }} waits that ended
 *   since this call; absent: no pool, or its driver does not show them
 */
export function watchPoolWait(handles) {
  const take = () =>
    handles.flatMap((handle) => /** @type {RowsHandle} */ (handle).poolWait?.() ?? []);
  take(); // those of the warm-up
  return () => {
    const all = take();
    if (all.length === 0) return {};
    const merged = new Histogram();
    for (const one of all) merged.mergeSparse(one);
    return { poolWait: merged.count === 0 ? null : merged.toMessage() };
  };
}
