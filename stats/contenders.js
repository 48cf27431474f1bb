/**
 * Compares contenders of one run by the means of their processes: estimates, the pooled variance,
 * intervals of ratios, simultaneous for all pairs.
 *
 * Goals: intervals with their nominal coverage with few processes: Student over processes. A
 * bootstrap over blocks covers 82 % if processes differ by 3 %, and 50 % at 8 %. Non-goals:
 * verdicts and ranks: separation.js.
 */

import { mean, sampleStandardDeviation } from 'simple-statistics';
import { usageError } from '../lib/errors.js';
import { studentQuantile } from './distributions.js';
import { CONFIDENCE, studentHalf } from './interval.js';
import { leveneTest } from './levene.js';
import { studentizedRangeQuantile } from './studentized-range.js';

/**
 * Below this p of Levene's test the variances are not pooled. With six rounds the test has
 * little power: at 0.05 the intervals of a contender five times as noisy as ten others cover 89 %,
 * at 0.2 92 % (simulated, `bench/coverage.js`).
 */
const LEVENE_MIN = 0.2;
/** Minimum number, and at least half, of the contenders with a common variance. */
const POOL_MIN = 3;
/** Distances below this are rounding errors of equal values. */
const ROUNDING = 1e-12;

/**
 * @typedef {object} Difference difference of two contenders, in logs
 * @property {number} value estimate of the first minus that of the second
 * @property {number} half half-width of its own interval
 * @property {number} halfOfAll half-width that holds simultaneously for all pairs
 */

/**
 * @typedef {object} Contest
 * @property {number} k number of contenders
 * @property {number} rounds processes per contender
 * @property {number[]} estimates means over processes
 * @property {number[]} halfAlone half-widths of the individual estimates; infinite: one round
 * @property {number} variance pooled residual variance of a process
 * @property {number} degreesOfFreedom degrees of freedom of the pooled variance
 * @property {number | null} leveneP p value over all contenders; null: one contender, or two rounds
 * @property {readonly number[]} pool contenders that share the variance; empty: each has its own
 * @property {number} confidence
 * @property {readonly (readonly number[])[]} means
 */

/**
 * @param {readonly (readonly number[])[]} means means of processes, by contender and round;
 *   complete
 * @param {{ confidence?: number, pooled?: boolean }} [options] pooled: false for processes with few
 *   segments, in which a stall of one would widen the intervals of all others
 * @returns {Contest}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a mean is missing
 */
export function contest(means, { confidence = CONFIDENCE, pooled = true } = {}) {
  const k = means.length;
  const rounds = means[0]?.length ?? 0;
  const complete = means.every((row) => row.length === rounds && row.every(Number.isFinite));
  if (k === 0 || rounds === 0 || !complete) throw usageError('contest: means are missing');
  const estimates = means.map((row) => mean([...row]));
  const halfAlone = means.map((row) => studentHalf(row, confidence));
  const full = tableOf(means, [...means.keys()]);
  const { leveneP } = full;
  const { members, ...table } = (pooled ? poolOf(means) : null) ?? { ...full, members: [] };
  const { variance, degreesOfFreedom } = table;
  const shared = { k, rounds, estimates, halfAlone, confidence, means };
  return { ...shared, variance, degreesOfFreedom, leveneP, pool: members };
}

/**
 * Contenders among which Levene's test finds no difference of variances. One whose processes differ
 * much more than those of the others would widen all narrow intervals, so the most variable is
 * excluded until the test accepts the rest.
 * @param {readonly (readonly number[])[]} means
 * @returns {(Table & { members: number[] }) | null} null: less than half of them agree
 */
function poolOf(means) {
  let members = [...means.keys()];
  while (members.length >= POOL_MIN && members.length >= means.length / 2) {
    const table = tableOf(means, members);
    if (table.leveneP === null) return null;
    if (table.leveneP >= LEVENE_MIN) return { ...table, members };
    const squares = table.residuals.map((row) => row.reduce((sum, x) => sum + x * x, 0));
    const out = members[squares.indexOf(Math.max(...squares))];
    members = members.filter((i) => i !== out);
  }
  return null;
}

