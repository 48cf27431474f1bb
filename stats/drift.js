/**
 * Drift within a process: its first against its last third of slices without block state, or of the
 * windows of a long segment. Used instead of a test for a steady state, which hardly ever passes on
 * a shared machine.
 *
 * Goals: to mark rows that were still warming up, or degrading. Non-goals: to mark noise: a row is
 * marked only if the whole interval lies beyond ± 2 %.
 */

import { mean } from 'simple-statistics';
import { TRIM, trimmedMean } from './blocks.js';
import { CONFIDENCE, studentHalf } from './interval.js';

/** Drift below which a row is not marked, as a share. */
export const DRIFT_MAX = 0.02;

/**
 * @typedef {object} Drift drift of the time per operation, last third over first third
 * @property {number} ratio 0.9: the last third took 10 % less time
 * @property {number} low
 * @property {number} high
 * @property {boolean} marked
 */

/** Fewer windows of a timeline show no trend. */
const WINDOWS_MIN = 10;

/**
 * The windows of the timelines of a closed loop as the blocks of its segments.
 * @param {readonly import('../lib/result.js').Round[]} rounds measured rounds
 * @returns {(number | null)[][]} log of ns per operation by round and window, without the
 *   incomplete last window of each; empty for rounds of less than a second
 */
export function windowsOf(rounds) {
  return rounds.flatMap(({ timeline: { windowNs, operations } }) => {
    const whole = operations.slice(0, -1);
    if (windowNs === 0 || whole.length < WINDOWS_MIN) return [];
    return [whole.map((count) => (count > 0 ? Math.log(windowNs / count) : null))];
  });
}

/**
 * @param {readonly (readonly (number | null)[])[]} residuals residuals of one contender by round
 *   and block
 * @param {{ trim?: number, confidence?: number }} [options]
 * @returns {Drift | null} null: fewer than two rounds of at least three blocks
 */
export function driftOf(residuals, { trim = TRIM, confidence = CONFIDENCE } = {}) {
  const steps = residuals.flatMap((row) => {
    const third = Math.floor(row.length / 3);
    const step = trimmedMean(row.slice(-third), trim) - trimmedMean(row.slice(0, third), trim);
    return third > 0 && Number.isFinite(step) ? [step] : [];
  });
  if (steps.length < 2) return null;
  const centre = mean(steps);
  const half = studentHalf(steps, confidence);
  const limit = Math.log1p(DRIFT_MAX);
  return {
    ratio: Math.exp(centre),
    low: Math.exp(centre - half),
    high: Math.exp(centre + half),
    marked: centre - half > limit || centre + half < -limit,
  };
}
