/**
 * Comparisons of a report: ratio, interval, tests and verdict of each pair, with Holm's correction.
 *
 * Goal: one call computes what a line of `dragstrip compare` shows. Non-goals: reading results, and
 * deciding whether two of them are comparable.
 */

import { holm } from './holm.js';
import { CONFIDENCE } from './interval.js';
import { mannWhitney } from './mannwhitney.js';
import { present, ratioInterval } from './ratio.js';
import { verdictOf } from './verdict.js';

/**
 * @typedef {object} Pair
 * @property {string} name of the comparison, for the caller
 * @property {import('./ratio.js').Rounds} a by round; null if A did not run
 * @property {import('./ratio.js').Rounds} b
 * @property {number | null} [noise] of this pair, if it differs from the common one
 */

/**
 * @typedef {object} CompareOptions
 * @property {number} [confidence] 0.95 by default
 * @property {number | null} [noise] of noiseFloor; null: unknown
 * @property {boolean} [paired] true by default: rounds of one run, by block; false: two runs
 * @property {'higher' | 'lower'} [better] which value is faster; `higher` by default
 */

/**
 * @typedef {import('./ratio.js').RatioInterval & import('./verdict.js').Judgement & {
 *   name: string,
 *   pHolm: number | null,
 *   noise: number | null,
 *   mannWhitney: import('./mannwhitney.js').MannWhitneyResult,
 * }} Comparison
 */

/**
 * Computes all comparisons of a report together, as Holm's correction requires.
 * @param {readonly Pair[]} pairs
 * @param {CompareOptions} [options]
 * @returns {Comparison[]} in the order of `pairs`
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if paired rounds differ in number
 */
export function compareAll(pairs, options = {}) {
  const { confidence = CONFIDENCE, noise = null, paired = true, better = 'higher' } = options;
  const intervals = pairs.map(({ a, b }) => ratioInterval(a, b, { confidence, paired }));
  const adjusted = holm(intervals.map(({ p }) => p));
  return pairs.map(({ name, a, b, noise: own = noise }, index) => {
    const interval = intervals[index];
    const pHolm = adjusted[index];
    return {
      name,
      ...interval,
      pHolm,
      noise: own,
      mannWhitney: mannWhitney(present(a), present(b)),
      ...verdictOf(interval, { noise: own, pHolm, better }),
    };
  });
}

/**
 * Computes a single comparison, without correction.
 * @param {import('./ratio.js').Rounds} a
 * @param {import('./ratio.js').Rounds} b
 * @param {CompareOptions} [options]
 * @returns {Comparison} its name is empty
 */
export function compareRounds(a, b, options = {}) {
  return compareAll([{ name: '', a, b }], options)[0];
}
