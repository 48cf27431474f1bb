/**
 * The ratio of two quantities of one run by their pairs of rounds: rounds share their drift, so the
 * ratio within a round varies less than the ratio of two means.
 */

import { CONFIDENCE } from './interval.js';
import { pairRatio } from './standings.js';

/** @typedef {readonly (number | null)[]} Rounds one value per round; null: did not run */

/**
 * @param {Rounds} a
 * @param {Rounds} b values of the same run
 * @param {{ confidence?: number }} [options]
 * @returns {import('./separation.js').Ratio | null} ratio of A to B as of speeds: above 1, A is
 *   greater; null: no round has both, or a value is not above 0. Kalibera and Jones, "Quantifying
 *   performance changes with effect size confidence intervals" (2012), argue for reporting ratios
 */
export function pairedRatio(a, b, { confidence = CONFIDENCE } = {}) {
  const pairs = a.flatMap((value, round) => {
    const other = b[round] ?? null;
    return value === null || other === null ? [] : [[value, other]];
  });
  if (pairs.length === 0 || !pairs.flat().every((value) => value > 0)) return null;
  const times = (/** @type {0 | 1} */ side) => pairs.map((pair) => -Math.log(pair[side]));
  return pairRatio(times(0), times(1), confidence);
}
