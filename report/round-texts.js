/** Every round as texts, for the page; report/rounds.js has them as plain numbers, for CSV. */

import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMicroseconds,
  formatThroughput,
  NONE,
  plainText,
} from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { loadName } from '../lib/load-name.js';
import { OUTCOMES } from '../lib/outcome.js';

/** @typedef {import('../lib/result.js').Round} Round */

/** @type {readonly (readonly [string, (round: Round) => string])[]} */
const ROUND_COLUMNS = [
  ['round', ({ round }) => formatCount(round + 1)],
  ['position', ({ position }) => formatCount(position + 1)],
  ['state', ({ state }) => state],
  ['scheduled', ({ scheduled }) => formatCount(scheduled)],
  ...OUTCOMES.map(
    (name) =>
      /** @type {[string, (round: Round) => string]} */ ([
        name,
        ({ outcomes }) => formatCount(outcomes[name]),
      ]),
  ),
  ['open', ({ createdNs }) => formatDuration(createdNs)],
  ['duration', ({ durationNs, state }) => formatDuration(state === 'failed' ? null : durationNs)],
  ['ops/s', ({ throughput, state }) => formatThroughput(state === 'failed' ? null : throughput)],
  ['in flight', ({ inFlightMean }) => formatThroughput(inFlightMean)],
  ['p50', ({ latency }) => formatDuration(latency?.p50Ns ?? null)],
  ['p90', ({ latency }) => formatDuration(latency?.p90Ns ?? null)],
  ['p99', ({ latency }) => formatDuration(latency?.p99Ns ?? null)],
  ['p99.9', ({ latency }) => formatDuration(latency?.p999Ns ?? null)],
  ['max', ({ latency }) => formatDuration(latency?.maxNs ?? null)],
  ['client CPU, s', ({ client }) => seconds(client && client.userNs + client.systemNs)],
  ['server CPU, s', ({ server }) => seconds(server?.cpuNs ?? null)],
  ['client memory', ({ client }) => formatBytes(client?.rssBytesMax ?? null)],
  ['GC runs', ({ client }) => formatCount(client?.gcCount ?? null)],
  ['GC time', ({ client }) => formatDuration(client?.gcNs ?? null)],
  ['canary µs', ({ conditions }) => formatMicroseconds(conditions?.canaryNs ?? null)],
];

/** Outcomes that need no column where there is none of them. */
const OPTIONAL = new Set(OUTCOMES.filter((name) => name !== 'ok').map(String));

/** @param {number | null} ns */
function seconds(ns) {
  return ns === null ? NONE : (ns / 1e9).toFixed(3);
}

/**
 * @param {import('../lib/result.js').Result} result
 * @returns {import('../lib/report-types.js').RoundTexts} of each round of each benchmark, in the
 *   columns that have something in one of them
 */
export function roundTextsOf({ benchmarks }) {
  const rounds = benchmarks.flatMap((benchmark) => benchmark.rounds);
  const columns = ROUND_COLUMNS.filter(([name, text]) => {
    const nothing = OPTIONAL.has(name) ? '0' : NONE;
    return rounds.some((round) => text(round) !== nothing);
  });
  return {
    columns: [
      { name: 'benchmark', align: 'left' },
      ...columns.map(([name]) => ({
        name,
        align: /** @type {'left' | 'right'} */ (name === 'state' ? 'left' : 'right'),
      })),
    ],
    rows: benchmarks.flatMap((benchmark) =>
      benchmark.rounds.map((round) => ({
        texts: [
          plainText(`${labelOf(benchmark)}, ${benchmark.workload}, ${loadName(benchmark.load)}`),
          ...columns.map(([, text]) => text(round)),
        ],
        of: labelOf(benchmark),
      })),
    ),
  };
}
