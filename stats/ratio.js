/**
 * The ratio of A to B with its interval, from rounds.
 *
 * Goal: use pairing where available: rounds of one run share their drift, so the ratio within a
 * block varies less than that of two means. Non-goal: deciding whether a difference is real; the
 * verdict does that, taking the noise into account.
 */

import { mean, sampleStandardDeviation, sampleVariance } from 'simple-statistics';
import { usageError } from '../lib/errors.js';
import { CONFIDENCE, halfWidth, requireConfidence } from './interval.js';
import { studentQuantile, studentTail } from './student.js';
import { welchTest } from './welch.js';

/** @typedef {ReadonlyArray<number | null>} Rounds one value per round; null: did not run */

/**
 * @typedef {object} RatioInterval
 * @property {number | null} ratio of A to B, 1.05: A is 5 % greater; null if nothing is comparable
 * @property {number | null} low null without an interval
 * @property {number | null} high null without an interval
 * @property {number | null} p two-sided, of the t test that the interval belongs to
 * @property {number} n blocks with both values (paired), or rounds of the shorter side
 * @property {number | null} logDeviation standard deviation of one block's log ratio
 * @property {number} confidence
 * @property {'paired-log-t' | 'welch-log-t' | 'none'} method
 */

/**
 * @param {number} n
 * @param {number} confidence
 * @param {number | null} ratio
 * @returns {RatioInterval} without an interval
 */
function without(n, confidence, ratio) {
  return {
    ratio,
    low: null,
    high: null,
    p: null,
    n,
    logDeviation: null,
    confidence,
    method: 'none',
  };
}

/**
 * Ratio of A to B. Paired (rounds of one run): t interval of the log ratios per block; blocks in
 * which one side did not run are omitted, and `n` is the number of the others. Not paired (two
 * runs): Welch's interval of the difference of mean logs. Kalibera and Jones, "Quantifying
 * performance changes with effect size confidence intervals" (2012), argue for reporting ratios.
 * @param {Rounds} a values of A by round
 * @param {Rounds} b values of B by round; paired: equally many
 * @param {{ confidence?: number, paired?: boolean }} [options] paired: true by default
 * @returns {RatioInterval} method `none` below two blocks, or if a value is not above 0
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if paired lengths differ
 */
export function ratioInterval(a, b, { confidence = CONFIDENCE, paired = true } = {}) {
  requireConfidence(confidence);
  if (!paired) return welchRatio(present(a), present(b), confidence);
  if (a.length !== b.length) {
    throw usageError(`ratioInterval: A has ${a.length} rounds, B has ${b.length}`);
  }
  const blocks = a.flatMap((value, i) => {
    const other = b[i];
    return value === null || other === null ? [] : [{ value, other }];
  });
  const n = blocks.length;
  const positive = blocks.every(({ value, other }) => isPositive(value) && isPositive(other));
  if (n === 0 || !positive) return without(n, confidence, null);
  const logs = blocks.map(({ value, other }) => Math.log(value / other));
  const centre = mean(logs);
  if (n === 1) return without(n, confidence, Math.exp(centre));
  const deviation = sampleStandardDeviation(logs);
  const half = halfWidth(deviation, n, confidence);
  return {
    ratio: Math.exp(centre),
    low: Math.exp(centre - half),
    high: Math.exp(centre + half),
    p: pairedP(centre, deviation, n),
    n,
    logDeviation: deviation,
    confidence,
    method: 'paired-log-t',
  };
}

/**
 * @param {Rounds} rounds
 * @returns {number[]} those that ran
 */
export function present(rounds) {
  return rounds.filter((value) => value !== null);
}

/**
 * @param {number} value
 * @returns {boolean}
 */
function isPositive(value) {
  return Number.isFinite(value) && value > 0;
}

/**
 * @param {number} centre
 * @param {number} deviation
 * @param {number} n
 * @returns {number} two-sided p of a mean of zero
 */
function pairedP(centre, deviation, n) {
  // All blocks have the same ratio, as with a fake clock: there is no random error.
  if (deviation === 0) return centre === 0 ? 1 : 0;
  return 2 * studentTail(Math.abs(centre) / (deviation / Math.sqrt(n)), n - 1);
}

/**
 * @param {number[]} a
 * @param {number[]} b
 * @param {number} confidence
 * @returns {RatioInterval}
 */
function welchRatio(a, b, confidence) {
  const n = Math.min(a.length, b.length);
  if (n === 0 || !a.every(isPositive) || !b.every(isPositive)) return without(n, confidence, null);
  const [logsA, logsB] = [a.map(Math.log), b.map(Math.log)];
  const centre = mean(logsA) - mean(logsB);
  if (n === 1) return without(n, confidence, Math.exp(centre));
  const { df, p, standardError } = welchTest(logsA, logsB);
  const half = df === null ? 0 : studentQuantile((1 + confidence) / 2, df) * (standardError ?? 0);
  return {
    ratio: Math.exp(centre),
    low: Math.exp(centre - half),
    high: Math.exp(centre + half),
    p,
    n,
    logDeviation: Math.sqrt(sampleVariance(logsA) + sampleVariance(logsB)),
    confidence,
    method: 'welch-log-t',
  };
}
