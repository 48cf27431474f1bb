/**
 * What a report says of one number over rounds, as `61,454 ± 2.1 % (n 5)`.
 *
 * Goals: a number never travels alone; value, interval, n and outliers come in one object.
 * Non-goals: text; formatting is in one place, and not here.
 */

import { median } from 'simple-statistics';
import { CONFIDENCE, meanInterval } from './interval.js';
import { findOutliers } from './outlier.js';

/**
 * @typedef {object} RoundSummary
 * @property {number | null} median null without rounds
 * @property {number | null} mean the centre of `interval` (geometric), the number that the "±"
 *   belongs to; null without rounds
 * @property {import('./interval.js').MeanInterval} interval
 * @property {number} n rounds
 * @property {import('./outlier.js').Outliers} outliers a count above 0 is worth a warning
 */

/**
 * @param {readonly number[]} throughputs one a round, operations a second (or any other positive
 *   quantity, as a latency)
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
