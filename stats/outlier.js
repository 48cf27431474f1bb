/**
 * Outliers among rounds: they warn. Nothing is ever deleted because of them.
 *
 * Goals: a rule that a few bad rounds cannot hide from, as they can from one of mean and standard
 * deviation. Non-goals: deciding which values count; all of them do.
 */

import { median, medianAbsoluteDeviation } from 'simple-statistics';
import { requireFinite } from './interval.js';

/**
 * |x - median| / MAD beyond which a value is called an outlier: ten robust standard deviations,
 * since 1.4826 MAD estimates one for normal values. The rule is that of hyperfine.
 */
export const OUTLIER_LIMIT = 14.826;

/**
 * @typedef {object} Outliers
 * @property {number} count
 * @property {number[]} indexes of the outliers in `values`, in their order
 * @property {number | null} median null without values
 * @property {number | null} mad median absolute deviation; null without values
 */

/**
 * Finds values with |x - median| / MAD > 14.826. A MAD of zero means that more than half of the
 * values are equal; then every other value is infinitely many MADs away, so an outlier.
 * @param {readonly number[]} values
 * @param {{ limit?: number }} [options]
 * @returns {Outliers}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for a value that is not finite
 */
export function findOutliers(values, { limit = OUTLIER_LIMIT } = {}) {
  requireFinite(values, 'findOutliers');
  if (values.length === 0) return { count: 0, indexes: [], median: null, mad: null };
  const copy = [...values];
  const centre = median(copy);
  const mad = medianAbsoluteDeviation(copy);
  const indexes = [];
  for (const [index, value] of values.entries()) {
    // Written as a product, so that 0/0 (a value at the median of equal values) is no outlier.
    if (Math.abs(value - centre) > limit * mad) indexes.push(index);
  }
  return { count: indexes.length, indexes, median: centre, mad };
}
