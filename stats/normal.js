/**
 * The tail of the standard normal distribution, for large-sample tests.
 *
 * Goal: full precision, also far from zero. Non-goal: its quantile; intervals here are Student's.
 */

import { usageError } from '../lib/errors.js';

/** Above this value the continued fraction is faster and precise; below it the series is. */
const FRACTION_FROM = 3;
const SERIES_STEPS_MAX = 200;
const FRACTION_STEPS = 200;

/**
 * Probability that a standard normal variable lies above `z`. Near zero by the series
 * φ(z)(z + z³/3 + z⁵/15 + …) (Abramowitz and Stegun 26.2.11), far from zero by the continued
 * fraction φ(z) / (z + 1/(z + 2/(z + …))) (26.2.14).
 * @param {number} z any number, including infinity
 * @returns {number} 0 to 1
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if z is NaN
 */
export function normalTail(z) {
  if (Number.isNaN(z)) throw usageError('normalTail: z is not a number');
  if (z < 0) return 1 - normalTail(-z);
  if (z === Infinity) return 0;
  const density = Math.exp(-(z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z >= FRACTION_FROM) {
    let fraction = z;
    for (let k = FRACTION_STEPS; k >= 1; k -= 1) fraction = z + k / fraction;
    return density / fraction;
  }
  let term = z;
  let sum = z;
  for (let k = 1; k <= SERIES_STEPS_MAX && term > sum * 2 ** -54; k += 1) {
    term *= (z * z) / (2 * k + 1);
    sum += term;
  }
  return 0.5 - density * sum;
}
