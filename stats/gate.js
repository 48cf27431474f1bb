/**
 * A gate's decision from the rounds of one run: failed or passed if the interval is beyond the
 * limit or within it, otherwise undecided. Pure.
 *
 * A count (`writes`) that does not depend on time is decided after the first round.
 *
 * Goals: a run that ends soon after its rounds are conclusive, and still errs in at most 5 % of all
 * runs: each evaluation spends a part of that error (K. K. G. Lan and D. L. DeMets, "Discrete
 * sequential boundaries for clinical trials", Biometrika 70 (1983); the function is their
 * approximation of Pocock's boundary), and intervals over all evaluations and gates are
 * simultaneous (Bonferroni). The variance is that of the pair's own differences: pooled with other
 * contenders, a noisy fork fails too often. Non-goals: the source of the values, and the end of a
 * run.
 */

import { mean, sampleStandardDeviation } from 'simple-statistics';
import { studentQuantile } from './distributions.js';
import { studentHalf } from './interval.js';
import { leastRounds } from './precision.js';
import { EFFECT_MIN } from './separation.js';

/** Probability of a wrong decision in a run. */
export const ERROR = 0.05;
/** Probability that the suggested rounds decide, if the estimate is true. */
const POWER = 0.8;
/** Counts of identical code in a window differ by less than this factor. */
const COUNT_NOISE = 4;

/**
 * @typedef {object} Estimate an estimate, in logs
 * @property {number} value
 * @property {number} half half-width at `confidence`
 * @property {number} confidence
 * @property {number} deviation standard deviation of one round
 * @property {number} n number of rounds
 * @property {number} [mean] for a ratio of typical figures: the ratio of throughputs
 */

/**
 * @param {number} rounds rounds so far
 * @param {number} planned total rounds
 * @returns {number} error that may have been spent so far, at most ERROR
 */
export function errorSpent(rounds, planned) {
  return ERROR * Math.log1p((Math.E - 1) * Math.min(1, rounds / planned));
}

/**
 * @param {readonly (readonly number[])[]} logs by contender and round: the candidate, then the
 *   baseline and its second copy, whose mean is the baseline
 * @param {{ confidence: number, isRatio: boolean }} how
 * @returns {Estimate | null} null: fewer than two rounds, or a value is missing
 */
export function estimateOf(logs, { confidence, isRatio }) {
  const [own = [], ...others] = isRatio ? logs : logs.slice(0, 1);
  const n = own.length;
  const isWhole = [own, ...others].every((row) => row.length === n && row.every(Number.isFinite));
  if (n < 2 || !isWhole || (isRatio && others.length === 0)) return null;
  const values = own.map((log, round) =>
    isRatio ? log - mean(others.map((row) => row[round])) : log,
  );
  const deviation = sampleStandardDeviation(values);
  return { value: mean(values), half: studentHalf(values, confidence), confidence, deviation, n };
}

/**
 * A count that does not depend on time needs no interval: by itself it is exact, and with one
 * request in flight nothing can be batched. With more in flight, the number of replies per read
 * depends on timing: identical code has differed by a factor of 3.
 * @param {object} counted
 * @param {number | null} counted.count count per operation; null: unknown
 * @param {number | null} counted.reference 1 for a limit by itself
 * @param {number} counted.limit
 * @param {boolean} counted.isBatched whether it is a ratio with more than one request in flight
 * @param {number} counted.wakeUps counts that may not belong to operations
 * @param {number} counted.operations
 * @param {number} counted.n number of rounds
 * @returns {Estimate | null} null: it has to be estimated from rounds
 */
export function countedOf({ count, reference, limit, isBatched, wakeUps, operations, n }) {
  if (count === null || reference === null || !(count > 0 && reference > 0)) return null;
  const value = Math.log(count / reference);
  if (Math.abs(count - limit * reference) * operations < wakeUps) return null;
  if (isBatched && Math.abs(value - Math.log(limit)) < Math.log(COUNT_NOISE)) return null;
  return { value, half: 0, confidence: 1, deviation: 0, n };
}

/**
 * @param {Estimate} estimate
 * @param {{ limit: number, op: '<' | '>' }} gate
 * @returns {{ outcome: 'failed' | 'passed' | 'undecided', roundsNeeded: number | null }}
 */
export function decideGate(estimate, { limit, op }) {
  const { value, half } = estimate;
  const over = value - Math.log(limit);
  if (isSplit(estimate, { limit })) return { outcome: 'undecided', roundsNeeded: null };
  if (half > 0 && Math.abs(over) <= half) {
    return { outcome: 'undecided', roundsNeeded: roundsToDecide(estimate, Math.abs(over)) };
  }
  const isBeyond = op === '<' ? over < 0 : over > 0;
  return { outcome: isBeyond ? 'failed' : 'passed', roundsNeeded: null };
}

/**
 * @param {Estimate} estimate
 * @param {{ limit: number }} gate
 * @returns {boolean} whether the typical figure and the throughput are on different sides of the
 *   limit
 */
export function isSplit({ value, mean = value }, { limit }) {
  const [over, overOfAll] = [value - Math.log(limit), mean - Math.log(limit)];
  return over * overOfAll < 0 && Math.abs(overOfAll) > Math.log1p(EFFECT_MIN);
}

/**
 * Rounds after which the same estimate would decide in 4 of 5 cases: the mean's noise shrinks by
 * their square root, and so does Student's quantile (NIST/SEMATECH e-Handbook 7.2.2.2).
 * @param {Estimate} estimate
 * @param {number} gap distance from the estimate to the limit, in logs
 * @returns {number | null} total number; null: more than 1000
 */
export function roundsToDecide({ n, confidence, deviation }, gap) {
  const decides = (/** @type {number} */ rounds) => {
    const df = rounds - 1;
    const reach = studentQuantile((1 + confidence) / 2, df) + studentQuantile(POWER, df);
    return (reach * deviation) / Math.sqrt(rounds) <= gap;
  };
  return leastRounds(n, decides);
}
