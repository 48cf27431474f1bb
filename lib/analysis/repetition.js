/**
 * The design of repetitions: how many runs, rounds in a run and iterations in a round tell most in
 * the time there is, from how much each level varies.
 *
 * Goals: say at which level to repeat. Non-goals: unequal numbers of repetitions, for which the
 * formulas do not hold.
 *
 * Source: T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013. Its
 * numbering is kept: level 1 is the innermost.
 */

import { mean, sampleVariance } from 'simple-statistics';
import { usageError } from '../errors.js';
import { CONFIDENCE, requireConfidence } from './interval.js';
import { studentQuantile } from './student.js';

/** @typedef {number | readonly Nested[]} Nested */

/**
 * @typedef {object} RepetitionDesign
 * @property {number} mean of all values
 * @property {number[]} s2 S² by level, innermost first: the mean variance within that level
 * @property {number[]} t2 T² by level, innermost first: what the level itself adds; below 0 where
 *   the level below explains it all
 * @property {number[]} counts repetitions that were made, innermost first
 * @property {{ low: number, high: number }} interval of the mean: t over the outermost level
 * @property {(number | null)[] | null} repetitions best number for each level but the outermost,
 *   innermost first: 1: do not repeat here; null: repeat here only, the level above adds no
 *   variance; null for all without costs
 */

/**
 * @param {readonly Nested[]} data nested to the same depth, equal numbers at each level, two or
 *   more; outermost first: `[[9, 5], [8, 3]]` is two runs of two iterations
 * @param {{ costs?: readonly number[], confidence?: number }} [options] costs: time to begin one
 *   more of each level, innermost first, as many as levels; the first is the time of an iteration
 * @returns {RepetitionDesign}
 * @throws {import('../errors.js').DragstripError} E_USAGE where the form is uneven
 */
export function repetitionDesign(data, { costs, confidence = CONFIDENCE } = {}) {
  requireConfidence(confidence);
  const counts = countsOf(data);
  const depth = counts.length;
  if (costs && (costs.length !== depth || costs.some((cost) => !(cost > 0)))) {
    throw usageError(`repetitionDesign: ${depth} costs above 0 are needed, one a level`);
  }
  /** @type {number[][]} */
  const variances = counts.map(() => []);
  const centre = collect(data, depth - 1, variances);
  const s2 = variances.map((values) => mean(values));
  const t2 = s2.map((value, i) => (i === 0 ? value : value - s2[i - 1] / counts[i - 1]));
  const outer = counts[depth - 1];
  const half = studentQuantile((1 + confidence) / 2, outer - 1) * Math.sqrt(s2[depth - 1] / outer);
  return {
    mean: centre,
    s2,
    t2,
    counts,
    interval: { low: centre - half, high: centre + half },
    repetitions: costs ? t2.slice(0, -1).map((_, i) => bestCount(t2, costs, i)) : null,
  };
}

/**
 * @param {Nested} data
 * @returns {number[]} how many at each level, innermost first
 */
function countsOf(data) {
  if (typeof data === 'number') {
    if (!Number.isFinite(data)) throw usageError(`repetitionDesign: not a finite value: ${data}`);
    return [];
  }
  if (data.length < 2) throw usageError('repetitionDesign: a level has fewer than two repetitions');
  const [first, ...others] = data.map(countsOf);
  if (others.some((other) => String(other) !== String(first))) {
    throw usageError('repetitionDesign: the numbers of repetitions differ within a level');
  }
  return [...first, data.length];
}

/**
 * @param {Nested} data
 * @param {number} level index of the level of this node, innermost 0
 * @param {number[][]} variances by level; each node adds the variance of its children's means
 * @returns {number} mean of the node
 */
function collect(data, level, variances) {
  if (typeof data === 'number') return data;
  const means = data.map((child) => collect(child, level - 1, variances));
  variances[level].push(sampleVariance(means));
  return mean(means);
}

/**
 * ⌈√(c(i+1) / c(i) · T²(i) / T²(i+1))⌉.
 * @param {readonly number[]} t2
 * @param {readonly number[]} costs
 * @param {number} i
 * @returns {number | null}
 */
function bestCount(t2, costs, i) {
  if (t2[i] <= 0) return 1;
  if (t2[i + 1] <= 0) return null;
  return Math.ceil(Math.sqrt((costs[i + 1] / costs[i]) * (t2[i] / t2[i + 1])));
}
