/**
 * Outliers among rounds. They cause a warning; no round is ever excluded.
 *
 * Goal: a rule that a few bad rounds cannot mask, unlike one based on mean and standard deviation.
 */

import { median, medianAbsoluteDeviation } from 'simple-statistics';
import { requireFinite } from './interval.js';

/**
 * |x - median| / MAD above which a value is an outlier: ten robust standard deviations, because
 * 1.4826 MAD estimates one for normal values. hyperfine uses the same rule.
 */
export const OUTLIER_LIMIT = 14.826;

/**
 * @typedef {object} Outliers
 * @property {number} count
 * @property {number[]} indexes of the outliers in `values`, ascending
 * @property {number | null} median null without values
 * @property {number | null} mad median absolute deviation; null without values
 */

/**
 * Finds values with |x - median| / MAD > 14.826. A MAD of zero means that more than half of the
 * values are equal; every other value is then an outlier.
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
    // A product, so that 0/0 (a value at the median of equal values) is not an outlier.
    if (Math.abs(value - centre) > limit * mad) indexes.push(index);
  }
  return { count: indexes.length, indexes, median: centre, mad };
}
