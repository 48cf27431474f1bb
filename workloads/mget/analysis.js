/**
 * Rows of multi-key fetches of a result: one per storage, read method, number in flight and number
 * of keys, over all rounds. Pure; computed here for the command's table and all reports.
 */

import { linearRegression } from 'simple-statistics';
import { plainText } from '../../lib/format.js';
import { labelOf } from '../../lib/label.js';
import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import { medianOfSorted, printablePercentile } from '../../stats/percentile.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').SeriesResult} SeriesResult */

const WAYS = Object.freeze({ mget: 'MGET', 'mget-single': 'single reads at once' });

/**
 * @typedef {object} FetchRow
 * @property {number | null} keys keys per fetch; null: they differ
 * @property {boolean} warmup
 * @property {number} n verified fetches
 * @property {number | null} medianNs exact median over all rounds
 * @property {number | null} p90Ns null if fewer than 10 lie above
 * @property {number | null} p99Ns
 * @property {number} fetchesPerSecond
 * @property {number | null} keysPerSecond null if the fetches differ
 * @property {number | null} bytesPerSecond bytes of values
 * @property {number} inFlightMean achieved
 *
 * @typedef {object} FetchColumn a storage under one load
 * @property {Benchmark} source
 * @property {number} inFlight as in the label
 * @property {number} inFlightMean achieved, over all rows
 * @property {FetchRow[]} rows in the order of the series
 * @property {Fit | null} fit fit of the medians over the number of keys, without the warm-up
 *
 * @typedef {{ slopeNs: number, interceptNs: number }} Fit
 *
 * @typedef {object} FetchGroup one storage with one read method
 * @property {string} label `ioredis:tuned`
 * @property {string} workload
 * @property {boolean} [pool] a connection per fetch in flight
 * @property {FetchColumn[]} columns by number in flight
 */

/**
 * @param {Result} result
 * @returns {FetchGroup[]} in the order of the benchmarks; empty if no source has series
 */
export function toFetchGroups({ benchmarks, dataset, options }) {
  const { pool = false } = /** @type {any} */ (options?.['workloadOptions'] ?? {});
  /** @type {Map<string, FetchGroup>} */
  const groups = new Map();
  for (const source of benchmarks) {
    const { workload } = source;
    const label = labelOf(source);
    if (!source.rounds.some(({ series }) => series !== undefined)) continue;
    const key = JSON.stringify([label, workload]);
    const group = groups.get(key) ?? { label, workload, ...(pool && { pool }), columns: [] };
    groups.set(key, group);
    group.columns.push(toColumn(source, dataset.valueSize));
  }
  for (const { columns } of groups.values()) columns.sort((a, b) => a.inFlight - b.inFlight);
  return [...groups.values()];
}

/**
 * @param {Pick<FetchGroup, 'label' | 'workload' | 'pool'>} group
 * @returns {string} `ioredis, MGET`
 */
export function groupName({ label, workload, pool = false }) {
  const way = WAYS[/** @type {'mget'} */ (workload)] ?? workload;
  return plainText(`${label}, ${way}${pool ? ', one connection per fetch' : ''}`);
}

/**
 * @param {Benchmark} source
 * @param {number} valueSize
 * @returns {FetchColumn}
 */
export function toColumn(source, valueSize) {
  const rounds = source.rounds.flatMap(({ series }) => (series === undefined ? [] : [series]));
  const rows = rounds[0].map((_, i) =>
    toRow(
      rounds.map((series) => series[i]),
      valueSize,
    ),
  );
  const all = rounds.flat();
  return {
    source,
    inFlight: source.load.inFlight ?? 1,
    inFlightMean: meanInFlight(all),
    rows,
    fit: fitOf(rows.filter(({ warmup }) => !warmup)),
  };
}

/**
 * @param {readonly SeriesResult[]} series the same series of each round
 * @param {number} valueSize bytes of a value
 * @returns {FetchRow}
 */
