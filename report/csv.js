/**
 * The report for spreadsheets and scripts: one table with one head, also of several results. The
 * column `table` tells the rows of each table, which have the figures that the console shows with
 * the ends of their intervals and n, from those of `rounds`, one per benchmark and round. Plain
 * numbers, units in the names, empty where there is no value; a column without any value is left
 * out. RFC 4180: lines end in CRLF, quotes are doubled.
 *
 * A spreadsheet runs a text that begins with = + - @ as a formula, and server messages are foreign
 * text: such a text gets an apostrophe in front (OWASP, CSV injection), which shows it as text. Of
 * each text there is one printable line. Who needs the exact words of a message takes the JSON.
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
 * @returns {Line[]} of the tables of a result; a comparison has its own lines, below
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

/** Of a benchmark, whether or not they are columns of its table. */
const KEYS = Object.freeze(
  ['workload', 'load', 'inFlight', 'connections', 'processes', 'rate'], //
);

/**
 * @param {Table} table
 * @param {TableRow} row
 * @returns {[string, Value][]}
 */
function keyCells({ columns }, { keys, benchmarks, mark }) {
  const own = columns.filter(({ role, key }) => role === 'key' && !KEYS.includes(key));
  const [first] = benchmarks;
  // A row may stand for several benchmarks: it has the keys that they share.
  const shared = (/** @type {string} */ key) =>
    benchmarks.every((one) => one.keys?.[key] === first.keys?.[key]) ? first.keys?.[key] : null;
  return [
    ...own.map(({ key }) => /** @type {[string, Value]} */ ([snakeCase(key), keys[key]])),
    ...KEYS.map((key) => /** @type {[string, Value]} */ ([snakeCase(key), shared(key)])),
    ['value_size_chars', first?.source?.load?.valueSize],
    ['benchmark_state', first?.source?.state],
    ['mark', mark],
  ];
}

/**
 * @param {Table} table
 * @param {TableRow} row
 * @returns {[string, Value][]} of each metric its value; beside an interval also its ends and n
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
 * @returns {Line[]} of each round of a result, or of each comparison
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
 * @returns {string} a field by RFC 4180, harmless in a spreadsheet
 */
export function field(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = plainText(value);
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
