/**
 * Autocorrelation of a series: whether a value depends on the one before it. Rounds that do are
 * fewer than they look, and their interval is too narrow.
 *
 * Goals: NIST's definition, to all digits. Non-goals: correcting an interval for it.
 */

import { mean } from 'simple-statistics';
import { usageError } from '../errors.js';
import { requireFinite } from './interval.js';

/**
 * r(k) = Σ (x[i] - m)(x[i + k] - m) / Σ (x[i] - m)², with the mean m of the whole series
 * (NIST/SEMATECH e-Handbook 1.3.5.12).
 * @param {readonly number[]} values in the order of time
 * @param {number} [lag] 1 if absent
 * @returns {number | null} -1 to 1; null where nothing varies, or lag + 1 values are not there
 * @throws {import('../errors.js').DragstripError} E_USAGE for a value that is not finite
 */
export function autocorrelation(values, lag = 1) {
  if (!Number.isInteger(lag) || lag < 1) {
    throw usageError(`autocorrelation: lag must be a whole number from 1, it is ${lag}`);
  }
  requireFinite(values, 'autocorrelation');
  if (values.length <= lag) return null;
  const centre = mean([...values]);
  let products = 0;
  let squares = 0;
  for (let i = 0; i < values.length; i += 1) {
    const deviation = values[i] - centre;
    squares += deviation * deviation;
    if (i + lag < values.length) products += deviation * (values[i + lag] - centre);
  }
  return squares === 0 ? null : products / squares;
}
