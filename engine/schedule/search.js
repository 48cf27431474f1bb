/**
 * The highest rate within a latency limit: a trial is a whole segment in its own process, and the
 * next rate follows from the last trial (stats/findmax.js). The result keeps each trial as a round.
 */

import { decode } from '../../measure/hdr.js';
import { findMax } from '../../stats/findmax.js';
import { loadLabel, trialLoad } from '../loads.js';
import { droppedTooMuch } from '../openloop.js';

/** @typedef {import('../../lib/result.js').Round} Round */
/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Search} Search */
/** @typedef {import('../benchmarks.js').Job} Job */
/** @typedef {import('../loads.js').SearchPlan} SearchPlan */

/** A trial without information about the rate ends the search with its message. */
class TrialFailed extends Error {}

/**
 * @param {SearchPlan} plan
 * @param {Job} job its benchmark is that of the first rate
 * @param {Result} result receives the search, and a benchmark for each rate
 * @returns {Generator<Job, void, Round>} yields the next trial, receives its round
 */
export function* search(plan, job, result) {
  const { storage, profile, workload } = job.benchmark;
  const { percentile, limitNs, start } = plan;
  /** @type {Search} */
  const record = {
    storage,
    profile,
    workload,
    percentile,
    limitNs,
    rate: null,
    confirmed: false,
    reason: 'not finished',
    points: [],
  };
  result.searches = [...(result.searches ?? []), record];
  /** @type {Generator<number, any, ReturnType<typeof evaluateTrial> & { benchmark: string }>} */
  const trials = findMax({
    start,
    onPoint({ trials: own, ...point }) {
      record.points.push({
        ...point,
        trials: own.map(({ passed, latencyNs }) => ({ passed, latencyNs })),
        benchmark: own[0].benchmark,
      });
    },
  });
  try {
    let next = trials.next();
    while (!next.done) {
      const trial = jobAt(plan, job, next.value, result.benchmarks);
      const round = yield trial;
      next = trials.next({ ...evaluateTrial(plan, round), benchmark: trial.benchmark.id });
    }
    const { rate, confirmed, reason } = next.value;
    Object.assign(record, { rate, confirmed, reason });
  } catch (error) {
    if (!(error instanceof TrialFailed)) throw error;
    record.reason = error.message;
    record.rate = greatestHeld(record);
  }
}

/** @param {Search} search */
function greatestHeld({ points }) {
  const held = points.filter(({ passed }) => passed).map(({ rate }) => rate);
  return held.length === 0 ? null : Math.max(...held);
}

/**
 * @param {SearchPlan} plan
 * @param {Job} job
 * @param {number} rate
 * @param {Result['benchmarks']} benchmarks a new rate adds one
 * @returns {Job}
 */
function jobAt(plan, job, rate, benchmarks) {
  const load = trialLoad(plan, rate);
  const id = job.benchmark.id.replace(loadLabel(job.benchmark.load), loadLabel(load));
  let benchmark = benchmarks.find((one) => one.id === id);
  if (benchmark === undefined) {
    benchmark = {
      ...job.benchmark,
      id,
      load,
      state: 'planned',
      reason: null,
      hint: null,
      rounds: [],
    };
    benchmarks.push(benchmark);
  }
  return { ...job, benchmark, load: { ...job.load, load } };
}

/**
 * A trial passes if every operation had the expected reply, almost none were dropped, and the
 * percentile of the response time is within the limit.
 * @param {{ percentile: number, limitNs: number }} plan
 * @param {Round} round
 * @returns {{ passed: boolean, latencyNs: number | null }}
 * @throws {TrialFailed} it was not measured, or replies were wrong
 */
export function evaluateTrial({ percentile, limitNs }, round) {
  const { state, failure, outcomes, latency } = round;
  if (state === 'aborted') throw new TrialFailed('the search was stopped');
  if (state === 'failed') throw new TrialFailed(failure?.message ?? 'a trial failed');
  const wrong = outcomes.miss + outcomes.mismatch + outcomes.error;
  if (wrong > 0) throw new TrialFailed(`${wrong} replies of a trial were wrong`);
  const latencyNs =
    latency === null
      ? null
      : decode(latency.histogram, { count: latency.count }).printablePercentile(percentile);
  const all = outcomes.timeout + outcomes.unsent === 0 && !droppedTooMuch(round);
  return { passed: all && latencyNs !== null && latencyNs <= limitNs, latencyNs };
}
