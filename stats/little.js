/**
 * Checks a benchmark by Little's law: mean in flight = throughput × mean latency. If it does not
 * hold, one of the three was measured wrongly, and the benchmark is marked as inconsistent.
 *
 * Goal: a check that detects an error in any single counter. Non-goal: identifying which one.
 */

import { usageError } from '../lib/errors.js';

/** Maximum relative difference: 2 %. */
export const LITTLE_TOLERANCE = 0.02;

/**
 * @typedef {object} LittleCheck
 * @property {boolean} holds
 * @property {number} expected throughput × mean latency
 * @property {number} measured mean in flight
 * @property {number | null} difference measured / expected - 1; null if nothing was expected
 */

/**
 * J. D. C. Little, "A proof for the queuing formula L = λW", Operations Research 9 (1961).
 * @param {object} benchmark
 * @param {number} benchmark.throughputPerSecond operations completed per second
 * @param {number} benchmark.latencyNsMean mean time in the system, ns
 * @param {number} benchmark.inFlightMean mean number in flight over the same time
 * @param {{ tolerance?: number }} [options] a share, 0.02 by default
 * @returns {LittleCheck}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a negative number or NaN
 */
export function littleCheck(benchmark, { tolerance = LITTLE_TOLERANCE } = {}) {
  for (const [name, value] of Object.entries(benchmark)) {
    if (!(value >= 0)) throw usageError(`littleCheck: ${name} must be 0 or more, not ${value}`);
  }
  const measured = benchmark.inFlightMean;
  const expected = (benchmark.throughputPerSecond * benchmark.latencyNsMean) / 1e9;
  if (expected === 0) return { holds: measured === 0, expected, measured, difference: null };
  const difference = measured / expected - 1;
  return { holds: Math.abs(difference) <= tolerance, expected, measured, difference };
}
