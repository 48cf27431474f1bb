/**
 * The Universal Scalability Law: throughput over concurrency, with what is lost to waiting in line
 * (α) and to keeping one another consistent (β).
 *
 * Goals: parameters by least squares on the throughputs themselves, and the peak they foretell.
 * Non-goals: proof that the law holds; a peak beyond what was measured is marked as extrapolated.
 *
 * Source: N. J. Gunther, Guerrilla Capacity Planning (2007), chapter 5.
 */

import { mean } from 'simple-statistics';
import { usageError } from '../errors.js';

/** Different levels that a fit of three parameters must have. */
export const LEVELS_MIN = 6;
const STEPS_MAX = 1000;
const STEP_TOLERANCE = 1e-13;

/** @typedef {{ n: number, throughput: number }} Level */
/** @typedef {[alpha: number, beta: number, gamma: number]} Parameters */

/**
 * @typedef {object} Scalability
 * @property {number | null} alpha contention, 0 or more
 * @property {number | null} beta coherence, 0 or more
 * @property {number | null} gamma throughput of one
 * @property {(Level & { extrapolated: boolean }) | null} peak null where throughput never falls
 * @property {number | null} rSquared share of the variance that the law explains
 * @property {number} levels how many different levels there were
 * @property {'least-squares' | 'none'} method `none`: fewer than six levels
 */

/**
 * X(N) = γN / (1 + α(N - 1) + βN(N - 1)).
 * @param {Parameters} parameters
 * @param {number} n
 * @returns {number}
 */
function throughputAt([alpha, beta, gamma], n) {
  return (gamma * n) / (1 + alpha * (n - 1) + beta * n * (n - 1));
}

/**
 * Least squares by Levenberg and Marquardt. α and β below 0 mean nothing, so where the free fit
 * has one, the best fit with one or both of them at 0 is taken: all four are tried.
 * @param {readonly Level[]} levels n: how many at once (above 0); throughput: what came of it
 * @returns {Scalability}
 * @throws {import('../errors.js').DragstripError} E_USAGE for a number that is not above 0
 */
export function fitScalability(levels) {
  for (const { n, throughput } of levels) {
    if (!(n > 0 && throughput > 0 && Number.isFinite(n * throughput))) {
      throw usageError(`fitScalability: not above 0: n ${n}, throughput ${throughput}`);
    }
  }
  const count = new Set(levels.map(({ n }) => n)).size;
  if (count < LEVELS_MIN) {
    const none = { alpha: null, beta: null, gamma: null, peak: null, rSquared: null };
    return { ...none, levels: count, method: 'none' };
  }
  const fits = [[0, 1, 2], [0, 2], [1, 2], [2]]
    .map((free) => fitFree(levels, free))
    .filter(({ parameters: [alpha, beta] }) => alpha >= 0 && beta >= 0)
    .sort((first, second) => first.squares - second.squares);
  const { parameters, squares } = fits[0];
  const [alpha, beta, gamma] = parameters;
  const centre = mean(levels.map(({ throughput }) => throughput));
  const spread = levels.reduce((sum, { throughput }) => sum + (throughput - centre) ** 2, 0);
  return {
    alpha,
    beta,
    gamma,
    peak: peakOf(parameters, Math.max(...levels.map(({ n }) => n))),
    rSquared: spread === 0 ? null : 1 - squares / spread,
    levels: count,
    method: 'least-squares',
  };
}

/**
 * The peak is at √((1 - α) / β), or at 1 where contention alone eats every gain.
 * @param {Parameters} parameters
 * @param {number} measured the greatest level
 * @returns {(Level & { extrapolated: boolean }) | null}
 */
function peakOf(parameters, measured) {
  const [alpha, beta] = parameters;
  if (alpha < 1 && beta === 0) return null;
  const n = alpha >= 1 ? 1 : Math.max(1, Math.sqrt((1 - alpha) / beta));
  return { n, throughput: throughputAt(parameters, n), extrapolated: n > measured };
}

