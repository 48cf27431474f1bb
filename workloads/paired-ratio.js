/** The ratio of two benchmarks of one run as a figure of a table, paired by round. Pure. */

import { ratioValue, UNKNOWN } from '../stats/metrics.js';
import { pairedRatio as ratioOf } from '../stats/ratio.js';

/** @typedef {import('../lib/report-types.js').Metric} Metric */
/** @typedef {import('../lib/report-types.js').Value} Value */
/** @typedef {readonly (number | null)[]} Rounds by round; null: no figure */

/**
 * @param {Rounds | undefined} a
 * @param {Rounds | undefined} b second benchmark of the same run
 * @returns {Value} A / B, paired by round, with an interval from two rounds on
 */
function pairedRatio(a, b) {
  if (a === undefined || b === undefined || a.length !== b.length) return UNKNOWN;
  const ratio = ratioOf(a, b);
  return ratio === null ? UNKNOWN : ratioValue(ratio);
}

/**
 * @param {Pick<Metric, 'key'> & Partial<Metric>} shown
 * @param {(benchmark: any, scope: import('../lib/report-types.js').Scope) =>
 *   readonly [Rounds | undefined, Rounds | undefined]} pairOf
 * @returns {Metric} the ratio of a pair
 */
export function ratioMetric(shown, pairOf) {
  return {
    name: '',
    unit: '×',
    better: 'more',
    drop: 0,
    shows: ['interval'],
    relative: true,
    ...shown,
    of: (benchmark, scope) => pairedRatio(...pairOf(benchmark, scope)),
  };
}
