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
const OUTLIER_LIMIT = 14.826;

/**
 * Finds values with |x - median| / MAD > 14.826. A MAD of zero means that more than half of the
 * values are equal; every other value is then an outlier.
 * @param {readonly number[]} values
 * @returns {number[]} their indices, ascending
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a value that is not finite
 */
export function findOutliers(values) {
  requireFinite(values, 'findOutliers');
  if (values.length === 0) return [];
  const copy = [...values];
  const centre = median(copy);
  const limit = OUTLIER_LIMIT * medianAbsoluteDeviation(copy);
  const indexes = [];
  for (const [index, value] of values.entries()) {
    // A product, so that 0/0 (a value at the median of equal values) is not an outlier.
    if (Math.abs(value - centre) > limit) indexes.push(index);
  }
  return indexes;
}
