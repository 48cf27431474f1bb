/**
 * Holm's correction of p values for the number of comparisons in a report: among a hundred
 * comparisons, five would be significant at 5 % by chance.
 *
 * Goal: the probability that any equal pair of the report is called different stays at the level.
 * Non-goal: controlling the false discovery rate, because readers look at single lines.
 */

import { usageError } from '../lib/errors.js';

/**
 * S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
 * Statistics 6 (1979): the k-th smallest of m is multiplied by m - k + 1, and none is below the
 * one before it.
 * @param {ReadonlyArray<number | null>} pValues null: no test; stays null and is not counted
 *   as a comparison
 * @returns {Array<number | null>} adjusted, in the same order, each at most 1
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if a p is not from 0 to 1
 */
export function holm(pValues) {
  /** @type {{ p: number, index: number }[]} */
  const tests = [];
  for (const [index, p] of pValues.entries()) {
    if (p === null) continue;
    if (!(p >= 0 && p <= 1)) throw usageError(`holm: p value ${index} is not from 0 to 1: ${p}`);
    tests.push({ p, index });
  }
  tests.sort((first, second) => first.p - second.p);
  /** @type {Array<number | null>} */
  const adjusted = pValues.map(() => null);
  let least = 0;
  for (const [k, { p, index }] of tests.entries()) {
    least = Math.max(least, Math.min(1, p * (tests.length - k)));
    adjusted[index] = least;
  }
  return adjusted;
}
