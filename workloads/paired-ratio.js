/** The ratio of two benchmarks of one run as a figure of a table: rounds are pairs. Pure. */

import { figureOf, UNKNOWN } from '../stats/metrics.js';
import { ratioInterval } from '../stats/ratio.js';

/** @typedef {import('../lib/report-types.js').Value} Value */
/** @typedef {readonly (number | null)[]} Rounds by round; null: no figure */

/**
 * @param {Rounds | undefined} a
 * @param {Rounds | undefined} b of the same run
 * @returns {Value} A / B, pairs of one round, with its interval from two rounds on
 */
export function pairedRatio(a, b) {
  if (a === undefined || b === undefined || a.length !== b.length) return UNKNOWN;
  const { ratio, low, high, n } = ratioInterval(a, b);
  // The interval is one of logs: half its width, as a factor.
  const spread = low === null || high === null || low <= 0 ? null : Math.sqrt(high / low) - 1;
  return figureOf(ratio, n, { low, high, spread });
}
