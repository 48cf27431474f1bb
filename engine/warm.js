/**
 * Ends a warm-up by work and by time, with the same rule for all, and not before the curve is level
 * within its own noise. Pure.
 */

const OPERATIONS_MIN = 5000;
const NS_MIN = 300e6;
const NS_MAX = 2e9;
/** Minimum points in each half of the last two quarters. */
const POINTS_MIN = 8;

/**
 * @param {readonly number[]} costs ns per operation of each part of the warm-up, in order
 * @param {number} operations so far
 * @param {number} spentNs so far
 * @param {number} [mostNs] limit of a run with too many contenders for two seconds each
 * @returns {boolean}
 */
export function isWarm(costs, operations, spentNs, mostNs = NS_MAX) {
  if (spentNs >= mostNs) return true;
  if (operations < OPERATIONS_MIN || spentNs < NS_MIN || costs.length < POINTS_MIN) return false;
  const quarter = costs.length >> 2;
  const logs = costs.slice(-2 * quarter).map(Math.log);
  const first = momentsOf(logs.slice(0, quarter));
  const last = momentsOf(logs.slice(quarter));
  const error = Math.sqrt((first.variance + last.variance) / quarter);
  return first.mean - last.mean <= error;
}

/** @param {readonly number[]} values */
function momentsOf(values) {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return { mean, variance: squares / Math.max(1, values.length - 1) };
}
