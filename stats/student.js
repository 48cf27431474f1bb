/**
 * Student's t distribution: tail and quantile, accurate to about 1e-13, for any degrees of freedom
 * of 1 or more, including fractional ones (Welch).
 *
 * Goal: no tables, and no approximation that is accurate only at the usual levels. Non-goal: the
 * general incomplete beta function (beta.js); with its second parameter 1/2 the factor in front of
 * the continued fraction is known to more digits.
 */

import { usageError } from '../lib/errors.js';
import { betaFraction } from './beta.js';

const EPSILON = 2 ** -53;
const NEWTON_STEPS_MAX = 200;

/**
 * ln(Γ(a + 1/2) / Γ(a)). The asymptotic series of the ratio (DLMF 5.11.13, as its logarithm) is
 * accurate to 1e-16 from a = 30 on; smaller a are raised by Γ(a + 1) = a Γ(a). This avoids
 * subtracting two large logarithms of Γ, which would lose digits at large a.
 * @param {number} a above 0
 * @returns {number}
 */
function logHalfStep(a) {
  let lift = 0;
  let x = a;
  while (x < 30) {
    lift += Math.log1p(0.5 / x);
    x += 1;
  }
  const square = 1 / (x * x);
  const series = (-1 / 8 + square * (1 / 192 + square * (-1 / 640 + square * (17 / 14336)))) / x;
  return 0.5 * Math.log(x) + series - lift;
}

/**
 * @param {number} df
 * @param {string} where name of the caller, for the message
 */
function requireFreedom(df, where) {
  if (!(df > 0) || !Number.isFinite(df)) {
    throw usageError(`${where}: degrees of freedom must be above 0, they are ${df}`);
  }
}

/**
 * Probability that a Student t variable lies above `t`: half of I_x(df/2, 1/2) at
 * x = df / (df + t²) for t ≥ 0 (Abramowitz and Stegun 26.7.1 with 26.5.27).
 * @param {number} t any number, including infinity
 * @param {number} df degrees of freedom, above 0
 * @returns {number} 0 to 1
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if df is not above 0
 */
export function studentTail(t, df) {
  requireFreedom(df, 'studentTail');
  if (Number.isNaN(t)) throw usageError('studentTail: t is not a number');
  if (t < 0) return 1 - studentTail(-t, df);
  if (t === Infinity) return 0;
  if (t === 0) return 0.5;
  const a = df / 2;
  // x and its complement are both computed from t, so that neither loses digits near 1.
  const square = t * t;
  const x = df / (df + square);
  const complement = square / (df + square);
  const logFront =
    logHalfStep(a) -
    0.5 * Math.log(Math.PI) -
    a * Math.log1p(square / df) +
    0.5 * Math.log(complement);
  const front = Math.exp(logFront);
  if (x < (a + 1) / (a + 2.5)) return (0.5 * front * betaFraction(a, 0.5, x)) / a;
  return 0.5 - front * betaFraction(0.5, a, complement);
}

/**
 * @param {number} t
 * @param {number} df
 * @returns {number} the density of Student's t at t
 */
function studentDensity(t, df) {
  const log = logHalfStep(df / 2) - 0.5 * Math.log(df * Math.PI);
  return Math.exp(log - ((df + 1) / 2) * Math.log1p((t * t) / df));
}

/**
 * The value that a Student t variable stays below with probability `p`. Newton's method on the
 * logarithm of the tail within a bracket, so that far tails converge as well as near ones.
 * @param {number} p above 0 and below 1
 * @param {number} df degrees of freedom, above 0
 * @returns {number} relative error about 1e-13
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if p or df is out of range
 */
export function studentQuantile(p, df) {
  requireFreedom(df, 'studentQuantile');
  if (!(p > 0 && p < 1)) {
    throw usageError(`studentQuantile: p must be above 0 and below 1, it is ${p}`);
  }
  if (p === 0.5) return 0;
  if (p < 0.5) return -quantileOfTail(p, df);
  return quantileOfTail(1 - p, df);
}

/**
 * @param {number} tail probability above the value, below 1/2
 * @param {number} df
 * @returns {number} above 0
 */
function quantileOfTail(tail, df) {
  let low = 0;
  let high = 1;
  while (studentTail(high, df) > tail) {
    low = high;
    high *= 2;
  }
  let t = (low + high) / 2;
  for (let step = 0; step < NEWTON_STEPS_MAX; step += 1) {
    const above = studentTail(t, df);
    if (above > tail) low = t;
    else high = t;
    const next = t + (above * Math.log(above / tail)) / studentDensity(t, df);
    const kept = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(kept - t) <= 2 * EPSILON * t) return kept;
    t = kept;
  }
  return t;
}
