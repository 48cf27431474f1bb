/**
 * What is shown of fetches of many keys: the table of all workloads by load, and one for each
 * storage and way of reading, by the number in flight and the number of keys.
 */

import { formatDuration } from '../../lib/format.js';
import { metric } from '../../stats/metrics.js';
import { operationsLegend, operationsTable } from '../operations.js';
import { groupName, toColumn } from './analysis.js';

/** @typedef {import('./analysis.js').FetchColumn} FetchColumn */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */

/** Numbers of keys that a table shows, where they were measured; CSV has all. */
const SHOWN_KEYS = new Set([1, 10, 25, 50, 100]);

/** @param {any} benchmark */
const hasSeries = ({ source }) =>
  source.rounds.some((/** @type {any} */ { series }) => series !== undefined);

/**
 * @param {any} benchmark
 * @param {any} result
 * @returns {any[]} a part for each number of keys, without the warm-up
 */
function expand(benchmark, { dataset }) {
  const column = toColumn(benchmark.source, dataset.valueSize);
  return column.rows
    .filter(({ warmup }) => !warmup)
    .map((row) => ({
      ...benchmark,
      keys: { ...benchmark.keys, keys: row.keys ?? 'all' },
      ...{ column, row, mark: null, throughput: {} },
    }));
}

/**
 * @param {string} key
 * @param {string} name
 * @param {number} drop
 * @param {(row: import('./analysis.js').FetchRow) => number | null} of
 */
function time(key, name, drop, of) {
  return metric({ key, name, unit: 'ns', better: 'less', drop }, ({ row }) => of(row));
}

/**
 * @param {string} unit
 * @param {string} name
 * @param {number} drop
 * @param {(row: import('./analysis.js').FetchRow) => number | null} of
 */
function rate(unit, name, drop, of) {
  const shown = {
    key: unit.slice(0, -2),
    name,
    unit,
    as: name,
    better: /** @type {const} */ ('more'),
  };
  return metric({ ...shown, drop }, ({ row }) => of(row));
}

/** How many times as long the same keys take as single reads. */
const single = metric(
  {
    ...{ key: 'single_to_mget', name: 'single / MGET', unit: '×', relative: true },
    ...{ head: ['single', '/ MGET'], drop: 1, optional: true },
  },
  ({ source, keys, row }, { all }) => {
    if (source.workload !== 'mget') return null;
    const twin = all.find(
      (one) =>
        one.source.workload === 'mget-single' &&
        one.keys.storage === keys.storage &&
        one.column.inFlight === (source.load.inFlight ?? 1) &&
        one.keys.keys === keys.keys,
    );
    const singleNs = twin?.row.medianNs ?? null;
    return row.medianNs === null || singleNs === null ? null : singleNs / row.medianNs;
  },
);

const right = Object.freeze({ align: /** @type {const} */ ('right') });

/** @type {import('../../lib/report-types.js').TableSpec} */
const fetches = {
  where: hasSeries,
  expand,
  table: ['storage', 'workload'],
  row: [
    { key: 'inFlight', name: 'in flight', head: ['in', 'flight'], ...right },
    { key: 'keys', name: 'keys', ...right },
    { key: 'id', name: 'id', hidden: true },
  ],
  metrics: [
    metric(
      { key: 'in_flight_achieved', name: 'achieved', unit: 'count', digits: 2, drop: 4 },
      ({ row }) => row.inFlightMean,
    ),
    time('fetch_p50', 'p50', 0, (row) => row.medianNs),
    time('fetch_p90', 'p90', 5, (row) => row.p90Ns),
    time('fetch_p99', 'p99', 3, (row) => row.p99Ns),
    rate('fetches/s', 'fetches/s', 2, (row) => row.fetchesPerSecond),
    rate('keys/s', 'keys/s', 2, (row) => row.keysPerSecond),
    rate('bytes/s', 'MB/s', 1, (row) => row.bytesPerSecond),
    single,
  ],
  title(table) {
    const [{ label, source }] = table;
    return `${groupName({ label, workload: source.workload })}${fitText(table)}`;
  },
  order: (rows) =>
    rows.sort((a, b) => a.benchmarks[0].column.inFlight - b.benchmarks[0].column.inFlight),
  shown: shownRows,
};

/**
 * @param {TableRow[]} rows
 * @returns {TableRow[]} of each number in flight those of SHOWN_KEYS, or all where there is none
 */
function shownRows(rows) {
  const loads = [...new Set(rows.map(({ keys }) => keys['inFlight']))];
  return loads.flatMap((load) => {
    const own = rows.filter(({ keys }) => keys['inFlight'] === load);
    const shown = own.filter(
      ({ keys: { keys } }) => keys === 'all' || SHOWN_KEYS.has(/** @type {number} */ (keys)),
    );
    return shown.length === 0 ? own : shown;
  });
}

/** @param {readonly any[]} table @returns {string} the price of a fetch, and of each key in it */
function fitText(table) {
  /** @type {FetchColumn[]} */
  const columns = [...new Set(table.map(({ column }) => column))];
  columns.sort((a, b) => a.inFlight - b.inFlight);
  const fits = columns.flatMap(({ inFlight, fit }) =>
    fit === null ? [] : [`${equation(fit)} (${inFlight})`],
  );
  return fits.length === 0 ? '' : `: a fetch of k keys is ${fits.join(', ')}`;
}

/** @param {import('./analysis.js').Fit} fit */
function equation({ slopeNs, interceptNs }) {
  const key = formatDuration(Math.abs(slopeNs));
  const sign = slopeNs < 0 ? '-' : '+';
  return `${interceptNs < 0 ? '-' : ''}${formatDuration(Math.abs(interceptNs))} ${sign} ${key} k`;
}

const LEGEND =
  'fetches of many keys: p50, p90 and p99 of single fetches, call to last value, all rounds ' +
  'together. achieved: mean number in flight, by area, while they were counted. MB: of ' +
  'values, a million bytes. A fetch of k keys: a line by least squares through the medians ' +
  '(in flight). single / MGET: how many times as long the same keys take as reads of their own.';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  tables: [operationsTable, fetches],
  legend: (benchmarks) => [
    ...operationsLegend(benchmarks),
    ...(benchmarks.some(hasSeries) ? [LEGEND] : []),
  ],
};