/**
 * @typedef {object} Table contenders by rounds, with both effects removed
 * @property {number[][]} residuals
 * @property {number} variance
 * @property {number} degreesOfFreedom
 * @property {number | null} leveneP
 */

/**
 * @param {readonly (readonly number[])[]} means
 * @param {readonly number[]} members
 * @returns {Table}
 */
function tableOf(means, members) {
  const rows = members.map((i) => means[i]);
  const residuals = residualsOf(rows);
  const [k, rounds] = [rows.length, rows[0].length];
  const degreesOfFreedom = (k - 1) * (rounds - 1);
  const squares = residuals.flat().reduce((sum, value) => sum + value * value, 0);
  return {
    residuals,
    degreesOfFreedom,
    variance: degreesOfFreedom === 0 ? 0 : squares / degreesOfFreedom,
    leveneP: k > 1 && rounds > 2 ? leveneTest(residuals) : null,
  };
}

/**
 * Residuals of the two-way table: the part explained neither by the contender nor by the round.
 * @param {readonly (readonly number[])[]} means
 * @returns {number[][]}
 */
function residualsOf(means) {
  const estimates = means.map((row) => mean([...row]));
  const grand = mean([...estimates]);
  const ofRounds = means[0].map((_, round) => mean(means.map((row) => row[round])));
  return means.map((row, i) =>
    row.map((value, round) => {
      const residual = value - estimates[i] - ofRounds[round] + grand;
      return Math.abs(residual) < ROUNDING ? 0 : residual;
    }),
  );
}

/**
 * @param {Contest} contest
 * @param {number} i
 * @param {number} j
 * @returns {number} standard error of the difference by the pair's own rounds
 */
function ownError({ means, rounds }, i, j) {
  const differences = means[i].map((value, round) => value - means[j][round]);
  return sampleStandardDeviation(differences) / Math.sqrt(rounds);
}

/**
 * Variance of two contenders: pooled, with its (m − 1)(R − 1) degrees of freedom; otherwise that of
 * the pair's own differences with R − 1.
 * @param {Contest} contest
 * @param {number} i
 * @param {number} j
 * @returns {{ error: number, df: number, pooled: boolean }} standard error of the difference
 */
function errorOf(contest, i, j) {
  const { rounds, variance, degreesOfFreedom, pool } = contest;
  return pool.includes(i) && pool.includes(j)
    ? { error: Math.sqrt((2 * variance) / rounds), df: degreesOfFreedom, pooled: true }
    : { error: ownError(contest, i, j), df: rounds - 1, pooled: false };
}

/**
 * @param {Contest} contest
 * @param {number} i
 * @param {number} j
 * @returns {Difference} difference of contender i to contender j
 */
export function differenceOf(contest, i, j) {
  const { estimates, confidence, rounds } = contest;
  const value = estimates[i] - estimates[j];
  if (rounds < 2) return { value, half: Infinity, halfOfAll: Infinity };
  const { error, df, pooled } = errorOf(contest, i, j);
  return {
    value,
    half: studentQuantile((1 + confidence) / 2, df) * error,
    halfOfAll: quantileOfAll(contest, df, pooled) * error,
  };
}

/**
 * Standard errors that bound the differences of all pairs simultaneously. The studentised range
 * assumes one variance for all; if pairs have their own variances it finds false pairs in 12 to 14
 * % of simulated races at a nominal 5 %, so Student's t at Šidák's level (1967) is used there.
 * @param {Contest} contest
 * @param {number} df
 * @param {boolean} pooled
 */
function quantileOfAll({ k, confidence }, df, pooled) {
  if (pooled) return studentizedRangeQuantile(confidence, k, df) / Math.SQRT2;
  const level = confidence ** (2 / Math.max(2, k * (k - 1)));
  return studentQuantile((1 + level) / 2, df);
}
