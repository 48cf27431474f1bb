/**
 * Drift within a process: its first against its last third of slices, block state out. It stands in
 * the place of a test for a steady state, which short slices on a shared machine never pass.
 *
 * Goals: to mark what was surely still warming up, or wearing out. Non-goals: to mark noise: a row
 * is marked only where the whole interval lies beyond ± 2 %.
 */

import { mean, sampleStandardDeviation } from 'simple-statistics';
import { TRIM, trimmedMean } from './blocks.js';
import { CONFIDENCE } from './interval.js';
import { studentQuantile } from './student.js';

/** What a row may drift without being marked, as a share. */
export const DRIFT_MAX = 0.02;

/**
 * @typedef {object} Drift of the time per operation, last third over first third
 * @property {number} ratio 0.9: the last third took 10 % less time
 * @property {number} low
 * @property {number} high
 * @property {boolean} marked
 */

/**
 * @param {readonly (readonly (number | null)[])[]} residuals of one contender by round and block
 * @param {{ trim?: number, confidence?: number }} [options]
 * @returns {Drift | null} null: fewer than two rounds, or of three blocks
 */
export function driftOf(residuals, { trim = TRIM, confidence = CONFIDENCE } = {}) {
  const steps = residuals.flatMap((row) => {
    const third = Math.floor(row.length / 3);
    const step = trimmedMean(row.slice(-third), trim) - trimmedMean(row.slice(0, third), trim);
    return third > 0 && Number.isFinite(step) ? [step] : [];
  });
  if (steps.length < 2) return null;
  const centre = mean(steps);
  const t = studentQuantile((1 + confidence) / 2, steps.length - 1);
  const half = (t * sampleStandardDeviation(steps)) / Math.sqrt(steps.length);
  const limit = Math.log1p(DRIFT_MAX);
  return {
    ratio: Math.exp(centre),
    low: Math.exp(centre - half),
    high: Math.exp(centre + half),
    marked: centre - half > limit || centre + half < -limit,
  };
}