/**
 * @param {readonly Level[]} levels
 * @param {readonly number[]} free indexes of the parameters that are fitted; others are 0
 * @returns {{ parameters: Parameters, squares: number }}
 */
function fitFree(levels, free) {
  let parameters = startOf(levels, free);
  let squares = squaresOf(levels, parameters);
  let damping = 1e-3;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const change = changeOf(levels, parameters, free, damping);
    if (change === null) break;
    /** @type {Parameters} */
    const next = [...parameters];
    for (const [k, index] of free.entries()) next[index] += change[k];
    const nextSquares = squaresOf(levels, next);
    if (nextSquares <= squares) {
      const small = free.every(
        (index, k) => Math.abs(change[k]) <= STEP_TOLERANCE * Math.abs(next[index]),
      );
      parameters = next;
      squares = nextSquares;
      damping = Math.max(1e-12, damping / 10);
      if (small) break;
    } else {
      damping *= 10;
      if (damping > 1e16) break;
    }
  }
  return { parameters, squares };
}

/**
 * @param {readonly Level[]} levels
 * @param {readonly number[]} free
 * @returns {Parameters} of the right order of magnitude
 */
function startOf(levels, free) {
  const largest = Math.max(...levels.map(({ n }) => n));
  const gamma = Math.max(...levels.map(({ n, throughput }) => throughput / n));
  return [free.includes(0) ? 1 / largest : 0, free.includes(1) ? 1 / largest ** 2 : 0, gamma];
}

/**
 * @param {readonly Level[]} levels
 * @param {Parameters} parameters
 * @returns {number} sum of squares; infinite where a denominator is not above 0
 */
function squaresOf(levels, parameters) {
  let sum = 0;
  for (const { n, throughput } of levels) {
    const predicted = throughputAt(parameters, n);
    // A step of the free fit may cross the pole of the law; such a step is refused.
    if (!(predicted > 0 && Number.isFinite(predicted))) return Infinity;
    sum += (throughput - predicted) ** 2;
  }
  return sum;
}

/**
 * One damped step: (JᵀJ + λ diag JᵀJ) δ = Jᵀr (Marquardt, SIAM J. Appl. Math. 11, 1963).
 * @param {readonly Level[]} levels
 * @param {Parameters} parameters
 * @param {readonly number[]} free
 * @param {number} damping
 * @returns {number[] | null} change of the free parameters; null where nothing can be solved
 */
function changeOf(levels, parameters, free, damping) {
  const matrix = free.map(() => free.map(() => 0));
  const right = free.map(() => 0);
  for (const { n, throughput } of levels) {
    const predicted = throughputAt(parameters, n);
    const gamma = parameters[2];
    const share = predicted / (gamma * n);
    const whole = [-predicted * (n - 1) * share, -predicted * n * (n - 1) * share, share * n];
    const row = free.map((index) => whole[index]);
    for (const [i, value] of row.entries()) {
      right[i] += value * (throughput - predicted);
      for (const [j, other] of row.entries()) matrix[i][j] += value * other;
    }
  }
  for (let i = 0; i < free.length; i += 1) matrix[i][i] *= 1 + damping;
  return solve(matrix, right);
}

/**
 * Gauss' elimination of a symmetric, positive system of at most three unknowns; the diagonal of
 * such a system serves as pivot.
 * @param {number[][]} matrix is overwritten
 * @param {number[]} right is overwritten
 * @returns {number[] | null} null where it is singular
 */
function solve(matrix, right) {
  const size = right.length;
  for (let k = 0; k < size; k += 1) {
    if (!(Math.abs(matrix[k][k]) > 0)) return null;
    for (let i = k + 1; i < size; i += 1) {
      const factor = matrix[i][k] / matrix[k][k];
      for (let j = k; j < size; j += 1) matrix[i][j] -= factor * matrix[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (let k = size - 1; k >= 0; k -= 1) {
    for (let j = k + 1; j < size; j += 1) right[k] -= matrix[k][j] * right[j];
    right[k] /= matrix[k][k];
  }
  return right.every(Number.isFinite) ? right : null;
}
