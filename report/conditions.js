/**
 * Texts of the differences between results apart from their figures: a sentence and a list. The
 * analysis is in analysis/conditions.js. Pure.
 */

import { plainText } from '../lib/format.js';
import { together } from './lists.js';

/** Maximum number of differences in a sentence; the list has all. */
const NAMED_MAX = 4;

/** @typedef {import('./analysis/comparison.js').Comparison} Comparison */
/** @typedef {import('./analysis/comparison.js').Difference} Difference */
/**
 * @typedef {{ name: string, found: readonly Difference[] }} NamedDifferences name: name of the
 *   result
 */

/**
 * @param {Comparison['others']} others
 * @returns {NamedDifferences[]}
 */
export function allDifferences(others) {
  return others.map(({ differences, circumstances = [] }, i) => ({
    name: nameOf(i),
    found: [...differences, ...circumstances],
  }));
}

/**
 * @param {Comparison['others']} others
 * @returns {string[]} one sentence per result with different conditions
 */
export function conditionLines(others) {
  return allDifferences(others).flatMap(({ name, found }) => {
    if (found.length === 0) return [];
    const named = found.slice(0, NAMED_MAX).map(({ what }) => what);
    const more = found.length - named.length;
    const text = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    return [plainText(`The ${name} was measured under different conditions: ${text}.`)];
  });
}

/**
 * @param {readonly NamedDifferences[]} all
 * @returns {import('../lib/report-types.js').List}
 */
export function differenceList(all) {
  return {
    kind: 'warnings',
    title: 'Different conditions, which may explain a difference',
    items: together(
      all.flatMap(({ name, found }) =>
        found.map(({ what, base, other }) => ({
          subject: plainText(`${name}, ${what}`),
          text: plainText(`${other}, and in the first ${base}`),
          untrusted: true,
          hint: null,
        })),
      ),
      'benchmarks',
      Infinity,
    ),
  };
}

/** @param {number} index index of the other result */
export function nameOf(index) {
  return ['second', 'third', 'fourth', 'fifth'][index] ?? `number ${index + 2}`;
}
