/**
 * Curves: a metric of tables over numbers, or over results in order; or percentiles of times, on an
 * axis with equal width per nine. line-drawing.js draws them.
 */

import { plainText } from '../../lib/format.js';
import { numberOf } from '../../stats/metrics.js';
import { rowTexts } from '../text.js';
import { drawLines } from './line-drawing.js';
import { percentileAxis, percentileCurves, percentileTable } from './percentiles.js';
import {
  columnOf,
  contendersIn,
  countOf,
  formatOf,
  headOf,
  left,
  partsOf,
  plainName,
  right,
  rowsOf,
} from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('./plot.js').Table} Table */
/** @typedef {import('./plot.js').TableRow} TableRow */
/** @typedef {import('../../measure/histogram.js').Histogram} Histogram */

/**
 * @typedef {object} LinePoint
 * @property {number} x
 * @property {number} y
 * @property {number | null} low
 * @property {number | null} high
 * @property {boolean} marked whether it is the knee of the curve
 *
 * @typedef {object} Curve
 * @property {string} name with its marks
 * @property {string} plain without
 * @property {{ color: number, series: number | null }} color
 * @property {LinePoint[]} points
 * @property {TableRow[]} rows
 * @property {Histogram | null} histogram
 *
 * @typedef {object} Chart
 * @property {Curve[]} curves
 * @property {import('./line-drawing.js').XAxis} x
 * @property {{ name: string, format: (value: number | null) => string, fromZero: boolean }} y
 * @property {number[]} changes positions of vertical lines
 * @property {[[number, number], [number, number]][]} levels ends of horizontal lines
 * @property {(curve: Curve, point: LinePoint) => string} text text of a point
 */

/**
 * @typedef {import('./plot.js').Shared & { kind: 'lines', each?: import('./plot.js').Each, has?:
 *   (row: TableRow) => boolean, series?: (row: TableRow) => string, scales?: readonly string[],
 *   summary: (curves: readonly Curve[], format: (value: number | null) => string) => string, note:
 *   string | ((curves: readonly Curve[]) => string), head: string, metric?: string, x?: (row:
 *   TableRow) => number, xName?: string, xText?: (x: number) => string, xScale?: 'log', thing?:
 *   string, yName?: string, inOrder?: (row: TableRow) => [string, string], changes?: (rows:
 *   readonly TableRow[]) => { at: number[], levels: Chart['levels'] }, knee?: (rows: readonly
 *   TableRow[]) => number | null, histogram?: (benchmark: any) => Histogram | null, ends?: (row:
 *   TableRow) => number, names?: { value: string, of: string }, range?: { note: string, of?: (row:
 *   TableRow) => readonly [number, number] | null }, }} LinesSpec series: groups other than
 *   contenders, with separate colours; inOrder: x is the position of a row; these are its short and
 *   full names; ends: one plot of the rows with the minimum of these numbers and one with the
 *   maximum; range: whiskers, by default the interval of the metric
 */

/**
 * @param {readonly Table[]} tables
 * @param {LinesSpec} spec
 * @param {import('./plot.js').PlotContext} context
 * @returns {Plot[]} none without a value
 */
export function lines(tables, spec, context) {
  return partsOf(spec, tables).flatMap((part) => {
    if (spec.histogram !== undefined) return percentilePlots(part, spec, context);
    const rows = rowsOf(part, spec.has ?? (() => true));
    const column = columnOf(part, spec.metric ?? '');
    const curves = curvesOf(rows, spec, context);
    if (column === undefined || curves.length === 0) return [];
    const format = formatOf({ ...column, digits: undefined });
    return [toPlot(part, { spec, curves, format, rows })];
  });
}

/**
 * @param {readonly TableRow[]} rows
 * @param {LinesSpec} spec
 * @param {import('./plot.js').PlotContext} context
 * @returns {Curve[]}
 */
function curvesOf(rows, spec, context) {
  const { series, metric = '', x = () => 0, inOrder, knee = () => null } = spec;
  const labelOf = series ?? ((row) => plainName(row));
  const labels = [...new Set(rows.map(labelOf))];
  return labels.flatMap((label, color) => {
    const rowsOfCurve = rows.filter((row) => labelOf(row) === label);
    const marked = knee(rowsOfCurve);
    const points = rowsOfCurve.flatMap((row, i) => {
      const value = row.values[metric];
      const y = value === undefined ? null : numberOf(value);
      if (y === null || !('value' in value)) return [];
      const at = inOrder === undefined ? x(row) : i;
      const [low, high] = rangeOf(row, value, spec);
      return [{ x: at, y, low, high, marked: at === marked }];
    });
    if (points.length === 0) return [];
    const owner = series === undefined ? context.seriesOf(rowsOfCurve[0].contender) : null;
    const plain = plainText(label);
    return [
      {
        name: plain,
        plain,
        color: { color, series: owner },
        points,
        rows: rowsOfCurve,
        histogram: null,
      },
    ];
  });
}

