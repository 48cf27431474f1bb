/** One metric of tables as bars, the greatest at the top. */

import { plainText } from '../../lib/format.js';
import { numberOf } from '../../stats/metrics.js';
import { valueText } from '../text.js';
import { barSeries, namesAxis, namesWidth, numberAxis } from './plot.js';

/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */
/** @typedef {import('../../lib/report-types.js').Value} Value */

const ROW_HEIGHT = 22;

/** @typedef {{ name: string, series: number, rate: number, low: number | null,
 *   high: number | null, n: number }} Entry */

/**
 * @typedef {object} BarsSpec
 * @property {'bars'} kind
 * @property {string} id
 * @property {string} metric its key
 * @property {(row: TableRow) => string} name of a row
 * @property {(result: any) => string} title
 * @property {(most: string[], least: string[]) => string} summary of the names and texts of both
 * @property {string} note
 * @property {string} axis
 * @property {string} head of the names
 */

/**
 * @param {readonly Table[]} tables
 * @param {BarsSpec} spec
 * @param {import('./plot.js').PlotContext} context
 * @returns {import('./plot.js').Plot[]} none without a value
 */
export function bars(tables, spec, { result, seriesOf }) {
  const column = tables
    .flatMap(({ columns }) => columns)
    .find(({ key, role }) => key === spec.metric && role === 'metric');
  const entries = tables
    .flatMap(({ rows }) => rows)
    .flatMap((row) => {
      const value = row.values[spec.metric];
      const rate = value === undefined ? null : numberOf(value);
      if (rate === null || !('value' in value)) return [];
      const { low, high, n } = value;
      const series = seriesOf(row.benchmarks[0].source);
      return [{ name: plainText(spec.name(row)), series, rate, low, high, n }];
    })
    .sort((a, b) => a.rate - b.rate);
  if (column === undefined || entries.length === 0) return [];
  const plain = { ...column, shows: [] };
  const format = (/** @type {number | null} */ value) =>
    valueText(plain, value === null ? NONE : { value, low: null, high: null, n: 1 });
  return [toPlot(entries, spec, { result, unit: column.name, format })];
}

/** @type {Value} */
const NONE = Object.freeze({ state: 'unknown', reason: null });

/**
 * @param {Entry[]} entries ascending
 * @param {BarsSpec} spec
 * @param {{ result: any, unit: string, format: (value: number | null) => string }} figures
 * @returns {import('./plot.js').Plot}
 */
function toPlot(entries, spec, { result, unit, format }) {
  const [least, most] = [entries[0], entries[entries.length - 1]];
  const text = (/** @type {Entry} */ { name, rate }) => [name, format(rate)];
  const right = (/** @type {string} */ name) => ({ name, align: /** @type {const} */ ('right') });
  const shown = { axis: spec.axis, unit, format };
  return {
    id: spec.id,
    title: spec.title(result),
    summary: spec.summary(text(most), text(least)),
    note: spec.note,
    group: null,
    variants: [
      { name: 'linear', draw: (size) => draw(entries, size, { ...shown, scale: 'value' }) },
      { name: 'log', draw: (size) => draw(entries, size, { ...shown, scale: 'log' }) },
    ],
    table: {
      columns: [{ name: spec.head, align: 'left' }, ...[unit, 'from', 'to', 'rounds'].map(right)],
      rows: [...entries].reverse().map(({ name, series, rate, low, high, n }) => ({
        series,
        texts: [name, format(rate), format(low), format(high), String(n)],
      })),
    },
  };
}

/**
 * @param {Entry[]} entries
 * @param {{ width: number }} size
 * @param {{ scale: 'value' | 'log', axis: string, unit: string,
 *   format: (value: number) => string }} options
 * @returns {import('./plot.js').Drawing}
 */
function draw(entries, { width }, { scale, axis: name, unit, format }) {
  const names = entries.map((entry) => entry.name);
  const left = namesWidth(names, width);
  const axis = numberAxis(format, { name });
  return {
    height: entries.length * ROW_HEIGHT + 56,
    nearest: 'y',
    option: /** @type {any} */ ({
      grid: { left, right: 84, top: 8, bottom: 46 },
      xAxis: scale === 'log' ? { ...axis, type: 'log' } : { ...axis, splitNumber: 4 },
      yAxis: namesAxis(names, left),
      series: [
        barSeries(
          entries.map(({ rate, series }) => ({ value: rate, series })),
          { label: (i) => format(entries[i].rate) },
        ),
      ],
    }),
    points: entries.map(({ name: row, rate, series, n }, i) => ({
      seriesIndex: 0,
      at: [rate, i],
      series,
      text: `${row}: ${format(rate)} ${unit}, ${n} rounds`,
    })),
  };
}
