/**
 * Correction of coordinated omission, after the fact: a closed loop that waits for a slow reply
 * does not send what it would have sent meanwhile, so the slow time is seen once instead of often.
 *
 * Goals: what the closed loop left out, for comparison with the open loop. Non-goals: a substitute
 * for the open loop (`rate`), which does not leave anything out; the interval here is a guess.
 */

import { usageError } from '../errors.js';

/** Different values that may come out; a stall of an hour at 1 µs would give 3.6 billion. */
const VALUES_MAX = 10_000_000;

/**
 * For each value beyond the expected interval, also value - interval, value - 2 · interval, … down
 * to the interval itself: the waits of the requests that were due meanwhile (Gil Tene's
 * HdrHistogram, recordValueWithExpectedInterval).
 * @param {readonly number[]} values of any unit
 * @param {number} expectedInterval between two operations, in the same unit, above 0
 * @returns {number[]} ascending, the given values among them
 * @throws {import('../errors.js').DragstripError} E_USAGE for an interval of 0 or below, or so
 *   small that more than 10 million different values would result
 */
export function correctOmission(values, expectedInterval) {
  const counts = correctOmissionCounts(
    values.map((value) => [value, 1]),
    expectedInterval,
  );
  const corrected = [];
  for (const [value, count] of counts) {
    for (let i = 0; i < count; i += 1) corrected.push(value);
  }
  return corrected;
}

/**
 * The same for counted values, as the buckets of a histogram.
 * @param {Iterable<readonly [value: number, count: number]>} entries value and how often it occurs
 * @param {number} expectedInterval in the unit of the values, above 0
 * @returns {[value: number, count: number][]} ascending by value, each value once
 * @throws {import('../errors.js').DragstripError} E_USAGE as correctOmission
 */
export function correctOmissionCounts(entries, expectedInterval) {
  if (!(expectedInterval > 0)) {
    throw usageError(`the expected interval must be above 0, it is ${expectedInterval}`);
  }
  /** @type {Map<number, number>} */
  const counts = new Map();
  let total = 0;
  for (const [value, count] of entries) {
    if (!Number.isFinite(value)) throw usageError(`correctOmission: not a finite value: ${value}`);
    const missing = Math.max(0, Math.floor(value / expectedInterval) - 1);
    total += missing + 1;
    if (total > VALUES_MAX) {
      throw usageError(
        `an expected interval of ${expectedInterval} makes more than ${VALUES_MAX} values`,
        'give a longer expected interval, in the unit of the values',
      );
    }
    counts.set(value, (counts.get(value) ?? 0) + count);
    for (let k = 1; k <= missing; k += 1) {
      // From the value and not from the last one, so that no rounding adds up.
      const omitted = value - k * expectedInterval;
      counts.set(omitted, (counts.get(omitted) ?? 0) + count);
    }
  }
  return [...counts].sort(([a], [b]) => a - b);
}
