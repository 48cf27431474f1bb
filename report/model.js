/**
 * The model of every format and plot: benchmarks projected into the tables that a workload's report
 * declares. Keys and values with units, as in golang/perf's benchproc. Pure; report/specs.js loads
 * the reports of workloads, report/text.js has the texts.
 */

import { IN_FILES } from '../stats/metrics.js';
import { groupBy } from './analysis/groups.js';
import { comparisonOf } from './analysis/standings.js';

/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/report-types.js').TableRow} TableRow */
/** @typedef {import('../lib/report-types.js').TableSpec} TableSpec */
/** @typedef {import('../lib/report-types.js').ReportSpec} ReportSpec */
/** @typedef {import('../lib/report-types.js').Column} Column */
/** @typedef {import('../lib/report-types.js').Metric} Metric */
/** @typedef {import('../lib/report-types.js').KeyColumn} KeyColumn */
/** @typedef {import('../lib/report-types.js').Scope} Scope */
/** @typedef {import('../lib/report-types.js').Value} Value */
/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @param {Result} result
 * @param {ReportSpec} report report of the workload
 * @param {readonly any[]} benchmarks benchmarks of that workload, in order
 * @returns {Table[]}
 */
export function tabulate(result, report, benchmarks) {
  return groupsOf(benchmarks, report.section ?? []).flatMap((section) =>
    report.tables.flatMap((spec) => {
      const all = partsOf(spec, section, result);
      const tables = groupsOf(all, spec.table ?? []).map((table) => {
        const ranked = spec.contenders === undefined ? table : withRanks(spec, table, result);
        return tableOf(spec, ranked, { result, all, report });
      });
      return tables.filter(({ rows }) => rows.length > 0);
    }),
  );
}

/**
 * @param {TableSpec} spec
 * @param {readonly any[]} benchmarks
 * @param {Result} result
 * @returns {any[]} the benchmarks of a table, split into parts
 */
export function partsOf({ where, expand }, benchmarks, result) {
  const fit = where === undefined ? [...benchmarks] : benchmarks.filter(where);
  return expand === undefined ? fit : fit.flatMap((benchmark) => expand(benchmark, result));
}

/**
 * @param {TableSpec} spec
 * @param {readonly any[]} table
 * @param {Result} result
 * @returns {any[]} with ranks, including ties
 */
function withRanks({ contenders = () => true }, table, result) {
  const comparison = comparisonOf(table.filter(contenders), result);
  return table.map((benchmark) => {
    const found = comparison?.standings.rows.find(({ name }) => name === benchmark.label);
    const [best, worst] = [found?.rank ?? null, found?.rankWorst ?? null];
    return { ...benchmark, rank: best === null ? null : { best, worst } };
  });
}

/**
 * @param {readonly any[]} benchmarks
 * @param {readonly string[]} keys
 * @returns {any[][]} grouped by keys, in order of first occurrence
 */
export function groupsOf(benchmarks, keys) {
  const keyOf = (/** @type {any} */ benchmark) =>
    JSON.stringify(keys.map((name) => benchmark.keys[name] ?? null));
  return [...groupBy(benchmarks, keyOf).values()];
}

/**
 * @param {TableSpec} spec
 * @param {any[]} table
 * @param {{ result: Result, all: readonly any[], report: ReportSpec }} context
 * @returns {Table}
 */
function tableOf(spec, table, { result, all, report }) {
  const shown = measuresOf(spec, table, result);
  const inFiles = IN_FILES.map((metric) => measure(metric, null));
  const measures = [...shown, ...inFiles];
  const keyed = table.map((benchmark) => ({
    keys: Object.fromEntries(
      spec.row.map(({ key, of }) => [key, of?.(benchmark) ?? benchmark.keys[key] ?? null]),
    ),
    benchmark,
  }));
  const names = spec.row.map(({ key }) => key);
  const lines = groupsOf(keyed, names).map((entries) => {
    const row = entries.map(({ benchmark }) => benchmark);
    /** @type {Scope} */
    const scope = { result, table, row, all };
    const values = measures.map(({ column, pick, of }) => {
      const own = pick === null ? row : row.filter(pick);
      const value = own.length === 0 ? NOTHING : of(own[0], { ...scope, row: own });
      return /** @type {[string, Value]} */ ([column.key, value]);
    });
    const contender = (report.contender ?? labelOf)(row[0]);
    return toRow(entries[0].keys, Object.fromEntries(values), { benchmarks: row, contender });
  });
  const ordered = spec.order?.(lines) ?? lines;
  const rows = spec.shown?.(ordered) ?? ordered;
  const isKept = (/** @type {Measure} */ { column, optional }) =>
    !optional || rows.some((row) => 'value' in row.values[column.key]);
  return {
    title: spec.title(table, result),
    id: spec.id?.(table) ?? null,
    colored: spec.id !== undefined || report.contender !== undefined,
    rounds: spec.namesRounds
      ? Math.max(0, ...table.map(({ source }) => source.rounds.length))
      : null,
    columns: [...keyColumns(spec.row), ...shown.filter(isKept).map(({ column }) => column)],
    inFiles: inFiles.filter(isKept).map(({ column }) => column),
    rows,
    ...(rows.length < ordered.length && { plotted: ordered }),
  };
}

