/**
 * A gate's decision from the rounds of one run: failed or passed where the interval is beyond the
 * limit or within it, undecided else. Pure.
 *
 * Goals: a run that may end as soon as it is decided, and still errs in at most 5 % of all runs.
 * Looking after every round would err far more often, so there are few looks: one is due when the
 * interval is as narrow as planned, whatever it shows, and each may use half of the error that is
 * left. Intervals over all looks and gates hold together (Bonferroni).
 * Non-goals: what the values are, and when a run ends.
 */

import { contest, differenceOf } from './contenders.js';
import { studentQuantile } from './distributions.js';
import { leastRounds } from './precision.js';

const ERROR = 0.05;
/** Probability that the suggested rounds decide, if the estimate is true. */
const POWER = 0.8;
/** The first look is due at half the distance from "equal" to the limit, each further at half. */
const FIRST_SHARE = 0.5;
/** Narrower than this no first look waits for, on logs: a limit of 1 has no distance. */
const TARGET_MIN = 0.005;

/**
 * @typedef {object} Estimate on logs
 * @property {number} value
 * @property {number} half at `confidence`
 * @property {number} confidence
 * @property {number} deviation of one round
 * @property {number} n rounds
 * @property {(rounds: number) => number} freedom degrees of freedom of so many rounds
 */

/**
 * @param {{ look: number, tests: number, last?: boolean }} at look: how many there were before;
 *   tests: gates times benchmarks; last: no further look follows
 * @returns {number} confidence of the interval
 */
export function confidenceOf({ look, tests, last = false }) {
  return 1 - ERROR / tests / 2 ** (last ? look : look + 1);
}

/**
 * @param {number} limit a ratio; of a limit by itself 1
 * @param {number} look
 * @param {number} precision where the limit has no distance from "equal", as a share
 * @returns {number} half-width on logs at which the look is due
 */
export function dueAt(limit, look, precision) {
  const distance = Math.abs(Math.log(limit));
  const first = distance > 0 ? distance * FIRST_SHARE : Math.log1p(precision);
  return Math.max(TARGET_MIN, first) / 2 ** look;
}

/**
 * @param {readonly (readonly number[])[]} logs by contender and round: the candidate's, then the
 *   reference's; further ones only add to what is known of the variance
 * @param {{ confidence: number, isRatio: boolean }} how
 * @returns {Estimate | null} null: fewer than two rounds, or a value is missing
 */
export function estimateOf(logs, { confidence, isRatio }) {
  const used = isRatio ? logs : logs.slice(0, 1);
  const n = used[0]?.length ?? 0;
  const isWhole = used.every((row) => row.length === n && row.every(Number.isFinite));
  if (n < 2 || !isWhole || (isRatio && used.length < 2)) return null;
  const whole = contest(used, { confidence });
  const isPooled = isRatio && whole.pool.includes(0) && whole.pool.includes(1);
  const freedom = (/** @type {number} */ rounds) =>
    isPooled ? (whole.pool.length - 1) * (rounds - 1) : rounds - 1;
  const { value, half } = isRatio
    ? differenceOf(whole, 0, 1)
    : { value: whole.estimates[0], half: whole.halfAlone[0] };
  const deviation = (half / studentQuantile((1 + confidence) / 2, freedom(n))) * Math.sqrt(n);
  return { value, half, confidence, deviation, n, freedom };
}

/**
 * @param {Estimate} estimate
 * @param {{ limit: number, op: '<' | '>' }} gate
 * @returns {{ outcome: 'failed' | 'passed' | 'undecided', roundsNeeded: number | null }}
 */
export function judgeGate(estimate, { limit, op }) {
  const { value, half } = estimate;
  const over = value - Math.log(limit);
  if (Math.abs(over) <= half) {
    return { outcome: 'undecided', roundsNeeded: roundsToDecide(estimate, Math.abs(over)) };
  }
  return { outcome: (op === '<') === over < 0 ? 'failed' : 'passed', roundsNeeded: null };
}

/**
 * Rounds after which the same estimate would decide in 4 of 5 cases: the mean's noise shrinks by
 * their square root, and so does Student's quantile (NIST/SEMATECH e-Handbook 7.2.2.2).
 * @param {Estimate} estimate
 * @param {number} gap from the estimate to the limit, on logs
 * @returns {number | null} in all; null: more than 1000
 */
export function roundsToDecide({ n, confidence, deviation, freedom }, gap) {
  const decides = (/** @type {number} */ rounds) => {
    const df = freedom(rounds);
    const reach = studentQuantile((1 + confidence) / 2, df) + studentQuantile(POWER, df);
    return (reach * deviation) / Math.sqrt(rounds) <= gap;
  };
  return leastRounds(n, decides);
}
