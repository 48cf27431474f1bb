/**
 * How much to measure: when a run is precise enough, how many rounds that will take, how many
 * blocks a round should have.
 *
 * Goals: stopping by the width of intervals, never by what they show: a rule that looks at the
 * width alone keeps the coverage (M. Nordin and M. Schultzberg, arXiv:2405.03487), one that waits
 * for a difference does not. Non-goals: clocks.
 */

import { studentQuantile } from './distributions.js';

/** Rounds before the first look at the intervals. */
export const ROUNDS_MIN = 6;
/** Rounds before the first look at the time: fewer give no interval. */
export const ROUNDS_LEAST = 3;
/** What a budget is divided by. */
const ROUNDS_AIM = 8;
const ROUNDS_MAX = 1000;
export const BLOCKS_MIN = 10;
const BLOCKS_FEW = 20;
const BLOCKS_MAX = 60;

/**
 * @param {{ rounds: number, halfWidths: readonly number[], precision: number, spentNs: number,
 *   budgetNs: number, roundNs: number, isDecided?: boolean }} state
 *   halfWidths: of the ratio of every row that counts, as shares; roundNs: what a further round is
 *   expected to take; isDecided: by the gates of the run, instead of the precision
 * @returns {'precise' | 'decided' | 'budget' | null} why to stop; null: go on
 */
export function stopReason({ rounds, halfWidths, isDecided, precision, ...time }) {
  const { spentNs, budgetNs, roundNs } = time;
  const isSpent = spentNs + roundNs > budgetNs;
  if (rounds < ROUNDS_MIN) return rounds >= ROUNDS_LEAST && isSpent ? 'budget' : null;
  if (isDecided) return 'decided';
  if (isDecided === undefined && halfWidths.every((half) => half <= precision)) return 'precise';
  return isSpent ? 'budget' : null;
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
  return leastRounds(ROUNDS_MIN - 1, enough);
}

/**
 * @param {number} tooFew rounds
 * @param {(rounds: number) => boolean} enough once it is true it stays so
 * @returns {number | null} the least that are enough; null: more than 1000
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

/** A process is opened and warmed up in no less, with one load; more than three share the time. */
const START_NS_LEAST = 0.22e9;
const SHARED_LOADS = 3;

/**
 * @param {readonly number[]} loads of each contender
 * @param {number | null} rounds fixed by hand; null: as few as give an interval
 * @returns {number} least time of a race, in ns: its processes started side by side, without blocks
 */
export function leastNs(loads, rounds) {
  const started = loads.reduce((sum, n) => sum + Math.min(SHARED_LOADS, n), 0);
  return (rounds ?? ROUNDS_LEAST) * started * START_NS_LEAST;
}

/**
 * @typedef {object} RoundCost
 * @property {number} startNs to start, check and warm up all processes of a round
 * @property {number} blockNs of one block
 */

/**
 * Blocks of a round, the same in all rounds: drivers are still getting faster while blocks run
 * (means of rounds with 20 blocks were 5 to 15 % above those with 50), so rounds of unequal length
 * would differ by that. As many as leave time for eight rounds; where starting processes takes
 * most of that time, as on a busy machine, for six.
 * @param {RoundCost} cost
 * @param {{ budgetNs: number, rounds?: number }} run rounds: fixed by hand
 * @returns {number} within BLOCKS_MIN and BLOCKS_MAX
 */
export function blocksFor({ startNs, blockNs }, { budgetNs, rounds }) {
  const fitting = (/** @type {number} */ n) => Math.floor((budgetNs / n - startNs) / blockNs);
  const most = fitting(rounds ?? ROUNDS_AIM);
  const blocks = rounds === undefined && most < BLOCKS_FEW ? fitting(ROUNDS_MIN) : most;
  return Math.min(BLOCKS_MAX, Math.max(BLOCKS_MIN, blocks));
}
