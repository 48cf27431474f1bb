/**
 * Ranks of storages, with ties.
 *
 * Goal: ranks differ only by differences that the rounds show. Non-goal: a total order; "not
 * separated" is not transitive, which overlapping groups express.
 */

import { geometricMean } from 'simple-statistics';
import { compareAll } from './compare.js';
import { present } from './ratio.js';
import { tiedRuns } from './tied-runs.js';

const SEPARATED = new Set(['faster', 'slower']);

/** @typedef {{ name: string, rounds: import('./ratio.js').Rounds }} Entry */

/**
 * @typedef {object} RankedEntry
 * @property {string} name
 * @property {number | null} mean geometric, over the rounds that ran; null if none did
 * @property {number} rank best rank: one plus the number of entries shown to be faster
 * @property {number} rankWorst worst rank: the number of entries not shown to be slower
 * @property {string[]} tiedWith names of entries not separated from this one
 */

/**
 * @typedef {object} Ranking
 * @property {RankedEntry[]} entries fastest first
 * @property {string[][]} groups maximal runs of neighbours without a separated pair; they may
 *   overlap (a compact letter display: Piepho 2004)
 * @property {import('./compare.js').Comparison[]} comparisons of all pairs, named `A / B`
 */

/**
 * @param {readonly Entry[]} entries rounds of one run, by block
 * @param {import('./compare.js').CompareOptions} [options]
 * @returns {Ranking}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE if the numbers of rounds differ
 */
export function rankEntries(entries, options = {}) {
  const sign = options.better === 'lower' ? -1 : 1;
  const sorted = entries
    .map(({ name, rounds }) => ({ name, rounds, mean: meanOf(rounds) }))
    .sort((first, second) => sign * (keyOf(second, sign) - keyOf(first, sign)));
  const pairs = sorted.flatMap((first, i) =>
    sorted.slice(i + 1).map((second, k) => ({
      name: `${first.name} / ${second.name}`,
      a: first.rounds,
      b: second.rounds,
      i,
      j: i + 1 + k,
    })),
  );
  const comparisons = compareAll(pairs, options);
  const verdicts = sorted.map(() => sorted.map(() => 'same'));
  for (const [index, { i, j }] of pairs.entries()) {
    const { verdict } = comparisons[index];
    verdicts[i][j] = verdict;
    verdicts[j][i] = opposite(verdict);
  }
  return {
    entries: sorted.map(({ name, mean }, i) => rankedEntry(name, mean, verdicts[i], i, sorted)),
    groups: tiedRuns(sorted.length, (i, j) => !SEPARATED.has(verdicts[i][j])).map(([from, to]) =>
      sorted.slice(from, to).map(({ name }) => name),
    ),
    comparisons,
  };
}

/**
 * @param {import('./ratio.js').Rounds} rounds
 * @returns {number | null}
 */
function meanOf(rounds) {
  const values = present(rounds);
  if (values.length === 0) return null;
  return values.every((value) => value > 0) ? geometricMean(values) : 0;
}

/**
 * Entries that did not run come last, whichever direction is better.
 * @param {{ mean: number | null }} entry
 * @param {number} sign
 * @returns {number}
 */
function keyOf({ mean }, sign) {
  return mean ?? -sign * Number.MAX_VALUE;
}

/**
 * @param {string} verdict
 * @returns {string} the verdict from the other side
 */
function opposite(verdict) {
  if (verdict === 'faster') return 'slower';
  return verdict === 'slower' ? 'faster' : verdict;
}

/**
 * @param {string} name
 * @param {number | null} mean
 * @param {readonly string[]} row verdicts of this entry against each
 * @param {number} self its index
 * @param {readonly { name: string }[]} sorted
 * @returns {RankedEntry}
 */
function rankedEntry(name, mean, row, self, sorted) {
  const tied = sorted.filter((_, j) => j !== self && !SEPARATED.has(row[j]));
  return {
    name,
    mean,
    rank: 1 + row.filter((verdict) => verdict === 'slower').length,
    rankWorst: row.length - row.filter((verdict) => verdict === 'faster').length,
    tiedWith: tied.map((other) => other.name),
  };
}
