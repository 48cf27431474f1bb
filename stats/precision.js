/**
 * Amount of measurement: when a run is precise enough, how many rounds that will take, how many
 * blocks a round should have.
 *
 * Goals: stopping by the width of intervals, never by their position: a rule that considers only
 * the width keeps the coverage (M. Nordin and M. Schultzberg, arXiv:2405.03487), one that waits for
 * a difference does not. Non-goals: clocks.
 */

import { median } from 'simple-statistics';
import { studentQuantile } from './distributions.js';

/** Rounds before the first evaluation of the intervals. */
export const ROUNDS_MIN = 6;
/** Rounds before the first evaluation of the time; fewer give no interval. */
export const ROUNDS_LEAST = 3;
/** Divisor of a budget. */
const ROUNDS_AIM = 8;
const ROUNDS_MAX = 1000;
export const BLOCKS_MIN = 10;
const BLOCKS_FEW = 20;
const BLOCKS_MAX = 60;

/**
 * @param {{ rounds: number, halfWidths: readonly number[], precision: number, spentNs: number,
 *   budgetNs: number, roundNs: number, isDecided?: boolean }} state halfWidths: of the ratio of
 *   every relevant row, as shares; roundNs: expected duration of another round; isDecided: by the
 *   gates of the run, instead of the precision
 * @returns {'precise' | 'decided' | 'budget' | null} reason to stop; null: continue
 */
export function stopReason({ rounds, halfWidths, isDecided, precision, ...time }) {
  const { spentNs, budgetNs, roundNs } = time;
  const isSpent = spentNs + roundNs > budgetNs;
  // First: counts need no interval, and other gates are not decided before ROUNDS_MIN.
  if (isDecided) return 'decided';
  if (rounds < ROUNDS_MIN) return rounds >= ROUNDS_LEAST && isSpent ? 'budget' : null;
  if (isDecided === undefined && halfWidths.every((half) => half <= precision)) return 'precise';
  return isSpent ? 'budget' : null;
}

/**
 * Rounds after which the half-width is expected to be that narrow: the variance of a process stays
 * constant, while its share in the mean and Student's quantile shrink.
 * @param {{ half: number, rounds: number, precision: number, confidence: number, freedom?: (rounds:
 *   number) => number }} state half: in logs, now; freedom: degrees of freedom of an interval over
 *   that many rounds, one less than the rounds if the variance is not pooled
 * @returns {number | null} total number; null: more than 1000
 */
export function roundsForPrecision({ half, rounds, precision, confidence, freedom }) {
  const df = freedom ?? ((/** @type {number} */ n) => n - 1);
  const quantile = (/** @type {number} */ n) => studentQuantile((1 + confidence) / 2, df(n));
  const deviation = (half / quantile(rounds)) * Math.sqrt(rounds);
  const enough = (/** @type {number} */ n) =>
    (quantile(n) * deviation) / Math.sqrt(n) <= Math.log1p(precision);
  return leastRounds(ROUNDS_MIN - 1, enough);
}

/**
 * @param {number} tooFew number of rounds that is too small
 * @param {(rounds: number) => boolean} enough monotonic: once true it stays true
 * @returns {number | null} the smallest sufficient number; null: more than 1000
 */
export function leastRounds(tooFew, enough) {
  if (tooFew >= ROUNDS_MAX || !enough(ROUNDS_MAX)) return null;
  let [low, high] = [tooFew, ROUNDS_MAX];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * Minimum time to open and warm up a process with one load; more than three processes share the
 * time.
 */
const START_NS_LEAST = 0.22e9;
const SHARED_LOADS = 3;

/**
 * @param {readonly number[]} loads loads of each contender
 * @param {number | null} rounds fixed number; null: the minimum for an interval
 * @returns {number} minimum duration of a race in ns: its processes started side by side, without
 *   blocks
 */
export function leastNs(loads, rounds) {
  const started = loads.reduce((sum, n) => sum + Math.min(SHARED_LOADS, n), 0);
  return (rounds ?? ROUNDS_LEAST) * started * START_NS_LEAST;
}

/**
 * @typedef {object} RoundCost
 * @property {number} startNs time to start, check and warm up all processes of a round
 * @property {number} blockNs time of one block
 */

/**
 * Blocks of a round, the same in all rounds: drivers still get faster while blocks run (means of
 * rounds with 20 blocks were 5 to 15 % above those with 50), so rounds of unequal length would
 * differ by that. The number leaves time for eight rounds; for six if starting processes takes most
 * of that time, as on a busy machine.
 * @param {RoundCost} cost
 * @param {{ budgetNs: number, rounds?: number, isShort?: boolean }} run rounds: fixed number;
 *   isShort: gates are evaluated after each round, so many short rounds decide sooner than long
 *   ones
 * @returns {number} between BLOCKS_MIN and BLOCKS_MAX
 */
export function blocksFor({ startNs, blockNs }, { budgetNs, rounds, isShort = false }) {
  const fitting = (/** @type {number} */ n) => Math.floor((budgetNs / n - startNs) / blockNs);
  const most = fitting(rounds ?? ROUNDS_AIM);
  const blocks = rounds === undefined && most < BLOCKS_FEW ? fitting(ROUNDS_MIN) : most;
  return Math.min(isShort ? BLOCKS_FEW : BLOCKS_MAX, Math.max(BLOCKS_MIN, blocks));
}

/**
 * Chooses the blocks of further rounds for the narrowest interval per time, from the medians of the
 * costs and deviations so far, so that one disturbed round, often the first, does not decide (T.
 * Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013): the square root of
 * the cost of a round's start over that of a block, times the deviation of a slice over that of a
 * process.
 * @param {readonly RoundCost[]} costs costs of the rounds so far, at least one
 * @param {readonly number[]} ratios ratios of these deviations, of at least one load
 * @param {Parameters<typeof blocksFor>[1] & { spentNs: number }} run spentNs: spent part of the
 *   budget
 * @returns {number} at least BLOCKS_MIN, at most what the remaining budget allows: six rounds in
 *   all, or one more
 */
export function blocksByDeviations(costs, ratios, { spentNs, ...run }) {
  const cost = {
    startNs: median(costs.map(({ startNs }) => startNs)),
    blockNs: median(costs.map(({ blockNs }) => blockNs)),
  };
  const best = Math.sqrt(cost.startNs / cost.blockNs) * median([...ratios]);
  const rounds = Math.max(1, (run.rounds ?? ROUNDS_MIN) - costs.length);
  const left = (run.budgetNs - spentNs) / rounds;
  const fitting = Math.floor((left - cost.startNs) / cost.blockNs);
  return Math.min(blocksFor(cost, run), Math.max(BLOCKS_MIN, Math.min(Math.round(best), fitting)));
}
