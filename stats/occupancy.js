/**
 * How full a thread was, by what the kernel counts: its run time as a share of the time in which it
 * could have run. Time in which it was runnable and had no processor, taken by a neighbour or by
 * the other side on the same processor, is left out: it says nothing about the thread. Pure.
 *
 * CPU time over wall time calls a full driver on a busy machine "latency"; this does not.
 */

/** A thread that runs more than this is full; above the lower one it is nearly so. */
const FULL = 0.95;
export const NEARLY_FULL = 0.8;

/**
 * @typedef {'driver' | 'server' | 'latency' | 'driver/latency' | 'server/latency'} OccupancyVerdict
 */

/**
 * @param {{ wallNs: number, runNs: number, waitNs: number }} times of a thread
 * @returns {number | null} 0 to 1; null: it could not run at all
 */
export function occupancyOf({ wallNs, runNs, waitNs }) {
  const couldNs = wallNs - waitNs;
  return couldNs > 0 ? Math.min(1, runNs / couldNs) : null;
}

/**
 * The driver is checked first: if both are full, a faster server alone would change nothing.
 * @param {number | null} client
 * @param {number | null} server its busiest thread; null: there is none
 * @returns {OccupancyVerdict | null} two names: between full and not; null: unknown
 */
export function verdictOfOccupancy(client, server) {
  if (client === null) return null;
  if (client > FULL) return 'driver';
  if ((server ?? 0) > FULL) return 'server';
  if (client >= NEARLY_FULL && client >= (server ?? 0)) return 'driver/latency';
  return (server ?? 0) >= NEARLY_FULL ? 'server/latency' : 'latency';
}
