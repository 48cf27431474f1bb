/**
 * Tests of many results over time: the value of each test in each result, and changes of its level.
 * Pure. The command reads the folder; comparability of results is reported, not decided here.
 */

import { usageError } from '../../lib/errors.js';
import { sizesOf } from '../../lib/value-sizes.js';
import { mergedHistogram } from '../../measure/hdr.js';
import { changePoints, SERIES_MAX } from '../../stats/changepoint.js';
import { figureOver } from '../../stats/interval.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {'throughput' | 'p50' | 'p99' | 'cpu'} Metric */

/**
 * @typedef {object} HistoryPoint
 * @property {string} id id of the result
 * @property {string} startedAt
 * @property {number} value operations per second, or ns
 * @property {number | null} low lower end of the 95 % interval over the rounds; null: none
 * @property {number | null} high
 * @property {number} n rounds
 */

/**
 * @typedef {object} BenchmarkHistory
 * @property {string} benchmark id
 * @property {HistoryPoint[]} points in time order
 * @property {import('../../stats/changepoint.js').ChangePoint[]} changes
 * @property {string[]} mixed conditions that differ between results: `node`, `cpu`
 */

/**
 * @param {readonly Result[]} results
 * @param {{ benchmarks?: readonly string[], metric?: Metric }} [options] benchmarks: only those
 *   whose id contains one of these texts
 * @returns {BenchmarkHistory[]} one per benchmark in at least two results
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: too many results
 */
export function historyOf(results, { benchmarks = [], metric = 'throughput' } = {}) {
  if (results.length > SERIES_MAX) {
    throw usageError(`history: ${results.length} results, at most ${SERIES_MAX} are searched`);
  }
  const ordered = [...results].sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
  /** @type {Map<string, { point: HistoryPoint, result: Result }[]>} */
  const series = new Map();
  for (const result of ordered) {
    for (const benchmark of result.benchmarks) {
      const wanted =
        benchmarks.length === 0 || benchmarks.some((part) => benchmark.id.includes(part));
      const point = wanted ? pointOf(result, benchmark, metric) : null;
      if (point !== null)
        series.set(benchmark.id, [...(series.get(benchmark.id) ?? []), { point, result }]);
    }
  }
  return [...series]
    .filter(([, list]) => list.length > 1)
    .map(([benchmark, list]) => {
      const points = list.map(({ point }) => point);
      const changes = changePoints(points.map(({ value }) => value));
      return { benchmark, points, changes, mixed: mixedIn(list.map(({ result }) => result)) };
    });
}

/**
 * @param {Result} result
 * @param {Benchmark} benchmark
 * @param {Metric} metric
 * @returns {HistoryPoint | null} null: no value
 */
function pointOf({ id, startedAt }, benchmark, metric) {
  const measured = benchmark.rounds.filter(
    ({ state, outcomes }) => state === 'measured' && outcomes.ok > 0,
  );
  if (measured.length === 0 || benchmark.state === 'failed') return null;
  const values = measured.map((round) => valueIn(round, metric)).filter((value) => value !== null);
  const figure = figureOver(values);
  if (figure === null) return null;
  const { value, low, high, n } = figure;
  // The percentile over all rounds uses more values than the mean of their percentiles.
  const q = metric === 'p50' ? 0.5 : metric === 'p99' ? 0.99 : null;
  const merged = q === null ? null : (mergedHistogram(benchmark)?.printablePercentile(q) ?? null);
  return { id, startedAt, value: merged ?? value, low, high, n };
}

/**
 * @param {import('../../lib/result.js').Round} round
 * @param {Metric} metric
 * @returns {number | null}
 */
function valueIn({ throughput, latency, client, outcomes }, metric) {
  if (metric === 'throughput') return throughput;
  if (metric === 'p50') return latency?.p50Ns ?? null;
  if (metric === 'p99') return latency?.p99Ns ?? null;
  return client === null ? null : (client.userNs + client.systemNs) / outcomes.ok;
}

/** @param {readonly Result[]} results */
function mixedIn(results) {
  /** @type {[string, (result: Result) => unknown][]} */
  const looked = [
    ['Node', ({ environment }) => environment.node],
    ['processor', ({ environment }) => `${environment.cpu} ${environment.cores}`],
    ['rows', ({ dataset }) => `${dataset.rows} ${sizesOf(dataset)}`],
    ['servers', ({ servers }) => servers.map(({ name, version }) => `${name} ${version}`).join()],
    [
      'drivers',
      ({ storages }) => storages.map(({ name, profile, version }) => [name, profile, version]),
    ],
  ];
  return looked
    .filter(([, of]) => new Set(results.map((result) => JSON.stringify(of(result)))).size > 1)
    .map(([name]) => name);
}
