/** A synthetic result of locks, for the tests of reports. */

import { waitMetrics } from '../../workloads/mutex/waits.js';
import { benchmark, buildResult, measuredRound } from './result-builder.js';

/** @typedef {import('../../lib/result.js').Result} Result */

const SECTIONS = 2000;
const LOAD = { kind: /** @type {const} */ ('window'), inFlight: 100, operations: SECTIONS };

/**
 * @returns {Result} two kinds of lock, Test 1, 1 and 5 keys; the other kind has single keys only
 */
export function mutexResult() {
  return buildResult({
    command: 'mutex',
    benchmarks: [
      lockBenchmark('script', { keys: 1, perSecond: 20_000 }),
      lockBenchmark('script', { keys: 5, perSecond: 9_000 }),
      lockBenchmark('redlock', { keys: 1, perSecond: 8_000 }),
      {
        ...lockBenchmark('redlock', { keys: 5, perSecond: 1 }),
        state: 'skipped',
        reason: 'not supported: it has one key',
        rounds: [],
        hint: 'use --keys 1',
      },
    ],
  });
}

/**
 * @param {string} handler
 * @param {{ keys: number, perSecond: number }} figures
 * @returns {import('../../lib/result.js').Benchmark}
 */
function lockBenchmark(handler, { keys, perSecond }) {
  const load = { ...LOAD, durationNs: null };
  const rounds = [0, 1, 2].map((round) => {
    const meanNs = (LOAD.inFlight / perSecond) * 1e9;
    const waits = Array.from({ length: SECTIONS }, (_, i) =>
      Math.round(meanNs * (0.5 + ((i * 7 + round) % SECTIONS) / SECTIONS)),
    );
    return {
      ...measuredRound(round, load, { throughput: perSecond, clientCpuNs: 60_000 }),
      metrics: {
        sections: SECTIONS,
        violations: 0,
        tasks: 100,
        fairness: 0.998,
        sectionsMin: 19,
        sectionsMax: 21,
        ...waitMetrics(waits),
      },
    };
  });
  return benchmark({
    id: `ioredis:default/mutex[test=lock,handler=${handler},keys=${keys}]/window-100`,
    storage: 'ioredis',
    workload: 'mutex',
    parameters: { test: 'lock', handler, keys },
    load,
    rounds,
  });
}
