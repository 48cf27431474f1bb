/**
 * The regularised incomplete beta function, its continued fraction and the tail of Fisher's F.
 *
 * Goals: exact to about 1e-12 for parameters up to some thousand. Non-goals: quantiles; Student's t
 * (student.js), which is exact for any degrees of freedom.
 */

import { usageError } from '../lib/errors.js';

/** Lower bound for the factors of the continued fraction, to avoid division by zero. */
const TINY = 1e-300;
const STEPS_MAX = 100_000;
/** Lanczos' coefficients for g = 7 and nine terms (P. Godfrey): 15 digits. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

/**
 * @param {number} x above 0
 * @returns {number} ln Γ(x)
 */
export function logGamma(x) {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const z = x - 1;
  let sum = LANCZOS[0];
  for (let i = 1; i < LANCZOS.length; i += 1) sum += LANCZOS[i] / (z + i);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/**
 * I_x(a, b) by its continued fraction, from the side on which it converges fast.
 * @param {number} x 0 to 1
 * @param {number} a above 0
 * @param {number} b above 0
 * @returns {number} 0 to 1
 */
export function regularizedBeta(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - regularizedBeta(1 - x, b, a);
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  );
  return (front * betaFraction(a, b, x)) / a;
}

/**
 * The continued fraction of the incomplete beta function, DLMF 8.17.22, by Lentz' method.
 * @param {number} a
 * @param {number} b
 * @param {number} x below (a + 1) / (a + b + 2), where it converges fast
 * @returns {number}
 */
export function betaFraction(a, b, x) {
  let c = 1;
  let d = 1 / lifted(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= STEPS_MAX; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / lifted(1 + even * d);
    c = lifted(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / lifted(1 + odd * d);
    c = lifted(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < 2 ** -51) break;
  }
  return value;
}

/** @param {number} value */
function lifted(value) {
  return Math.abs(value) < TINY ? TINY : value;
}

/**
 * Probability that a variable of Fisher's F distribution lies above `f` (Abramowitz and Stegun
 * 26.6.2).
 * @param {number} f
 * @param {number} df1 of the numerator, above 0
 * @param {number} df2 of the denominator, above 0
 * @returns {number} 0 to 1
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for degrees of freedom not above 0
 */
export function fTail(f, df1, df2) {
  if (!(df1 > 0 && df2 > 0)) throw usageError(`fTail: degrees of freedom ${df1}, ${df2}`);
  if (f <= 0) return 1;
  return regularizedBeta(df2 / (df2 + df1 * f), df2 / 2, df1 / 2);
}
