/** One metric of tables by a number, a curve for each series. */

import { plainText } from '../../lib/format.js';
import { numberOf } from '../../stats/metrics.js';
import { seriesColor } from '../palette.js';
import { countOf, numberAxis } from './plot.js';
import { formatOf, plotName, rowsOf } from './tables.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */

const HEIGHT = 380;

/**
 * @typedef {object} LinesSpec
 * @property {'lines'} kind
 * @property {'table'} [each] a plot of each table; absent: one of all tables
 * @property {(tables: readonly Table[]) => string} id
 * @property {(tables: readonly Table[]) => string} title
 * @property {(rows: readonly TableRow[]) => string} [summary]
 * @property {string} note
 * @property {string} metric its key
 * @property {(benchmark: any) => boolean} has
 * @property {(row: TableRow) => string} series
 * @property {(benchmark: any) => number} x
 * @property {string} xName
 * @property {(x: number) => string} xText
 * @property {string} yName
 * @property {string} head of the names
 * @property {string} thing one of x: `key`
 */

/** @typedef {{ label: string, points: [number, number][] }} Curve */
/** @typedef {(value: number | null) => string} Format */

/**
 * @param {readonly Table[]} tables
 * @param {LinesSpec} spec
 * @returns {Plot[]} none without a value
 */
export function lines(tables, spec) {
  const parts = spec.each === 'table' ? tables.map((table) => [table]) : [tables];
  return parts.flatMap((part) => {
    const rows = rowsOf(part, ({ benchmarks: [one] }) => spec.has(one));
    const labels = [...new Set(rows.map(spec.series))];
    const curves = labels
      .map((label) => ({
        label: plainText(label),
        points: rows
          .filter((row) => spec.series(row) === label)
          .flatMap(({ values, benchmarks: [one] }) => {
            const y = numberOf(values[spec.metric]);
            return y === null ? [] : [/** @type {[number, number]} */ ([spec.x(one), y])];
          }),
      }))
      .filter(({ points }) => points.length > 0);
    return curves.length === 0 ? [] : [toPlot(curves, { part, rows, spec })];
  });
}

/**
 * @param {Curve[]} curves
 * @param {{ part: readonly Table[], rows: readonly TableRow[], spec: LinesSpec }} context
 * @returns {Plot}
 */
function toPlot(curves, { part, rows, spec }) {
  const all = curves.flatMap(({ points }) => points.map(([n]) => n));
  const keys = [...new Set(all)].sort((a, b) => a - b);
  const format = formatOf(part, spec.metric);
  return {
    ...{ id: plotName(spec.id(part)), title: spec.title(part), note: spec.note, group: null },
    summary:
      spec.summary?.(rows) ??
      curves.map(({ label, points: [[n, y]] }) => `${label}: ${format(y)} (${n})`).join('; '),
    variants: [{ name: 'linear', draw: () => draw(curves, keys, { spec, format }) }],
    table: {
      columns: [
        { name: spec.head, align: 'left' },
        ...keys.map((n) => ({ name: spec.xText(n), align: /** @type {const} */ ('right') })),
      ],
      rows: curves.map(({ label, points }, series) => ({
        series,
        texts: [label, ...keys.map((n) => format(points.find(([at]) => at === n)?.[1] ?? null))],
      })),
    },
  };
}

/**
 * @param {Curve[]} curves
 * @param {number[]} keys
 * @param {{ spec: LinesSpec, format: Format }} options
 * @returns {import('./plot.js').Drawing}
 */
function draw(curves, keys, { spec: { xName, yName, thing }, format }) {
  const most = Math.max(1, ...keys);
  const rate = numberAxis(format, { name: yName, vertical: true });
  return {
    height: HEIGHT,
    nearest: 'xy',
    option: /** @type {any} */ ({
      grid: { left: 82, right: 210, top: 14, bottom: 48 },
      xAxis: { ...numberAxis(String, { name: xName }), min: 0, max: most },
      yAxis: { ...rate, min: 0 },
      series: curves.map(({ label, points }, i) => {
        const color = seriesColor(i);
        const style = { color };
        const endLabel = { show: true, formatter: label, color };
        return {
          type: 'line',
          data: points,
          symbolSize: 5,
          itemStyle: style,
          lineStyle: style,
          endLabel,
          // Curves that end at one height would write over each other.
          labelLayout: { moveOverlap: 'shiftY' },
        };
      }),
    }),
    points: curves.flatMap(({ label, points }, i) =>
      points.map((at) => ({
        seriesIndex: i,
        at,
        series: i,
        text: `${label}, ${countOf(at[0], thing)}: ${format(at[1])}${yName === '' ? '' : `, ${yName}`}`,
      })),
    ),
  };
}
