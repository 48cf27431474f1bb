/**
 * The report for spreadsheets and scripts: one table with one head, also for several results. The
 * column `table` distinguishes the rows of tables, with the figures of the console, the ends of
 * their intervals and n, from those of `rounds`, one per benchmark and round. Plain numbers, units
 * in the names, empty without a value; columns without any value are omitted. RFC 4180: lines end
 * in CRLF, quotes are doubled.
 *
 * Spreadsheets execute texts that begin with = + - @ as formulas, and server messages are
 * untrusted: such texts get a leading apostrophe (OWASP, CSV injection). Each text is one printable
 * line. The JSON has the exact messages.
 */

import { defineReport } from '../lib/define.js';
import { plainText } from '../lib/format.js';
import { columnName } from './rounds.js';
import { snakeCase } from './text.js';

/** @typedef {string | number | boolean | null | undefined} Value */
/** @typedef {Map<string, Value>} Line values by column */
/** @typedef {import('../lib/report-types.js').Document} Document */
/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/report-types.js').TableRow} TableRow */

export default defineReport({
  name: 'csv',
  summary: 'the tables with intervals, and one row per benchmark and round, for spreadsheets',
  render(documents) {
    const lines = documents.flatMap((document) => [
      ...tableLines(document),
      ...roundLines(document),
    ]);
    const names = new Set(lines.flatMap((line) => [...line.keys()]));
    const columns = [...names].filter((name) => lines.some((line) => isKnown(line.get(name))));
    const texts = [columns, ...lines.map((line) => columns.map((name) => line.get(name)))];
    return texts.map((values) => `${values.map(field).join(',')}\r\n`).join('');
  },
});

/** @param {Value} value */
const isKnown = (value) => value !== null && value !== undefined;

/**
 * @param {Document} document
 * @returns {Line[]} lines of the tables of a result; comparisons have other lines, below
 */
function tableLines({ result, id, tables }) {
  if (result === null) return [];
  return tables.flatMap((table) =>
    table.rows.map((row) => {
      /** @type {[string, Value][]} */
      const about = [
        ['table', table.title],
        ['result_id', id],
      ];
      return new Map([...about, ...keyCells(table, row), ...metricCells(table, row)]);
    }),
  );
}

/** Columns of a benchmark, even if its table lacks them. */
const KEYS = Object.freeze(
  ['workload', 'load', 'inFlight', 'connections', 'processes', 'rate'], //
);

/**
 * @param {Table} table
 * @param {TableRow} row
 * @returns {[string, Value][]}
 */
function keyCells({ columns }, { keys, benchmarks, mark }) {
  const keyColumns = columns.filter(({ role, key }) => role === 'key' && !KEYS.includes(key));
  const [first] = benchmarks;
  // A row of several benchmarks has their common keys.
  const shared = (/** @type {string} */ key) =>
    benchmarks.every((one) => one.keys?.[key] === first.keys?.[key]) ? first.keys?.[key] : null;
  return [
    ...keyColumns.map(({ key }) => /** @type {[string, Value]} */ ([snakeCase(key), keys[key]])),
    ...KEYS.map((key) => /** @type {[string, Value]} */ ([snakeCase(key), shared(key)])),
    ['value_size_chars', first?.source?.load?.valueSize],
    ['benchmark_state', first?.source?.state],
    ['mark', mark],
  ];
}

/**
 * @param {Table} table
 * @param {TableRow} row
 * @returns {[string, Value][]} the value of each metric; for an interval also its ends and n
 */
function metricCells({ columns, inFiles }, { values }) {
  return [...columns, ...inFiles].flatMap((column) => {
    const value = values[column.key];
    if (column.role !== 'metric' || value === undefined || !('value' in value)) return [];
    const name = columnName(column);
    /** @type {[string, Value][]} */
    const cells = [[name, value.value]];
    if (value.low === null || value.high === null) return cells;
    cells.push([`${name}_low`, value.low], [`${name}_high`, value.high], [`${name}_n`, value.n]);
    return cells;
  });
}

/**
 * @param {Document} document
 * @returns {Line[]} lines of each round of a result, or of each comparison
 */
function roundLines({ result, rounds }) {
  if (rounds === null) return [];
  const { columns, lines } = rounds();
  return lines.map((values) => {
    /** @type {Line} */
    const line = new Map(result === null ? [] : [['table', 'rounds']]);
    for (const [i, name] of columns.entries()) line.set(name, values[i]);
    return line;
  });
}

/**
 * @param {Value} value
 * @returns {string} an RFC 4180 field that is safe in a spreadsheet
 */
export function field(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = plainText(value);
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
