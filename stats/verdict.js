/**
 * The verdict of a comparison: faster, slower, same, or undecided with the rounds required to
 * decide.
 *
 * Goal: both "different" and "same" must be shown; everything else is undecided and is never
 * treated as the same. Non-goal: computing ratio, p and noise; compare.js does.
 */

import { studentQuantile } from './student.js';

/** Smallest effect that counts as a difference: 1 %. */
export const EFFECT_MIN = 0.01;

/**
 * Widest margin within which benchmarks are called the same: 5 %. A noisier run cannot show
 * equality; without this bound it would call everything the same.
 */
export const SAME_MAX = 0.05;

/** Above this number of rounds the estimate is null. */
export const ROUNDS_MAX = 1000;

/** Probability that the suggested rounds decide, if the estimate is true. */
const POWER = 0.8;

/** @typedef {'faster' | 'slower' | 'same' | 'undecided'} Verdict */

/**
 * @typedef {object} Judgement
 * @property {Verdict} verdict of A against B
 * @property {number} margin the effect that had to be exceeded, as a share
 * @property {number | null} roundsNeeded estimated total number of rounds that would decide;
 *   null if decided, unknown, or above ROUNDS_MAX
 */

/**
 * The margin of a run: the larger of 1 % and its A/A noise.
 * @param {number | null | undefined} noise share of 1; null: unknown, so the 1 % alone
 * @returns {number}
 */
export function marginOf(noise) {
  return Math.max(EFFECT_MIN, noise ?? 0);
}

/**
 * "Different" if the interval excludes 1, p after Holm is within the level, and the effect exceeds
 * the margin; "same" if the whole interval lies within the margin, 5 % at most (two
 * one-sided tests, Schuirmann 1987). The margin is a factor: r and 1/r are equally far
 * from 1.
 * @param {import('./ratio.js').RatioInterval} interval
 * @param {{ noise?: number | null, pHolm?: number | null, better?: 'higher' | 'lower' }} [options]
 *   pHolm: p of the same test after Holm; absent or null: a single comparison.
 *   better: whether a greater value is faster (throughput) or slower (latency)
 * @returns {Judgement}
 */
export function verdictOf(interval, { noise = null, pHolm = null, better = 'higher' } = {}) {
  const margin = marginOf(noise);
  const { ratio, low, high, p, confidence } = interval;
  if (ratio === null || low === null || high === null || p === null) {
    return { verdict: 'undecided', margin, roundsNeeded: null };
  }
  const excludesOne = (low > 1 || high < 1) && (pHolm ?? 0) <= 1 - confidence;
  const beyond = Math.abs(Math.log(ratio)) > Math.log1p(margin);
  if (excludesOne && beyond) {
    const verdict = ratio > 1 === (better === 'higher') ? 'faster' : 'slower';
    return { verdict, margin, roundsNeeded: null };
  }
  const within = 1 + Math.min(margin, SAME_MAX);
  if (high <= within && low >= 1 / within) {
    return { verdict: 'same', margin, roundsNeeded: null };
  }
  return { verdict: 'undecided', margin, roundsNeeded: roundsNeeded(interval, { margin, pHolm }) };
}

/**
 * Number of rounds after which the same ratio and variance would decide in 4 of 5 cases: the
 * smallest n with (t(α/2) + t(power)) · s / √n at most the gap. The gap is the distance to 1 if the
 * effect exceeds the margin, otherwise the distance to the nearer margin. This is the usual sample
 * size formula (NIST/SEMATECH e-Handbook 7.2.2.2) with t instead of z.
 * @param {import('./ratio.js').RatioInterval} interval
 * @param {{ margin: number, pHolm?: number | null }} options
 * @returns {number | null} more than `interval.n`; null: unknown, or above ROUNDS_MAX
 */
export function roundsNeeded(interval, { margin, pHolm = null }) {
  const { ratio, logDeviation, n, p, confidence } = interval;
  if (ratio === null || logDeviation === null) return null;
  const effect = Math.abs(Math.log(ratio));
  const limit = Math.log1p(margin);
  const gap = effect > limit ? effect : Math.log1p(Math.min(margin, SAME_MAX)) - effect;
  if (gap <= 0) return null; // exceeds SAME_MAX, but within the noise
  // Holm lowers the level of each comparison, by the factor by which it raised p.
  const factor = pHolm && p ? Math.max(1, pHolm / p) : 1;
  const alpha = (1 - confidence) / factor;
  const decides = (/** @type {number} */ rounds) => {
    const reach = studentQuantile(1 - alpha / 2, rounds - 1) + studentQuantile(POWER, rounds - 1);
    return (reach * logDeviation) / Math.sqrt(rounds) <= gap;
  };
  if (n >= ROUNDS_MAX || !decides(ROUNDS_MAX)) return null;
  let low = n;
  let high = ROUNDS_MAX;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (decides(middle)) high = middle;
    else low = middle;
  }
  return high;
}
