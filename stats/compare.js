/**
 * Comparisons of a report: each pair's ratio, interval, tests and verdict, with Holm over all.
 *
 * Goals: one call gives what a line of `dragstrip compare` shows. Non-goals: reading results, and
 * deciding whether two of them may be compared at all.
 */

import { holm } from './holm.js';
import { CONFIDENCE } from './interval.js';
import { mannWhitney } from './mannwhitney.js';
import { present, ratioInterval } from './ratio.js';
import { judge } from './verdict.js';

/**
 * @typedef {object} Pair
 * @property {string} name of the comparison, for the caller
 * @property {import('./ratio.js').Rounds} a by round; null where A did not run
 * @property {import('./ratio.js').Rounds} b
 * @property {number | null} [noise] of this pair, where it is not that of all
 */

/**
 * @typedef {object} CompareOptions
 * @property {number} [confidence] 0.95 if absent
 * @property {number | null} [noise] of noiseFloor; null: unknown
 * @property {boolean} [paired] true (rounds of one run, by block) if absent; false: two runs
 * @property {'higher' | 'lower'} [better] which value is the faster; `higher` if absent
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
 * All comparisons of one report at once: Holm needs them together.
 * @param {readonly Pair[]} pairs
 * @param {CompareOptions} [options]
 * @returns {Comparison[]} in the order of `pairs`
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where paired rounds differ in number
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
      ...judge(interval, { noise: own, pHolm, better }),
    };
  });
}

/**
 * One comparison on its own, so that Holm has nothing to correct.
 * @param {import('./ratio.js').Rounds} a
 * @param {import('./ratio.js').Rounds} b
 * @param {CompareOptions} [options]
 * @returns {Comparison} its name is empty
 */
export function compareRounds(a, b, options = {}) {
  return compareAll([{ name: '', a, b }], options)[0];
}
