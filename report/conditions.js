/**
 * What differs between results besides their figures, in words: a sentence and a list. What it is,
 * is analysis/conditions.js. Pure.
 */

import { plainText } from '../lib/format.js';
import { together } from './lists.js';

/** Differences that a sentence names; all are in the list. */
const NAMED_MAX = 4;

/** @typedef {import('./analysis/comparison.js').Comparison} Comparison */
/** @typedef {import('./analysis/comparison.js').Difference} Difference */
/** @typedef {{ name: string, found: readonly Difference[] }} NamedDifferences name: of the result */

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
 * @returns {string[]} a sentence for each that was measured under other conditions
 */
export function conditionLines(others) {
  return allDifferences(others).flatMap(({ name, found }) => {
    if (found.length === 0) return [];
    const named = found.slice(0, NAMED_MAX).map(({ what }) => what);
    const more = found.length - named.length;
    const text = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    return [plainText(`The ${name} was measured under other conditions than the first: ${text}.`)];
  });
}

/**
 * @param {readonly NamedDifferences[]} all
 * @returns {import('../lib/report-types.js').List}
 */
export function differenceList(all) {
  return {
    kind: 'warnings',
    title: 'Not the same in both, so that a difference may come from it',
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

/** @param {number} index of the others */
export function nameOf(index) {
  return ['second', 'third', 'fourth', 'fifth'][index] ?? `number ${index + 2}`;
}
