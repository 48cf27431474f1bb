/**
 * The figure of a quantity over rounds, such as `61,454 ± 2.1 % (n 5)`: value, interval and n. The
 * unit is the round, never the operation.
 *
 * Goal: state how certain a value is, or that this is unknown: one round gives no interval.
 * Non-goals: formatting; bootstrap (below 30 values its nominal 95 % covers 83 %); intervals of
 * percentiles over single operations, which are not independent.
 */

import { mean, sampleStandardDeviation } from 'simple-statistics';
import { usageError } from '../lib/errors.js';
import { studentQuantile } from './distributions.js';

/** Default confidence of intervals. */
export const CONFIDENCE = 0.95;

/**
 * @typedef {object} Figure
 * @property {number} value geometric mean; arithmetic if one of the values is not above 0
 * @property {number | null} low null: one round
 * @property {number | null} high
 * @property {number | null} spread half-width as a share: 0.021 is "± 2.1 %"
 * @property {number} n rounds
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
 * Half the width of Student's interval of a mean: t(n - 1) · s / √n. Student, "The probable error
 * of a mean", Biometrika 6 (1908).
 * @param {readonly number[]} values values of rounds
 * @param {number} confidence
 * @returns {number} infinite for a single value
 */
export function studentHalf(values, confidence) {
  const n = values.length;
  if (n < 2) return Infinity;
  const t = studentQuantile((1 + confidence) / 2, n - 1);
  return (t * sampleStandardDeviation([...values])) / Math.sqrt(n);
}

/**
 * Mean of rounds with Student's interval on logarithms, transformed back. Throughput and latency
 * vary by factors: on logarithms the ends are never below zero, and the intervals of A and B are
 * consistent with that of A/B.
 * @param {readonly number[]} values one per round
 * @returns {Figure | null} null without values
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a value that is not finite
 */
export function figureOver(values) {
  requireFinite(values, 'figureOver');
  const n = values.length;
  if (n === 0) return null;
  if (n === 1) return { value: values[0], low: null, high: null, spread: null, n };
  if (values.every((value) => value > 0)) {
    const logs = values.map(Math.log);
    return figureOfLogs(mean(logs), studentHalf(logs, CONFIDENCE), n);
  }
  const value = mean([...values]);
  const half = studentHalf(values, CONFIDENCE);
  const spread = value === 0 ? null : half / Math.abs(value);
  return { value, low: value - half, high: value + half, spread, n };
}

/**
 * @param {number} log
 * @param {number} half half-width in logs; infinite: one round
 * @param {number} n
 * @returns {Figure}
 */
export function figureOfLogs(log, half, n) {
  const value = Math.exp(log);
  if (!Number.isFinite(half)) return { value, low: null, high: null, spread: null, n };
  return {
    value,
    low: Math.exp(log - half),
    high: Math.exp(log + half),
    spread: Math.expm1(half),
    n,
  };
}
