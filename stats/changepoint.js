/**
 * Change points of a series: the results in a history at which the level changed.
 *
 * Goals: find steps in tens or hundreds of results without assuming a noise distribution, and
 * reproducibly (the permutations are seeded). Non-goals: slow drifts, which are reported as several
 * steps, and steps within three results of either end.
 *
 * Source: the energy statistic and permutation test of D. S. Matteson and N. A. James, "A
 * nonparametric approach for multiple change point analysis of multivariate data", JASA 109 (2014),
 * E-divisive, as used by MongoDB (D. Daly and others, ICPE 2020). Simplified: a segment is split
 * against all of its remainder, and each half is then searched separately.
 */

import { mean } from 'simple-statistics';
import { usageError } from '../lib/errors.js';
import { createRandom, shuffled } from '../lib/random.js';
import { requireFinite } from './interval.js';

/** The cost per permutation grows with the square of the length. */
export const SERIES_MAX = 2000;

/**
 * @typedef {object} ChangePoint
 * @property {number} index index of the first value of the new level
 * @property {number} p p value of the permutation test, at least 1 / (permutations + 1)
 * @property {number} before mean of the values since the change point before this
 * @property {number} after mean of the values up to the next one
 * @property {number | null} ratio after / before; null if before is 0
 */

/**
 * @typedef {object} ChangePointOptions
 * @property {number} [alpha] significance level, 0.01 by default
 * @property {number} [minSegment] shortest segment, at least 2; 3 by default
 * @property {number} [permutations] 199 by default
 * @property {number} [seed] seed of the permutations, 1 by default
 */

/**
 * @param {readonly number[]} values in chronological order
 * @param {ChangePointOptions} [options]
 * @returns {ChangePoint[]} in chronological order; empty if the series is too short
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a value that is not finite, more
 *   than 2,000 values, or too few permutations to reach alpha
 */
export function changePoints(values, options = {}) {
  const { alpha = 0.01, minSegment = 3, permutations = 199, seed = 1 } = options;
  requireFinite(values, 'changePoints');
  if (values.length > SERIES_MAX) {
    throw usageError(`changePoints: ${values.length} values, at most ${SERIES_MAX} are searched`);
  }
  if (!(Number.isInteger(minSegment) && minSegment >= 2)) {
    throw usageError(`changePoints: minSegment must be a whole number from 2, not ${minSegment}`);
  }
  if (!(1 / (permutations + 1) <= alpha)) {
    throw usageError(`changePoints: ${permutations} permutations cannot reach a p of ${alpha}`);
  }
  /** @type {{ index: number, p: number }[]} */
  const changes = [];
  /** @type {[number, number][]} */
  const pending = [[0, values.length]];
  for (let segment = pending.pop(); segment; segment = pending.pop()) {
    const [from, to] = segment;
    const part = values.slice(from, to);
    const split = bestSplit(part, minSegment);
    if (split === null) continue;
    const random = createRandom(seed, from * (SERIES_MAX + 1) + to);
    const p = permutationP(part, split.energy, { minSegment, permutations, random });
    if (p > alpha) continue;
    const index = from + split.index;
    changes.push({ index, p });
    pending.push([from, index], [index, to]);
  }
  changes.sort((first, second) => first.index - second.index);
  return changes.map((point, k) => describe(values, changes, point, k));
}

/**
 * @param {readonly number[]} values
 * @param {readonly { index: number }[]} found
 * @param {{ index: number, p: number }} point
 * @param {number} k its index in `found`
 * @returns {ChangePoint}
 */
function describe(values, found, { index, p }, k) {
  const before = mean(values.slice(found[k - 1]?.index ?? 0, index));
  const after = mean(values.slice(index, found[k + 1]?.index ?? values.length));
  return { index, p, before, after, ratio: before === 0 ? null : after / before };
}

/**
 * The split with the greatest energy distance, mn / (m + n) · (2 E|X - Y| - E|X - X'| - E|Y - Y'|).
 * Moving one value at a time from right to left changes the sums only by its own distances.
 * @param {readonly number[]} values
 * @param {number} minSegment
 * @returns {{ index: number, energy: number } | null} null if the segment is too short
 */
function bestSplit(values, minSegment) {
  const count = values.length;
  if (count < 2 * minSegment) return null;
  let within = 0;
  for (let i = 0; i < count; i += 1) {
    for (let j = 0; j < i; j += 1) within += Math.abs(values[i] - values[j]);
  }
  const total = within;
  let left = 0;
  let best = { index: 0, energy: -Infinity };
  for (let k = 0; k < count - minSegment; k += 1) {
    for (let i = 0; i < count; i += 1) {
      const distance = Math.abs(values[k] - values[i]);
      if (i < k) left += distance;
      else within -= distance;
    }
    const m = k + 1;
    const n = count - m;
    if (m < minSegment) continue;
    const between = (2 * (total - left - within)) / (m * n);
    const inside = (2 * left) / (m * (m - 1)) + (2 * within) / (n * (n - 1));
    const energy = ((m * n) / count) * (between - inside);
    if (energy > best.energy) best = { index: m, energy };
  }
  return best;
}

/**
 * Share of the shuffled series, including this one, that have an equally good split.
 * @param {readonly number[]} values
 * @param {number} energy energy of the best split
 * @param {{ minSegment: number, permutations: number, random: () => number }} options
 * @returns {number}
 */
function permutationP(values, energy, { minSegment, permutations, random }) {
  let asGood = 1;
  // Sums in a different order differ in the last digits; ties must still be recognised.
  const threshold = energy - 1e-9 * Math.abs(energy);
  for (let i = 0; i < permutations; i += 1) {
    const other = bestSplit(shuffled(values, random), minSegment);
    if (other !== null && other.energy >= threshold) asGood += 1;
  }
  return asGood / (permutations + 1);
}
