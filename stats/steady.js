/**
 * Whether and when the throughput of a warm-up reached a steady state.
 *
 * Goal: the same rule for all storages, stated in the result. Non-goal: ending the warm-up; its
 * length is a number of operations, and the check runs afterwards.
 */

import { coefficientOfVariation } from 'simple-statistics';
import { requireFinite } from './interval.js';

/** Number of windows considered together, and the maximum variation of a steady state. */
export const STEADY_WINDOWS = 10;
export const STEADY_LIMIT = 0.02;

/**
 * @typedef {object} SteadyState
 * @property {boolean} steady whether the last windows are steady
 * @property {number | null} reachedAt windows after which the state was first steady, at
 *   least 10; null: never. May be set although `steady` is false, if the state changed later
 * @property {number | null} variation coefficient of variation of the last windows, 0.02 is 2 %;
 *   null if there are too few windows, or their mean is zero
 */

/**
 * Standard deviation over mean of the last 10 windows at most 2 %. The method is that of A.
 * Georges, D. Buytaert and L. Eeckhout, "Statistically rigorous Java performance evaluation"
 * (2007), 3.3.
 * @param {readonly number[]} throughputs of windows of equal size, in chronological order
 * @param {{ windows?: number, limit?: number }} [options]
 * @returns {SteadyState}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for a value that is not finite
 */
export function steadyState(throughputs, options = {}) {
  const { windows = STEADY_WINDOWS, limit = STEADY_LIMIT } = options;
  requireFinite(throughputs, 'steadyState');
  let reachedAt = null;
  /** @type {number | null} */
  let variation = null;
  for (let end = windows; end <= throughputs.length; end += 1) {
    variation = variationOf(throughputs.slice(end - windows, end));
    if (reachedAt === null && variation !== null && variation <= limit) reachedAt = end;
  }
  return { steady: variation !== null && variation <= limit, reachedAt, variation };
}

/**
 * @param {number[]} values
 * @returns {number | null}
 */
function variationOf(values) {
  const variation = coefficientOfVariation(values);
  return Number.isFinite(variation) ? Math.abs(variation) : null;
}
