/**
 * The verdict of a comparison: faster, slower, same, or undecided with the rounds it would take.
 *
 * Goals: "different" and "same" both have to be shown; what neither is shown for is undecided, and
 * never passes for the same. Non-goals: comparing; compare.js brings ratio, p and noise together.
 */

import { studentQuantile } from './student.js';

/** The least effect that counts as a difference, as a share: 1 %. */
export const EFFECT_MIN = 0.01;

/**
 * The widest margin within which things are called the same, as a share: 5 %. A run whose noise is
 * greater cannot show that two things are equal; without this bound it would call everything so.
 */
export const SAME_MAX = 0.05;

/** Beyond this many rounds the answer is "more than can be asked": null. */
export const ROUNDS_MAX = 1000;

/** How surely the rounds that are asked for shall decide, were the estimate true. */
const POWER = 0.8;

/** @typedef {'faster' | 'slower' | 'same' | 'undecided'} Verdict */

/**
 * @typedef {object} Judgement
 * @property {Verdict} verdict of A against B
 * @property {number} margin the effect that had to be exceeded, as a share of 1
 * @property {number | null} roundsNeeded estimate of the rounds (in all, not further ones) that
 *   would decide; null where it is decided, or cannot be told, or is more than ROUNDS_MAX
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
 * "Different" only if the interval excludes 1, p after Holm is within the level, and the effect is
 * beyond the margin; "same" if the whole interval lies within the margin, 5 % at most (two
 * one-sided tests, Schuirmann 1987). The margin is meant as a factor: a ratio r is as far from 1 as
 * 1/r.
 * @param {import('./ratio.js').RatioInterval} interval
 * @param {{ noise?: number | null, pHolm?: number | null, better?: 'higher' | 'lower' }} [options]
 *   pHolm: p of the same test after Holm; absent or null: a single comparison.
 *   better: whether a greater value is the faster one (throughput) or not (latency)
 * @returns {Judgement}
 */
export function judge(interval, { noise = null, pHolm = null, better = 'higher' } = {}) {
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
 * Rounds after which the same ratio and the same variance would decide, in 4 of 5 cases: so many
 * that (t(α/2) + t(power)) · s / √n is no more than the gap. The gap is the distance to 1 where
 * the effect is beyond the margin, else the distance to the nearer margin. The usual formula of a
 * sample size (NIST/SEMATECH e-Handbook 7.2.2.2), with t in the place of z.
 * @param {import('./ratio.js').RatioInterval} interval
 * @param {{ margin: number, pHolm?: number | null }} options
 * @returns {number | null} more than `interval.n`; null: cannot be told, or above ROUNDS_MAX
 */
export function roundsNeeded(interval, { margin, pHolm = null }) {
  const { ratio, logDeviation, n, p, confidence } = interval;
  if (ratio === null || logDeviation === null) return null;
  const effect = Math.abs(Math.log(ratio));
  const limit = Math.log1p(margin);
  const gap = effect > limit ? effect : Math.log1p(Math.min(margin, SAME_MAX)) - effect;
  if (gap <= 0) return null; // beyond what counts as the same, but within the noise
  // Holm asks a smaller level of each comparison; the factor by which it raised p tells which.
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
