/**
 * How much to measure: when a run is precise enough, how many rounds that will take, how many
 * blocks a round should have.
 *
 * Goals: stopping by the width of intervals, never by what they show: a rule that looks at the
 * width alone keeps the coverage (M. Nordin and M. Schultzberg, arXiv:2405.03487), one that waits
 * for a difference does not. Non-goals: clocks.
 */

import { mean } from 'simple-statistics';
import { sliceVariance, TRIM, withoutBlockState } from './blocks.js';
import { studentQuantile } from './student.js';

/** Rounds before the first look. */
export const ROUNDS_MIN = 6;
const ROUNDS_MAX = 1000;
export const BLOCKS_MIN = 10;
export const BLOCKS_MAX = 200;

/**
 * @param {{ rounds: number, halfWidths: readonly number[], precision: number, spentNs: number,
 *   budgetNs: number, roundNs: number }} state halfWidths: of the ratio of every row that counts,
 *   as shares; roundNs: what a further round is expected to take
 * @returns {'precise' | 'budget' | null} why to stop; null: go on
 */
export function stopReason({ rounds, halfWidths, precision, spentNs, budgetNs, roundNs }) {
  if (rounds < ROUNDS_MIN) return null;
  if (halfWidths.every((half) => half <= precision)) return 'precise';
  return spentNs + roundNs > budgetNs ? 'budget' : null;
}

/**
 * Rounds after which the half-width is expected to be that narrow: the variance of a process stays,
 * its share in the mean and Student's quantile shrink.
 * @param {{ half: number, rounds: number, precision: number, confidence: number,
 *   freedom?: (rounds: number) => number }} state half: on logs, now; freedom: degrees of freedom
 *   of an interval over so many rounds, one less than the rounds where the variance is not pooled
 * @returns {number | null} in all; null: more than 1000
 */
export function roundsForPrecision({ half, rounds, precision, confidence, freedom }) {
  const df = freedom ?? ((/** @type {number} */ n) => n - 1);
  const quantile = (/** @type {number} */ n) => studentQuantile((1 + confidence) / 2, df(n));
  const deviation = (half / quantile(rounds)) * Math.sqrt(rounds);
  const enough = (/** @type {number} */ n) =>
    (quantile(n) * deviation) / Math.sqrt(n) <= Math.log1p(precision);
  if (!enough(ROUNDS_MAX)) return null;
  let [low, high] = [ROUNDS_MIN - 1, ROUNDS_MAX];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * @typedef {object} Spread where the variance of a process's mean comes from, on logs
 * @property {number} slice variance of one slice, block state out
 * @property {number} process variance between processes, without what their slices explain; 0
 *   where the slices explain it all
 * @property {number} blocks that it was seen with
 */

/**
 * @param {import('./blocks.js').Blocks} logs
 * @param {number} processVariance of the means of processes: pooled residual variance
 * @param {{ trim?: number }} [options]
 * @returns {Spread}
 */
export function spreadOf(logs, processVariance, { trim = TRIM } = {}) {
  const rows = withoutBlockState(logs).flat();
  const slice = mean(rows.map((row) => sliceVariance(row, trim)).filter(Number.isFinite));
  const blocks = mean(rows.map((row) => row.length));
  return { slice, process: Math.max(0, processVariance - slice / blocks), blocks };
}

/**
 * Blocks of a round by the rule of T. Kalibera and R. Jones ("Rigorous benchmarking in reasonable
 * time", ISMM 2013): repeat at the level where the variance is, against what a repetition there
 * costs. √(cost of a process / cost of a block × slice variance / process variance).
 * @param {Spread} spread
 * @param {{ roundNs: number, blockNs: number }} cost roundNs: to start, check and warm up all
 *   processes of a round
 * @returns {number} within BLOCKS_MIN and BLOCKS_MAX
 */
export function blocksFor({ slice, process }, { roundNs, blockNs }) {
  if (process <= 0) return BLOCKS_MAX;
  const best = Math.sqrt((roundNs / blockNs) * (slice / process));
  return Math.round(Math.min(BLOCKS_MAX, Math.max(BLOCKS_MIN, best)));
}
