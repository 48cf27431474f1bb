/** A result as a list of rows, for programs: the figures of the tables as numbers. Pure. */

import { toGroups } from './analysis/rows.js';

/**
 * @typedef {object} SummaryRow
 * @property {string} id id of the benchmark
 * @property {string} storage
 * @property {string} profile
 * @property {string} workload
 * @property {import('../lib/result.js').Load} load
 * @property {import('../lib/result.js').Benchmark['state']} state
 * @property {number} n rounds measured
 * @property {{ value: number, low: number | null, high: number | null } | null} throughput verified
 *   operations per second, with the 95 % interval; null: not measured
 * @property {number | null} p50Ns
 * @property {number | null} p99Ns null if fewer than ten values lie above
 * @property {number | null} clientCpuNs per operation
 * @property {number | null} serverCpuNs per operation
 * @property {{ best: number, worst: number } | null} rank tied contenders have a common range
 * @property {{ ratio: number, low: number | null, high: number | null } | null} vsFastest ratio to
 *   the fastest of the load; with --against, to the reference
 * @property {number} wrong operations with a wrong or missing reply, or an error
 */

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {SummaryRow[]} by load, the fastest first; without skipped benchmarks
 */
export function summarize(result) {
  return toGroups(result).flatMap(({ rows, workload, load }) =>
    rows.map(({ source, throughput, latency, ratio, ...row }) => ({
      id: source.id,
      storage: source.storage,
      profile: source.profile,
      workload,
      load,
      state: source.state,
      n: row.n,
      rank: row.rank,
      wrong: row.wrong,
      throughput: throughput && {
        value: throughput.value,
        low: throughput.low,
        high: throughput.high,
      },
      p50Ns: latency?.p50Ns ?? null,
      p99Ns: latency?.p99Ns ?? null,
      clientCpuNs: row.clientCpuNs,
      serverCpuNs: row.serverCpuNs,
      vsFastest: ratio && { ratio: ratio.ratio, low: ratio.low, high: ratio.high },
    })),
  );
}
