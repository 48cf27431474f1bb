/**
 * Compares two runs over many benchmarks: ratio, interval and answer of each.
 *
 * Goals: an interval consistent with the answer, so that it includes 1 if there is no difference to
 * report: Holm's correction lowers the level of a benchmark, and its interval uses the lowered
 * level. Non-goals: reading results, and deciding whether two are comparable.
 */

import { mean, sampleVariance } from 'simple-statistics';
import { studentQuantile } from './distributions.js';
import { roundsToDecide } from './gate.js';
import { holm } from './holm.js';
import { CONFIDENCE } from './interval.js';
import { answerOf, EFFECT_MIN, isDecided, TIED_MAX } from './separation.js';
import { welchTest } from './welch.js';

/**
 * @typedef {object} Runs
 * @property {readonly number[]} a values of one run by round; more is faster
 * @property {readonly number[]} b values of the other run
 * @property {number} [margin] smallest relevant effect, as a share; 1 % by default
 *
 * @typedef {object} Compared
 * @property {number | null} ratio ratio of A to B, 1.05: A is 5 % faster; null: nothing is
 *   comparable
 * @property {number | null} low null: a side has one round
 * @property {number | null} high
 * @property {number} confidence confidence of the interval, after Holm
 * @property {number | null} p two-sided, after Holm
 * @property {number} n rounds of the side that has fewer
 * @property {number} margin
 * @property {import('./separation.js').Answer} answer
 * @property {number | null} roundsNeeded total rounds that would decide in 4 of 5 cases; null:
 *   decided, unknown, or more than 1000
 */

/**
 * @param {readonly Runs[]} all all comparisons of a report, for Holm's correction
 * @param {{ confidence?: number }} [options]
 * @returns {Compared[]} in the order of `all`
 */
export function compareRuns(all, { confidence = CONFIDENCE } = {}) {
  const logs = all.map(({ a, b }) => [a, b].map((values) => values.map(Math.log)));
  const tests = logs.map(([a, b]) =>
    welchTest(a.filter(Number.isFinite), b.filter(Number.isFinite)),
  );
  const adjusted = holm(tests.map(({ p }) => p));
  return all.map(({ a, b, margin = EFFECT_MIN }, i) => {
    const [first, second] = logs[i];
    const n = Math.min(a.length, b.length);
    const isPositive = n > 0 && [...first, ...second].every(Number.isFinite);
    const value = isPositive ? mean(first) - mean(second) : 0;
    const { p, df, standardError } = tests[i];
    const pHolm = adjusted[i];
    const none = { low: null, high: null, confidence, p: null, roundsNeeded: null };
    const shown = { ratio: isPositive ? Math.exp(value) : null, n, margin };
    if (!isPositive || p === null || pHolm === null) {
      return { ...shown, ...none, answer: /** @type {const} */ ('not resolved') };
    }
    const error = (1 - confidence) * (pHolm > 0 ? p / pHolm : 1 / all.length);
    const half = df === null ? 0 : studentQuantile(1 - error / 2, df) * (standardError ?? 0);
    const answer = answerOf(value, half, margin);
    const deviation = Math.sqrt(sampleVariance(first) + sampleVariance(second));
    const estimate = { value, half, confidence: 1 - error, deviation, n, freedom: oneLess };
    const effect = Math.abs(value);
    const gap = effect > Math.log1p(margin) ? effect : Math.log1p(TIED_MAX) - effect;
    return {
      ...shown,
      low: Math.exp(value - half),
      high: Math.exp(value + half),
      confidence: 1 - error,
      p: pHolm,
      answer,
      roundsNeeded:
        isDecided(answer) || answer === 'tied' || gap <= 0 ? null : roundsToDecide(estimate, gap),
    };
  });
}

/** @param {number} rounds */
function oneLess(rounds) {
  return rounds - 1;
}