/**
 * @param {TableRow} row
 * @param {{ low: number | null, high: number | null }} interval
 * @param {LinesSpec} spec
 * @returns {readonly (number | null)[]} ends of the whisker
 */
function rangeOf(row, { low, high }, { range, inOrder }) {
  if (range?.of !== undefined) return range.of(row) ?? [null, null];
  return range === undefined && inOrder === undefined ? [null, null] : [low, high];
}

/**
 * @param {readonly Table[]} tables
 * @param {{ spec: LinesSpec, curves: Curve[], rows: TableRow[],
 *   format: (value: number | null) => string }} what
 * @returns {Plot}
 */
function toPlot(tables, { spec, curves, format, rows }) {
  const { xName = '', xText = String, yName = '', thing = '', inOrder } = spec;
  const labels = inOrder === undefined ? null : rows.map((row) => inOrder(row)[1]);
  const short = inOrder === undefined ? null : rows.map((row) => inOrder(row)[0]);
  const xs = [...new Set(curves.flatMap(({ points }) => points.map(({ x }) => x)))];
  xs.sort((a, b) => a - b);
  const { at: changes = [], levels = [] } = spec.changes?.(rows) ?? {};
  /** @type {Chart} */
  const chart = {
    curves,
    x: {
      name: xName,
      kind: labels ? 'order' : (spec.xScale ?? 'value'),
      values: xs,
      labels: short,
    },
    y: { name: yName, format, fromZero: inOrder === undefined },
    changes,
    levels,
    text({ plain }, { x, y, low, high }) {
      const where = labels === null ? countOf(x, thing) : (labels[x] ?? '');
      const unit = yName === '' || labels !== null ? '' : `, ${yName}`;
      const range = low === null || labels !== null ? '' : ` (${format(low)} to ${format(high)})`;
      return `${labels === null ? `${plain}, ` : ''}${where}: ${format(y)}${unit}${range}`;
    },
  };
  return {
    ...linesPlot(tables, spec, chart, spec.scales ?? ['linear']),
    table:
      inOrder === undefined
        ? {
            columns: [left(spec.head), ...xs.map((x) => right(xText(x)))],
            rows: curves.map(({ plain, points, color: { series } }) => ({
              series,
              texts: [
                plain,
                ...xs.map((x) => format(points.find((one) => one.x === x)?.y ?? null)),
              ],
            })),
          }
        : wholeTable(tables),
  };
}

/**
 * @param {readonly Table[]} tables
 * @param {LinesSpec} spec
 * @param {Chart} chart
 * @param {readonly string[]} scales
 * @returns {Omit<Plot, 'table'>}
 */
function linesPlot(tables, spec, chart, scales) {
  const { curves, y } = chart;
  const note = typeof spec.note === 'string' ? spec.note : spec.note(curves);
  const hasRange = curves.some(({ points }) => points.some(({ low }) => low !== null));
  return {
    ...headOf(spec, tables),
    summary: spec.summary(curves, y.format),
    note: spec.range && hasRange ? `${note} ${spec.range.note}` : note,
    variants: scales.map((name) => ({
      name,
      draw: ({ width }) => drawLines(chart, { width, log: name === 'log' }),
    })),
  };
}

/**
 * @param {readonly Table[]} tables
 * @returns {import('./plot.js').PlotTable} unchanged
 */
function wholeTable([table]) {
  return {
    columns: table.columns.map(({ name, align = 'right' }) => ({ name, align })),
    rows: table.rows.map((row) => ({ series: null, texts: rowTexts(table, row) })),
  };
}

/**
 * @param {readonly Table[]} tables
 * @param {LinesSpec} spec
 * @param {import('./plot.js').PlotContext} context
 * @returns {Plot[]}
 */
function percentilePlots(tables, spec, context) {
  const { has = () => true, histogram = () => null, ends, names } = spec;
  const all = contendersIn(tables, has);
  const numbers = ends === undefined ? [] : all.map(({ row }) => ends(row));
  const parts =
    ends === undefined ? [null] : [...new Set([Math.min(...numbers), Math.max(...numbers)])];
  return parts.flatMap((n) => {
    const shownRows = n === null ? all : all.filter(({ row }) => ends?.(row) === n);
    const curves = percentileCurves(
      shownRows.map(({ name, row }) => ({
        name,
        row,
        plain: plainName(row),
        histogram: histogram(row.benchmarks[0]),
        color: { color: 0, series: context.seriesOf(row.contender) },
      })),
    );
    if (curves.length === 0) return [];
    const chart = percentileAxis(curves, names ?? { value: 'latency', of: 'the operations' });
    const plot = linesPlot(tables, spec, chart, ['log', 'linear']);
    const { id, title } = plot;
    const part = n === null ? {} : { id: `${id}-${n}`, title: `${title}, ${spec.xText?.(n) ?? n}` };
    return [{ ...plot, ...part, table: percentileTable(curves, spec.head) }];
  });
}