/** @param {any} benchmark @returns {string | null} */
const labelOf = ({ label }) => label ?? null;

/** @type {Value} */
const NOTHING = Object.freeze({ state: 'unknown', reason: null });

/**
 * @typedef {object} Measure a column and the source of its values
 * @property {Column} column
 * @property {((benchmark: any) => boolean) | null} pick selects benchmarks of a row; null: all
 * @property {Metric['of']} of
 * @property {boolean} optional
 */

/**
 * @param {TableSpec} spec
 * @param {any[]} table
 * @param {Result} result
 * @returns {Measure[]}
 */
function measuresOf(spec, table, result) {
  const listed = (/** @type {TableSpec['metrics'] | undefined} */ given) =>
    typeof given === 'function' ? given(table, result) : (given ?? []);
  const across = listed(spec.across).map((metric) => measure(metric, null));
  const metrics = listed(spec.metrics);
  if (spec.columns === undefined) return [...metrics.map((one) => measure(one, null)), ...across];
  const columns = spec.columns(table);
  return [
    ...metrics.flatMap((metric) => columns.map((column) => measure(metric, column))),
    ...across,
  ];
}

/**
 * @param {Metric} metric
 * @param {import('../lib/report-types.js').Pivot | null} pivot
 * @returns {Measure}
 */
function measure({ of, optional = false, relative: _, ...metric }, pivot) {
  const shown = withHead(metric);
  /** @type {Column} */
  const column = { ...shown, role: 'metric' };
  if (pivot === null) return { column, pick: null, of, optional };
  const [first, ...rest] = pivot.name.split(' ');
  const name = shown.name === '' ? pivot.name : `${shown.name}, ${pivot.name}`;
  const head = shown.head ?? /** @type {[string, string]} */ ([first, rest.join(' ')]);
  const named =
    shown.head === undefined ? head : /** @type {[string, string]} */ ([head[0], pivot.name]);
  const drop = shown.drop ? shown.drop + (pivot.more ?? 0) : 0;
  return {
    column: { ...column, key: `${shown.key}_${pivot.key}`, name, head: named, drop },
    pick: (benchmark) => pivot.has(benchmark),
    of,
    optional,
  };
}

/**
 * @param {readonly KeyColumn[]} row
 * @returns {Column[]}
 */
function keyColumns(row) {
  return row
    .filter(({ hidden }) => !hidden)
    .map(({ hidden: _, of: __, ...shown }) => ({
      unit: 'key',
      better: null,
      role: 'key',
      align: 'left',
      drop: 0,
      ...withHead(shown),
    }));
}

/**
 * A line break in a name is kept in the head.
 * @template {{ name: string, head?: [string, string] }} Shown
 * @param {Shown} shown
 * @returns {Shown}
 */
function withHead(shown) {
  const [first, second] = shown.name.split('\n');
  if (second === undefined) return shown;
  return { ...shown, name: `${first} ${second}`, head: [first, second] };
}

/**
 * @param {TableRow['keys']} keys
 * @param {TableRow['values']} values
 * @param {{ benchmarks: readonly any[], contender: string | null }} of
 * @returns {TableRow}
 */
function toRow(keys, values, { benchmarks, contender }) {
  const [only] = benchmarks.length === 1 ? benchmarks : [];
  return {
    keys,
    values,
    contender,
    mark: only?.mark ?? null,
    remark: only?.remark ?? null,
    quiet: only !== undefined && (only.throughput === null || only.kind === 'overhead'),
    benchmarks,
  };
}

/**
 * A table of items other than benchmarks: ceilings, searches, comparisons.
 * @template T
 * @param {string} title
 * @param {{ row: readonly KeyColumn[], metrics: readonly Metric[] }} spec spec of an item
 * @param {readonly T[]} items
 * @param {{ result?: any, rounds?: number | null }} [context]
 * @returns {Table}
 */
export function tableOfItems(title, { row, metrics }, items, { result, rounds = null } = {}) {
  const measures = metrics.map((metric) => measure(metric, null));
  const rows = items.map((item) => {
    const own = /** @type {any} */ (item);
    const scope = { result, table: items, row: [item], all: items };
    const keys = row.map(({ key, of }) => [key, of?.(own) ?? own[key] ?? null]);
    const values = measures.map((one) => [one.column.key, one.of(own, scope)]);
    const of = { benchmarks: [item], contender: own.label ?? null };
    return toRow(Object.fromEntries(keys), Object.fromEntries(values), of);
  });
  const kept = measures.filter(
    ({ column, optional }) => !optional || rows.some((one) => 'value' in one.values[column.key]),
  );
  const columns = [...keyColumns(row), ...kept.map(({ column }) => column)];
  return { title, id: null, colored: false, rounds, columns, inFiles: [], rows };
}

/** Parts that a document of several results does not have. */
export const OF_NO_RESULT = Object.freeze({
  explanation: [],
  settings: [],
  contenders: [],
  result: null,
  setup: null,
  roundTexts: () => ({ columns: [], rows: [] }),
});
