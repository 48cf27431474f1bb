/** Synthetic results of open loops, of a search and of a mix, for the tests of reports. */

import { loadLabel } from '../../engine/loads.js';
import { openLoopWarnings } from '../../engine/openloop.js';
import { benchmark, buildResult, measuredRound } from './result-builder.js';

/** @typedef {import('../../lib/result.js').Load} Load */
/** @typedef {import('../../lib/result.js').Round} Round */

/**
 * @param {number} rate
 * @param {Partial<Load>} [rest]
 * @returns {Load}
 */
function rateLoad(rate, rest = {}) {
  const fixed = { inFlight: null, operations: rate * 2, durationNs: null };
  return { kind: 'rate', ...fixed, rate, arrivals: 'constant', maxInFlight: 1000, ...rest };
}

/**
 * @param {Load} load
 * @param {number} round
 * @param {{ dropped?: number, late?: number }} [counts]
 * @returns {Round}
 */
function rateRound(load, round, { dropped = 0, late = 0 } = {}) {
  const throughput = Number(load.rate) * (1 - round * 1e-4);
  const measured = measuredRound(round, load, { throughput, outcomes: { dropped } });
  const { scheduled, latency } = measured;
  const sent = scheduled - dropped;
  const open = { offered: scheduled, sent, completed: sent, dropped, late, lateNsMax: late * 1e4 };
  return { ...measured, open: { ...open, service: latency } };
}

/**
 * @param {string} storage
 * @param {Load} load
 * @param {{ dropped?: number, late?: number }} [counts]
 */
function rateBenchmark(storage, load, counts) {
  const rounds = [0, 1, 2].map((round) => rateRound(load, round, counts));
  return benchmark({ storage, load, id: `${storage}:default/get/${loadLabel(load)}`, rounds });
}

/** A ramp of two storages; the last step exceeds the capacity of one of them. */
export function rampResult() {
  const steps = [5000, 10_000, 20_000].map((rate) => rateLoad(rate));
  const result = buildResult({
    options: { rounds: 3, workloadOptions: { keys: 'zipf:0.99' } },
    benchmarks: [
      ...steps.map((load) => rateBenchmark('redis', load)),
      rateBenchmark('ioredis', steps[0]),
      rateBenchmark('ioredis', steps[1], { late: 300 }),
      rateBenchmark('ioredis', steps[2], { late: 4100, dropped: 120 }),
    ],
    harnessOverhead: [],
  });
  return { ...result, warnings: openLoopWarnings(result) };
}

/** A confirmed search, and an unconfirmed one. */
export function searchResult() {
  const loads = [4000, 8000, 4200].map((rate) => rateLoad(rate));
  const point = (
    /** @type {number} */ rate,
    /** @type {string} */ phase,
    /** @type {boolean} */ passed,
  ) => ({
    rate,
    phase,
    passed,
    benchmark: `redis:default/get/rate-${rate}`,
    trials: [1, 1.1].map((factor) => ({ passed, latencyNs: (passed ? 4.5e6 : 7e6) * factor })),
  });
  const limit = { workload: 'get', percentile: 0.99, limitNs: 5e6, profile: 'default' };
  return buildResult({
    benchmarks: [
      ...loads.map((load) => rateBenchmark('redis', load)),
      benchmark({
        storage: 'mysql2',
        load: loads[0],
        state: 'skipped',
        reason: 'no server answers',
      }),
    ],
    searches: [
      {
        ...limit,
        storage: 'redis',
        rate: 4000,
        confirmed: true,
        reason: null,
        points: [
          point(4000, 'double', true),
          point(8000, 'double', false),
          point(4000, 'confirm', true),
          point(4200, 'beyond', false),
        ],
      },
      {
        ...limit,
        storage: 'ioredis',
        rate: null,
        confirmed: false,
        points: [],
        reason: '62.5 per second already exceeds the limit',
      },
    ],
    harnessOverhead: [],
  });
}

/** Reads and writes in a window. */
export function mixResult() {
  /** @type {Load} */
  const load = { kind: 'window', inFlight: 100, operations: 20_000, durationNs: null };
  const rounds = [0, 1].map((round) => {
    const measured = measuredRound(round, load, { throughput: 50_000 + round });
    const share = { ...load, operations: 1000 };
    const set = measuredRound(round, share, { throughput: 9000 }).latency;
    const get = measuredRound(round, { ...load, operations: 19_000 }, { throughput: 50_000 });
    const kinds = [
      { name: 'get', ok: 19_000, latency: get.latency },
      { name: 'set', ok: 1000, latency: set },
    ];
    return { ...measured, kinds };
  });
  return buildResult({
    options: { workloadOptions: { mix: 'get:95,set:5' } },
    benchmarks: [
      benchmark({ storage: 'redis', workload: 'mix', load, rounds }),
      benchmark({
        storage: 'hiredis',
        workload: 'mix',
        load,
        state: 'skipped',
        reason: 'it does not offer set',
        hint: 'choose storages that do: dragstrip list',
      }),
    ],
  });
}
