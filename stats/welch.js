/**
 * Welch's t test: compares the means of two samples with possibly unequal variances.
 *
 * Goal: comparing runs without common blocks. For pairs see ratio.js.
 */

import { mean, sampleVariance } from 'simple-statistics';
import { studentTail } from './distributions.js';
import { requireFinite } from './interval.js';

/**
 * @typedef {object} WelchResult
 * @property {number | null} t null if a side has fewer than two values or no variance
 * @property {number | null} df degrees of freedom, fractional; null if t is
 * @property {number | null} p two-sided; 0 or 1 without variance; null without a test
 * @property {number | null} standardError standard error of the difference of means
 */

/**
 * B. L. Welch, "The generalization of Student's problem when several different population
 * variances are involved", Biometrika 34 (1947), with Satterthwaite's degrees of freedom.
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 * @returns {WelchResult}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a value that is not finite
 */
export function welchTest(a, b) {
  requireFinite(a, 'welchTest');
  requireFinite(b, 'welchTest');
  if (a.length < 2 || b.length < 2) {
    return { t: null, df: null, p: null, standardError: null };
  }
  const difference = mean([...a]) - mean([...b]);
  const shareA = sampleVariance([...a]) / a.length;
  const shareB = sampleVariance([...b]) / b.length;
  const square = shareA + shareB;
  if (square === 0) {
    return { t: null, df: null, p: difference === 0 ? 1 : 0, standardError: 0 };
  }
  // Relative to the sum, so that squares of tiny variances do not underflow.
  const [partA, partB] = [shareA / square, shareB / square];
  const df = 1 / (partA ** 2 / (a.length - 1) + partB ** 2 / (b.length - 1));
  const t = difference / Math.sqrt(square);
  return { t, df, p: 2 * studentTail(Math.abs(t), df), standardError: Math.sqrt(square) };
}
