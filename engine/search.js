/**
 * The search of a run: for each storage the greatest rate within a latency limit. The search itself
 * is stats/findmax.js; here a trial is a benchmark in its own process, and the result keeps
 * each of them as a round.
 */

import { decode } from '../measure/hdr.js';
import { findMax } from '../stats/findmax.js';
import { loadLabel, trialLoad } from './loads.js';
import { droppedTooMuch } from './openloop.js';

/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('../lib/result.js').Search} Search */
/** @typedef {import('./benchmarks.js').Job} Job */
/** @typedef {import('./loads.js').SearchPlan} SearchPlan */

/** A trial that says nothing about the rate: it ends the search with its message. */
class TrialFailed extends Error {}

/**
 * @param {SearchPlan} plan
 * @param {Job[]} jobs one for each storage; its benchmark is that of the first rate
 * @param {object} context
 * @param {import('../lib/result.js').Result} context.result gets the searches, and a benchmark for
 *   each rate
 * @param {(job: Job, round: number) => Promise<Round>} context.run appends the round to the
 *   benchmark
 * @param {AbortSignal} [context.signal]
 */
export async function runSearches(plan, jobs, { result, run, signal }) {
  result.searches = [];
  for (const job of jobs) {
    if (signal?.aborted) return;
    const { storage, profile, workload } = job.benchmark;
    const { percentile, limitNs } = plan;
    /** @type {Search} */
    const search = {
      ...{ storage, profile, workload, percentile, limitNs },
      ...{ rate: null, confirmed: false, reason: 'not finished', points: [] },
    };
    result.searches.push(search);
    const probe = async (/** @type {number} */ rate) => {
      const trial = jobAt(plan, job, rate, result.benchmarks);
      const round = await run(trial, trial.benchmark.rounds.length);
      return { ...evaluateTrial(plan, round), benchmark: trial.benchmark.id };
    };
    try {
      const { rate, confirmed, reason } = await findMax(probe, {
        start: plan.start,
        signal,
        onPoint: ({ trials, ...point }) => {
          search.points.push({
            ...point,
            trials: trials.map(({ passed, latencyNs }) => ({ passed, latencyNs })),
            benchmark: trials[0].benchmark,
          });
        },
      });
      Object.assign(search, { rate, confirmed, reason });
    } catch (error) {
      if (!(error instanceof TrialFailed)) throw error;
      search.reason = error.message;
      search.rate = greatestHeld(search);
    }
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
 * @param {import('../lib/result.js').Benchmark[]} benchmarks gets one for a rate that is new
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
  return { ...job, benchmark, spec: { ...job.spec, load } };
}

/**
 * A trial holds where every operation was answered rightly, as good as none was dropped, and the
 * percentile of the response time is within the limit.
 * @param {{ percentile: number, limitNs: number }} plan
 * @param {Round} round
 * @returns {{ passed: boolean, latencyNs: number | null }}
 * @throws {TrialFailed} where it was not measured, or answers were wrong
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