function toRow(series, valueSize) {
  const [{ keys, warmup, medianNs, p90Ns, p99Ns }] = series;
  const pooled = series.some(({ latenciesNs }) => latenciesNs === null)
    ? null
    : Float64Array.from(series.flatMap(({ latenciesNs }) => latenciesNs ?? [])).sort();
  const isSliced = series.some(({ latency }) => latency !== undefined);
  const fetchesPerSecond = weightedMean(series, ({ throughput }) => throughput);
  const keysPerSecond = keys === null ? null : keys * fetchesPerSecond;
  return {
    keys,
    warmup,
    n: series.reduce((sum, { ok }) => sum + ok, 0),
    ...(isSliced
      ? percentilesOfSlices(series)
      : pooled === null
        ? { medianNs, p90Ns, p99Ns }
        : percentilesOfPool(pooled)),
    fetchesPerSecond,
    keysPerSecond,
    bytesPerSecond: keysPerSecond === null ? null : keysPerSecond * valueSize,
    inFlightMean: meanInFlight(series),
  };
}

/** @param {readonly SeriesResult[]} series */
function percentilesOfSlices(series) {
  const all = new Histogram();
  for (const { latency } of series) if (latency) all.merge(decode(latency.histogram));
  return {
    medianNs: all.printablePercentile(0.5),
    p90Ns: all.printablePercentile(0.9),
    p99Ns: all.printablePercentile(0.99),
  };
}

/** @param {Float64Array} sorted */
function percentilesOfPool(sorted) {
  return {
    medianNs: medianOfSorted(sorted),
    p90Ns: printablePercentile(sorted, 0.9),
    p99Ns: printablePercentile(sorted, 0.99),
  };
}

/** @param {readonly SeriesResult[]} series */
function meanInFlight(series) {
  return weightedMean(series, ({ inFlightMean }) => inFlightMean);
}

/**
 * @param {readonly SeriesResult[]} series
 * @param {(one: SeriesResult) => number} valueIn
 * @returns {number} in order of time
 */
function weightedMean(series, valueIn) {
  const durationNs = series.reduce((sum, one) => sum + one.durationNs, 0);
  if (durationNs === 0) return 0;
  return series.reduce((sum, one) => sum + valueIn(one) * one.durationNs, 0) / durationNs;
}

/**
 * Least squares over the medians: the time per fetch, and per key of it.
 * @param {readonly FetchRow[]} rows
 * @returns {Fit | null} null for fewer than two numbers of keys
 */
function fitOf(rows) {
  const points = rows.flatMap(({ keys, medianNs }) =>
    keys === null || medianNs === null ? [] : [/** @type {[number, number]} */ ([keys, medianNs])],
  );
  return fitPoints(points);
}

/**
 * @param {[number, number][]} points keys and ns
 * @returns {Fit | null} null for fewer than two different numbers of keys
 */
export function fitPoints(points) {
  if (new Set(points.map(([keys]) => keys)).size < 2) return null;
  const { m, b } = linearRegression(points);
  return { slopeNs: m, interceptNs: b };
}

/**
 * @param {Benchmark} source source of a scatter
 * @returns {[number, number][]} keys and ns per fetch, all rounds, in call order
 */
export function scatterPoints(source) {
  return source.rounds.flatMap(({ series = [] }) =>
    series.flatMap(({ keysOf = [], latenciesNs }) =>
      (latenciesNs ?? []).map((ns, i) => /** @type {[number, number]} */ ([keysOf[i], ns])),
    ),
  );
}

/** Reported if the label exceeds the achieved number by this fraction. */
const SHORTFALL_MAX = 0.05;

/**
 * @param {Result} result
 * @returns {Result['warnings']} one warning per storage with fewer in flight than requested
 */
export function concurrencyWarnings(result) {
  return toFetchGroups(result).flatMap(({ label, workload, columns }) => {
    const short = columns.filter(
      ({ inFlight, inFlightMean, rows }) =>
        rows.some(({ n }) => n > 0) && inFlightMean < inFlight * (1 - SHORTFALL_MAX),
    );
    if (short.length === 0) return [];
    const parts = short.map((one) => `${one.inFlightMean.toFixed(2)} of ${one.inFlight}`);
    return [
      {
        code: 'CONCURRENCY',
        message: `${label}, ${workload}: fewer in flight than requested: ${parts.join(', ')}`,
        hint: 'blocking calls never exceed one in flight; otherwise the client is saturated',
        benchmark: short[0].source.id,
      },
    ];
  });
}
