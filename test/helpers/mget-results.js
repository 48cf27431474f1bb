/** Synthetic results of multi-key fetches, for the tests of reports. */

import { benchmark, buildResult, measuredRound } from './result-builder.js';

/** @typedef {import('../../lib/result.js').Result} Result */

const CYCLES = 50;
const KEYS = [1, 1, 10, 50, 100];
const IN_FLIGHT = [1, 4, 16];

/** @returns {Result} medians by keys, for several numbers in flight */
export function mgetResult() {
  const benchmarks = IN_FLIGHT.map((inFlight) =>
    fetchBenchmark(
      inFlight,
      KEYS.map((keys, i) => ({ keys, warmup: i === 0, sizes: Array(CYCLES).fill(keys) })),
    ),
  );
  return buildResult({ command: 'mget concurrency', benchmarks });
}

/** @returns {Result} fetches of different sizes, one point each */
export function scatterResult() {
  const sizes = Array.from({ length: 200 }, (_, i) => 1 + ((i * 37) % 100));
  return buildResult({
    command: 'mget scatter',
    benchmarks: [fetchBenchmark(4, [{ keys: null, warmup: false, sizes }])],
  });
}

/**
 * @param {number} inFlight
 * @param {{ keys: number | null, warmup: boolean, sizes: number[] }[]} all
 * @returns {import('../../lib/result.js').Benchmark}
 */
function fetchBenchmark(inFlight, all) {
  const operations = all.reduce((sum, { sizes }) => sum + sizes.length, 0);
  const load = { kind: /** @type {const} */ ('window'), inFlight, operations, durationNs: null };
  const rounds = [0, 1].map((round) => ({
    ...measuredRound(round, load, { throughput: 5000, clientCpuNs: 40_000 }),
    series: all.map(({ keys, warmup, sizes }) => {
      const latenciesNs = sizes.map(
        (n, i) => inFlight * (80_000 + 3000 * n) + ((i * 13) % 50) * 500,
      );
      const sorted = latenciesNs.toSorted((a, b) => a - b);
      const durationNs = latenciesNs.reduce((sum, ns) => sum + ns, 0) / inFlight;
      return {
        keys,
        warmup,
        cycles: sizes.length,
        ok: sizes.length,
        medianNs: (sorted[(sorted.length >> 1) - 1] + sorted[sorted.length >> 1]) / 2,
        p90Ns: null,
        p99Ns: null,
        minNs: sorted[0],
        maxNs: sorted[sorted.length - 1],
        durationNs,
        throughput: (sizes.length / durationNs) * 1e9,
        inFlightMean: inFlight,
        latenciesNs,
        ...(keys === null && { keysOf: sizes }),
      };
    }),
  }));
  return benchmark({
    id: `ioredis:default/mget/window-${inFlight}`,
    storage: 'ioredis',
    workload: 'mget',
    load,
    rounds,
  });
}
