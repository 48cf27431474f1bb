/**
 * Percentiles of a list of values, and the rule for printing them.
 *
 * Goal: the nearest-rank definition, as in histograms: a percentile is a value that occurred.
 * Non-goals: interpolation, and histograms (measure/).
 */

import { usageError } from '../lib/errors.js';

/** Number of values above a percentile required to print it. */
export const BEYOND_MIN = 10;

/** Tolerance for products such as 100,000 × (1 - 0.9999), which round to just below 10. */
const SLACK = 1e-9;

/**
 * @param {number} q
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if q is not from 0 to 1
 */
function requireShare(q) {
  if (!(q >= 0 && q <= 1)) throw usageError(`a percentile is a share from 0 to 1, not ${q}`);
}

/**
 * Whether n values are enough to print percentile q: n · (1 - q) ≥ 10.
 * @param {number} n number of values
 * @param {number} q a share, 0.99 for p99
 * @returns {boolean}
 */
export function isPrintable(n, q) {
  requireShare(q);
  return n * (1 - q) >= BEYOND_MIN * (1 - SLACK);
}

/**
 * The smallest value that at least the share q of all values does not exceed (nearest rank;
 * type 1 of Hyndman and Fan, The American Statistician 50, 1996).
 * @param {ArrayLike<number>} sorted ascending
 * @param {number} q a share, 0.99 for p99
 * @returns {number | null} null without values
 */
export function percentile(sorted, q) {
  requireShare(q);
  if (sorted.length === 0) return null;
  const rank = Math.ceil(sorted.length * q * (1 - 2 ** -50));
  return sorted[Math.max(1, rank) - 1];
}

/**
 * The conventional median: the middle value, or the mean of the two middle values. In contrast,
 * percentile(sorted, 0.5) is always a value that occurred, the lower of the two.
 * @param {ArrayLike<number>} sorted ascending
 * @returns {number | null} null without values
 */
export function medianOfSorted(sorted) {
  if (sorted.length === 0) return null;
  const half = sorted.length >>> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/**
 * @param {readonly number[]} values in any order
 * @returns {number | null} the middle value, the upper of two; null without values
 */
export function upperMedian(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? null;
}

/**
 * @param {ArrayLike<number>} sorted ascending
 * @param {number} q
 * @returns {number | null} null if it must not be printed
 */
export function printablePercentile(sorted, q) {
  return isPrintable(sorted.length, q) ? percentile(sorted, q) : null;
}
