/**
 * Intervals of a mean and of a median over rounds. The unit is the round, never the operation.
 *
 * Goal: state how certain a value is, or that this is unknown: one round gives no interval, and
 * five give none for a median. Non-goals: bootstrap (below 30 values its nominal 95 % covers 83 %),
 * and intervals of percentiles over single operations, which are not independent.
 */

import { mean, median, sampleStandardDeviation } from 'simple-statistics';
import { usageError } from '../lib/errors.js';
import { studentQuantile } from './student.js';

/** Default confidence of intervals. */
export const CONFIDENCE = 0.95;

/**
 * @typedef {object} MeanInterval
 * @property {number | null} mean centre: the geometric mean for `t-log`, the arithmetic for `t`;
 *   null without values
 * @property {number | null} low lower end; null without an interval
 * @property {number | null} high upper end; null without an interval
 * @property {number | null} relativeHalfWidth (high - low) / 2 / mean: 0.021 is "± 2.1 %"
 * @property {number} n number of values
 * @property {number} confidence nominal, 0.95 for 95 %
 * @property {'t-log' | 't' | 'none'} method `t-log`: Student t on logs; `t`: Student t on the
 *   values, if one of them is not above 0; `none`: fewer than two values
 */

/**
 * @typedef {object} MedianInterval
 * @property {number | null} median null without values
 * @property {number | null} low null without an interval
 * @property {number | null} high null without an interval
 * @property {number} n
 * @property {number} confidence nominal
 * @property {number | null} coverage actual coverage, at least the nominal
 * @property {'order-statistics' | 'none'} method
 */

/**
 * @param {readonly number[]} values
 * @param {string} where name of the caller, for the message
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if a value is not finite
 */
export function requireFinite(values, where) {
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw usageError(`${where}: value ${bad} is not a finite number: ${values[bad]}`);
}

/**
 * @param {number} confidence
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if it is not between 0 and 1
 */
export function requireConfidence(confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw usageError(`confidence must be above 0 and below 1, it is ${confidence}`);
  }
}

/**
 * Interval of the mean of rounds: mean ± t(n - 1) · s / √n on logarithms, transformed back.
 * Logarithms are used because throughput and latency vary by factors: the ends are then never below
 * zero, and the intervals of A and B are consistent with that of A/B. Student, "The probable error
 * of a mean", Biometrika 6 (1908).
 * @param {readonly number[]} values one per round
 * @param {{ confidence?: number, scale?: 'log' | 'linear' }} [options]
 * @returns {MeanInterval}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for a value that is not finite
 */
export function meanInterval(values, { confidence = CONFIDENCE, scale = 'log' } = {}) {
  requireConfidence(confidence);
  requireFinite(values, 'meanInterval');
  const n = values.length;
  const onLogs = scale === 'log' && values.every((value) => value > 0);
  /** @type {MeanInterval} */
  const none = {
    mean: null,
    low: null,
    high: null,
    relativeHalfWidth: null,
    n,
    confidence,
    method: 'none',
  };
  if (n === 0) return none;
  const carried = onLogs ? values.map(Math.log) : [...values];
  const back = onLogs ? Math.exp : (/** @type {number} */ x) => x;
  const centre = mean(carried);
  if (n === 1) return { ...none, mean: values[0] };
  const half = halfWidth(sampleStandardDeviation(carried), n, confidence);
  const [value, low, high] = [back(centre), back(centre - half), back(centre + half)];
  return {
    ...none,
    mean: value,
    low,
    high,
    relativeHalfWidth: value === 0 ? null : (high - low) / 2 / Math.abs(value),
    method: onLogs ? 't-log' : 't',
  };
}

/**
 * @param {number} deviation of a single value
 * @param {number} n number of values, at least two
 * @param {number} confidence
 * @returns {number} half the width of Student's interval of their mean
 */
export function halfWidth(deviation, n, confidence) {
  return (studentQuantile((1 + confidence) / 2, n - 1) * deviation) / Math.sqrt(n);
}

/**
 * Interval of the median of rounds by order statistics: from the d-th smallest to the d-th
 * largest, with the greatest d that still covers 1 - 2 P(Binomial(n, 1/2) < d). It assumes
 * no distribution. For 95 % it needs six values: with five, smallest to largest covers
 * 93.75 %. Conover, Practical Nonparametric Statistics, 3.2; Le Boudec, Performance Evaluation
 * of Computer and Communication Systems, theorem 2.1.
 * @param {readonly number[]} values one per round
 * @param {{ confidence?: number }} [options]
 * @returns {MedianInterval}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for a value that is not finite
 */
export function medianInterval(values, { confidence = CONFIDENCE } = {}) {
  requireConfidence(confidence);
  requireFinite(values, 'medianInterval');
  const n = values.length;
  const { depth, coverage } = orderDepth(n, confidence);
  const centre = n === 0 ? null : median([...values]);
  if (depth === 0) {
    return { median: centre, low: null, high: null, n, confidence, coverage: null, method: 'none' };
  }
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: centre,
    low: sorted[depth - 1],
    high: sorted[n - depth],
    n,
    confidence,
    coverage,
    method: 'order-statistics',
  };
}

/**
 * @param {number} n
 * @param {number} confidence
 * @returns {{ depth: number, coverage: number }} depth 0 if even the extremes do not cover
 */
function orderDepth(n, confidence) {
  let below = 0;
  let depth = 0;
  let coverage = 0;
  // Logarithms of the binomial terms, because 2^-n underflows beyond a thousand rounds.
  let logTerm = -n * Math.LN2;
  for (let k = 0; k < n / 2; k += 1) {
    below += Math.exp(logTerm);
    const covered = 1 - 2 * below;
    if (covered < confidence) break;
    depth = k + 1;
    coverage = covered;
    logTerm += Math.log((n - k) / (k + 1));
  }
  return { depth, coverage };
}
