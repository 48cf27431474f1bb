/**
 * Report of multi-key fetches: the common table by load, and one per storage and read method, by
 * number in flight and number of keys.
 */

import { formatDuration } from '../../lib/format.js';
import { metric } from '../../stats/metrics.js';
import { operationsReport } from '../operations.js';
import { fitPoints, groupName, scatterPoints, toColumn } from './analysis.js';

/** @typedef {import('./analysis.js').FetchColumn} FetchColumn */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */

/** Numbers of keys shown in a table, if measured; CSV has all. */
const SHOWN_KEYS = new Set([1, 10, 25, 50, 100]);

/** @param {any} benchmark */
const hasSeries = ({ source }) =>
  source.rounds.some((/** @type {any} */ { series }) => series !== undefined);

/**
 * @param {any} benchmark
 * @param {any} result
 * @returns {any[]} a part per number of keys, without the warm-up
 */
function expand(benchmark, { dataset, options }) {
  const { pool = false } = options?.workloadOptions ?? {};
  const column = toColumn(benchmark.source, dataset.valueSize);
  return column.rows
    .filter(({ warmup }) => !warmup)
    .map((row) => ({
      ...benchmark,
      keys: { ...benchmark.keys, keys: row.keys ?? 'all' },
      column,
      row,
      pool,
      mark: null,
      throughput: {},
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

/** Ratio of the time of the same keys as single reads. */
const single = metric(
  {
    key: 'single_to_mget',
    name: 'single\n/ MGET',
    unit: '×',
    relative: true,
    drop: 1,
    optional: true,
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
    { key: 'inFlight', name: 'in\nflight', ...right },
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
    const [{ label, source, pool }] = table;
    return `${groupName({ label, workload: source.workload, pool })}${fitText(table)}`;
  },
  order: (rows) =>
    rows.sort((a, b) => a.benchmarks[0].column.inFlight - b.benchmarks[0].column.inFlight),
  shown: shownRows,
};

/**
 * @param {TableRow[]} rows
 * @returns {TableRow[]} per number in flight those of SHOWN_KEYS, or all if none matches
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

/** @param {readonly any[]} table @returns {string} the time per fetch, and per key of it */
function fitText(table) {
  /** @type {FetchColumn[]} */
  const columns = [...new Set(table.map(({ column }) => column))];
  columns.sort((a, b) => a.inFlight - b.inFlight);
  const fits = columns.flatMap(({ inFlight, fit }) =>
    fit === null ? [] : [`${equation(fit)} (${inFlight})`],
  );
  return fits.length === 0 ? '' : `: fetch of k keys = ${fits.join(', ')}`;
}

/** @param {import('./analysis.js').Fit} fit */
function equation({ slopeNs, interceptNs }) {
  const key = formatDuration(Math.abs(slopeNs));
  const sign = slopeNs < 0 ? '-' : '+';
  return `${interceptNs < 0 ? '-' : ''}${formatDuration(Math.abs(interceptNs))} ${sign} ${key} k`;
}

/** @param {any} benchmark @returns {boolean} fetches with one number of keys */
const hasKeys = ({ row, keys }) => row !== undefined && keys.keys !== 'all';
/** @param {TableRow} row */
const rowHasKeys = ({ benchmarks: [one] }) => hasKeys(one);
/** @param {any} benchmark */
const hasPoints = ({ row, keys }) => row !== undefined && keys.keys === 'all';
/** @param {readonly import('../../lib/report-types.js').Table[]} tables */
const nameOf = ([{ rows }]) => {
  const [{ label, source, pool }] = rows[0].benchmarks;
  return groupName({ label, workload: source.workload, pool });
};
/** @param {TableRow} row */
const loadOf = ({ benchmarks: [{ column }] }) => `${column.inFlight} in flight`;
/** @param {string} label @param {import('./analysis.js').Fit | null} fit */
const fitTexts = (label, fit) =>
  fit === null
    ? []
    : [`${label}: ${formatDuration(fit.interceptNs)} plus ${formatDuration(fit.slopeNs)} per key`];
/** @param {string[]} parts */
const fitSummary = (parts) =>
  parts.length === 0 ? 'Time of a fetch by its keys.' : `A fetch takes, ${parts.join('; ')}.`;
const shared = {
  metric: 'fetch_p50',
  series: loadOf,
  xName: 'keys per fetch',
  yName: 'a fetch',
  head: 'in flight',
  thing: 'key',
};

/** @type {import('../../lib/report-types.js').PlotSpec[]} */
const plots = [
  {
    kind: 'lines',
    each: 'table',
    has: rowHasKeys,
    ...shared,
    id: (/** @type {any} */ tables) => `mget-${nameOf(tables)}`,
    title: (/** @type {any} */ tables) => `${nameOf(tables)}: median of a fetch by its keys`,
    summary(/** @type {readonly { rows: TableRow[] }[]} */ curves) {
      const rows = curves.flatMap((curve) => curve.rows);
      const byLoad = new Map(rows.map((row) => [loadOf(row), row.benchmarks[0].column.fit]));
      return fitSummary([...byLoad].flatMap(([label, fit]) => fitTexts(label, fit)));
    },
    x: (/** @type {TableRow} */ { benchmarks: [{ row }] }) => row.keys,
    xText: (/** @type {number} */ n) => `${n} ${n === 1 ? 'key' : 'keys'}`,
    note: 'Median of a fetch, call to last value, for each number in flight. Lower is better.',
  },
  {
    kind: 'scatter',
    has: hasPoints,
    ...shared,
    id: (/** @type {any} */ tables) => `mget-${nameOf(tables)}`,
    title: (/** @type {any} */ tables) => `${nameOf(tables)}: each fetch by its keys`,
    summary: (/** @type {string} */ label, /** @type {any} */ fit) =>
      fitSummary(fitTexts(label, fit)),
    points: (/** @type {any} */ { source }) => scatterPoints(source),
    fit: fitPoints,
    fitNames: ['per fetch', 'per key'],
    note: 'A point is a fetch, the line is by least squares. Lower is better.',
  },
];

const LEGEND =
  'fetches of many keys: p50, p90 and p99 of single fetches, from call to last value, over all ' +
  'rounds. achieved: mean number in flight over time while fetches were counted. MB: a million ' +
  'bytes of values. fetch of k keys: least-squares line through the medians (in flight). ' +
  'single / MGET: time of single reads of the same keys over that of one MGET.';

/** @type {import('../../lib/report-types.js').ReportSpec} */
export const report = {
  ...operationsReport,
  tables: [...operationsReport.tables, fetches],
  plots: [...operationsReport.plots, ...plots],
  legend: (benchmarks) => [
    ...operationsReport.legend(benchmarks),
    ...(benchmarks.some(hasSeries) ? [LEGEND] : []),
  ],
};
