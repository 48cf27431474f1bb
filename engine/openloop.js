/**
 * Conditions that make an open-loop test invalid or weak, and their warnings. Pure.
 */

import { outageWarnings } from './outages.js';

/** Above this share of dropped operations the remaining load is a different one. */
export const DROPPED_SHARE_MAX = 0.001;
/** Above this share of late operations the client, not the server, was the bottleneck. */
export const LATE_SHARE_MAX = 0.01;

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */

/**
 * @param {Round} round
 * @returns {boolean} whether too many operations were dropped
 */
export function droppedTooMuch({ outcomes, scheduled }) {
  return outcomes.dropped > scheduled * DROPPED_SHARE_MAX;
}

/**
 * @param {Result} result
 * @returns {Result['warnings']} empty for a search, in which a missed rate is a result
 */
export function openLoopWarnings({ benchmarks, searches }) {
  if (searches !== undefined) return [];
  const open = benchmarks.filter(({ load }) => load.kind === 'rate');
  return [outageWarnings(open), open.flatMap(droppedWarning), lateWarning(open)].flat();
}

/** @param {Benchmark} benchmark */
function droppedWarning({ id, rounds, load }) {
  if (!rounds.some(droppedTooMuch)) return [];
  const [dropped, offered] = sums(rounds, 'dropped');
  return {
    code: 'W_DROPPED',
    message:
      `${share(dropped, offered)} of the operations were not sent, because ${load.maxInFlight} ` +
      'were in flight: this benchmark is invalid',
    hint: 'lower --rate, or raise --max-in-flight',
    benchmark: id,
  };
}

/**
 * One warning for all tests: the client causes lateness, and a ramp has many tests.
 * @param {Benchmark[]} benchmarks
 */
function lateWarning(benchmarks) {
  const late = benchmarks.filter(({ rounds }) => {
    const [count, offered] = sums(rounds, 'late');
    return count > offered * LATE_SHARE_MAX;
  });
  if (late.length === 0) return [];
  const most = Math.max(
    ...late.map(({ rounds }) => {
      const [count, offered] = sums(rounds, 'late');
      return count / offered;
    }),
  );
  const where =
    benchmarks.length === 1 ? '' : ` in ${late.length} of ${benchmarks.length} open loops`;
  return {
    code: 'W_LATE',
    message:
      `up to ${share(most, 1)} of the operations${where} were sent more than 1 ms after they ` +
      'were due: the client could not keep up; response times include the delay, service times do not',
    hint: 'lower --rate, or give the client more processors',
    benchmark: late.length === 1 ? late[0].id : null,
  };
}

/**
 * @param {readonly Round[]} rounds
 * @param {'dropped' | 'late'} field
 * @returns {[number, number]} the count and the offered operations of all rounds
 */
function sums(rounds, field) {
  let [sum, offered] = [0, 0];
  for (const { open } of rounds) {
    sum += open?.[field] ?? 0;
    offered += open?.offered ?? 0;
  }
  return [sum, offered];
}

/**
 * @param {number} part
 * @param {number} whole
 */
function share(part, whole) {
  return `${Number(((part / whole) * 100).toPrecision(2))} %`;
}
