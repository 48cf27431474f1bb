/**
 * The Mann-Whitney test (Wilcoxon's rank sum): do values of A tend to be greater than those of B?
 * It complements the t test because it assumes no distribution.
 *
 * Goal: exact for the few rounds of a run, with ties. Non-goal: effect size. Note that five rounds
 * against five cannot give a p below 2/252.
 */

import { requireFinite } from './interval.js';
import { normalTail } from './normal.js';

/** Total number of values up to which all splits are counted; takes milliseconds at the bound. */
export const EXACT_VALUES_MAX = 60;

/**
 * @typedef {object} MannWhitneyResult
 * @property {number} u pairs in which the value of A is greater; ties count half
 * @property {number | null} p two-sided; null if a side is empty
 * @property {'exact' | 'normal' | 'none'} method `exact`: over all splits of the ranks, also where
 *   there are ties; `normal`: with the corrections for ties and for continuity
 */

/**
 * H. B. Mann and D. R. Whitney, Annals of Mathematical Statistics 18 (1947). Exact: the share of
 * all splits of the pooled ranks (ties have their middle rank) whose rank sum is at least as far
 * from its expectation; with ties this is the conditional permutation test.
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 * @returns {MannWhitneyResult}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for a value that is not finite
 */
export function mannWhitney(a, b) {
  requireFinite(a, 'mannWhitney');
  requireFinite(b, 'mannWhitney');
  const [m, n] = [a.length, b.length];
  if (m === 0 || n === 0) return { u: 0, p: null, method: 'none' };
  const { doubled, tieCorrection } = doubledRanks([...a, ...b]);
  const sum = doubled.slice(0, m).reduce((total, rank) => total + rank, 0);
  const u = sum / 2 - (m * (m + 1)) / 2;
  if (m + n <= EXACT_VALUES_MAX) {
    return { u, p: exactP(doubled, m, sum), method: 'exact' };
  }
  const total = m + n;
  const variance = ((m * n) / 12) * (total + 1 - tieCorrection / (total * (total - 1)));
  const distance = Math.max(0, Math.abs(u - (m * n) / 2) - 0.5);
  const p = variance === 0 ? 1 : Math.min(1, 2 * normalTail(distance / Math.sqrt(variance)));
  return { u, p, method: 'normal' };
}

/**
 * Twice the middle ranks, which are integers, in the order of the values.
 * @param {readonly number[]} values
 * @returns {{ doubled: number[], tieCorrection: number }} tieCorrection: Σ (t³ - t) over ties
 */
function doubledRanks(values) {
  const order = values.map((_, index) => index).sort((i, j) => values[i] - values[j]);
  /** @type {number[]} */
  const doubled = new Array(values.length);
  let tieCorrection = 0;
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && values[order[end]] === values[order[start]]) end += 1;
    for (let k = start; k < end; k += 1) doubled[order[k]] = start + 1 + end;
    const size = end - start;
    tieCorrection += size ** 3 - size;
    start = end;
  }
  return { doubled, tieCorrection };
}

/**
 * Counts, by dynamic programming over the ranks, the subsets of size m for each rank sum.
 * @param {readonly number[]} doubled
 * @param {number} m size of A
 * @param {number} sum of the doubled ranks of A
 * @returns {number}
 */
function exactP(doubled, m, sum) {
  const total = doubled.reduce((all, rank) => all + rank, 0);
  // The smaller side has the smaller table, and its sum has the same deviation.
  const size = Math.min(m, doubled.length - m);
  const observed = size === m ? sum : total - sum;
  const expected = size * (doubled.length + 1);
  const largest = [...doubled].sort((first, second) => second - first).slice(0, size);
  const width = largest.reduce((all, rank) => all + rank, 0) + 1;
  const counts = new Float64Array((size + 1) * width);
  counts[0] = 1;
  for (const [seen, rank] of doubled.entries()) {
    for (let k = Math.min(size, seen + 1); k >= 1; k -= 1) {
      const into = k * width;
      const from = into - width;
      for (let s = width - 1; s >= rank; s -= 1) counts[into + s] += counts[from + s - rank];
    }
  }
  let all = 0;
  let extreme = 0;
  const distance = Math.abs(observed - expected);
  for (let s = 0; s < width; s += 1) {
    const count = counts[size * width + s];
    all += count;
    if (Math.abs(s - expected) >= distance) extreme += count;
  }
  return extreme / all;
}
