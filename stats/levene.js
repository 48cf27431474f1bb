/**
 * Levene's test of equal variances with the medians as centres (M. B. Brown and A. B. Forsythe,
 * "Robust tests for the equality of variances", 1974), to decide whether variances can be pooled.
 */

import { mean, median } from 'simple-statistics';
import { fTail } from './distributions.js';

/**
 * @param {readonly (readonly number[])[]} groups two or more, of two values or more
 * @returns {number} p; 1 if all values are equal
 */
export function leveneTest(groups) {
  const distances = groups.map((values) => {
    const centre = median([...values]);
    return values.map((value) => Math.abs(value - centre));
  });
  const n = distances.reduce((sum, values) => sum + values.length, 0);
  const k = groups.length;
  const grand = mean(distances.flat());
  let between = 0;
  let within = 0;
  for (const values of distances) {
    const centre = mean(values);
    between += values.length * (centre - grand) ** 2;
    for (const value of values) within += (value - centre) ** 2;
  }
  if (within === 0) return between === 0 ? 1 : 0;
  return fTail(between / (k - 1) / (within / (n - k)), k - 1, n - k);
}
