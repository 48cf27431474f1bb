/**
 * Summary of a quantity over rounds, such as `61,454 ± 2.1 % (n 5)`.
 *
 * Goal: value, interval, n and outliers in one object. Non-goal: formatting.
 */

import { median } from 'simple-statistics';
import { CONFIDENCE, meanInterval } from './interval.js';
import { findOutliers } from './outlier.js';

/**
 * @typedef {object} RoundSummary
 * @property {number | null} median null without rounds
 * @property {number | null} mean the centre of `interval` (geometric), to which "±" refers;
 *   null without rounds
 * @property {import('./interval.js').MeanInterval} interval
 * @property {number} n rounds
 * @property {import('./outlier.js').Outliers} outliers a count above 0 causes a warning
 */

/**
 * @param {readonly number[]} throughputs one per round, operations per second (or any other
 *   positive quantity, such as a latency)
 * @param {{ confidence?: number }} [options]
 * @returns {RoundSummary}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for a value that is not finite
 */
export function summarizeRounds(throughputs, { confidence = CONFIDENCE } = {}) {
  const interval = meanInterval(throughputs, { confidence });
  return {
    median: throughputs.length === 0 ? null : median([...throughputs]),
    mean: interval.mean,
    interval,
    n: throughputs.length,
    outliers: findOutliers(throughputs),
  };
}
