/**
 * Student's t and Fisher's F by jstat, with the missing checks of arguments. Quantiles agree with
 * 30 digits of mpmath within 4e-8, tails within 2e-7 (test/fast/stats): an interval needs four
 * digits.
 *
 * Non-goal: the studentised range. jstat's quantile of it is off by 12 % at two degrees of freedom;
 * studentized-range.js integrates it.
 */

import { createRequire } from 'node:module';
import { usageError } from '../lib/errors.js';

// It has no types, and no ESM entry.
const { jStat } = createRequire(import.meta.url)('jstat');

/** All pairs of a table share few quantiles. @type {Map<string, number>} */
const quantiles = new Map();

/** @type {(x: number) => number} ln Γ(x) for x above 0 */
export const logGamma = jStat.gammaln;

/** @type {(z: number) => number} Φ(z), within 1e-15 */
export const normalShare = (z) => jStat.normal.cdf(z, 0, 1);

/**
 * Probability that a Student t variable lies above `t` (Abramowitz and Stegun 26.7.1 with 26.5.27).
 * @param {number} t any number, including infinity
 * @param {number} df degrees of freedom, above 0, also fractional (Welch)
 * @returns {number} 0 to 1
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if df is not above 0
 */
export function studentTail(t, df) {
  requireFreedom('studentTail', df);
  if (Number.isNaN(t)) throw usageError('studentTail: t is not a number');
  const tail = jStat.ibeta(df / (df + t * t), df / 2, 0.5) / 2;
  return t < 0 ? 1 - tail : tail;
}

/**
 * @param {number} p above 0 and below 1
 * @param {number} df degrees of freedom, above 0
 * @returns {number} the value that a Student t variable stays below with probability p
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if p or df is out of range
 */
export function studentQuantile(p, df) {
  requireFreedom('studentQuantile', df);
  if (!(p > 0 && p < 1)) {
    throw usageError(`studentQuantile: p must be above 0 and below 1, not ${p}`);
  }
  const key = `${p} ${df}`;
  const value = quantiles.get(key) ?? (p === 0.5 ? 0 : jStat.studentt.inv(p, df));
  quantiles.set(key, value);
  return value;
}

/**
 * Probability that a variable of Fisher's F distribution lies above `f` (Abramowitz and Stegun
 * 26.6.2).
 * @param {number} f
 * @param {number} df1 degrees of freedom of the numerator, above 0
 * @param {number} df2 degrees of freedom of the denominator, above 0
 * @returns {number} 0 to 1
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: degrees of freedom not above 0
 */
export function fTail(f, df1, df2) {
  requireFreedom('fTail', df1, df2);
  return f <= 0 ? 1 : jStat.ibeta(df2 / (df2 + df1 * f), df2 / 2, df1 / 2);
}

/**
 * @param {string} where name of the caller, for the message
 * @param {...number} all
 */
function requireFreedom(where, ...all) {
  if (all.every((df) => df > 0 && Number.isFinite(df))) return;
  throw usageError(`${where}: degrees of freedom must be above 0, not ${all.join(', ')}`);
}
