/**
 * One metric of a table with a column for each of several kinds, as grouped bars: a group for each
 * row, a bar for each column. One plot for each table that has such columns.
 */

import { numberOf } from '../../stats/metrics.js';
import { freeColor, roleColor } from '../palette.js';
import { rowTexts, valueText } from '../text.js';
import { logScale, namesAxis, namesWidth, numberAxis, shortNumber, withTicks } from './plot.js';
import { plotName } from './tables.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {import('../../lib/report-types.js').Column} Column */

const BAR_HEIGHT = 9;
const GROUP_GAP = 14;
const LEGEND_HEIGHT = 34;
const AXIS_HEIGHT = 48;
/** From this ratio between the fastest and the slowest on, a linear axis hides the slow ones. */
const LOG_FROM = 30;

/**
 * @typedef {object} GroupedBarsSpec
 * @property {'grouped-bars'} kind
 * @property {string} metric its key, before that of the column
 * @property {(table: Table) => string} id
 * @property {(table: Table) => string} title
 * @property {string} note
 * @property {string} axis
 * @property {string} things of the rows: `tests`
 *
 * @typedef {object} Chart
 * @property {string[]} names of the rows
 * @property {Column[]} columns
 * @property {(number | null)[][]} values of a row, by column
 * @property {string[][]} texts of the same
 * @property {GroupedBarsSpec} spec
 */

/**
 * @param {readonly Table[]} tables
 * @param {GroupedBarsSpec} spec
 * @returns {Plot[]} none without a value
 */
export function groupedBars(tables, spec) {
  return tables.flatMap((table) => {
    const chart = chartOf(table, spec);
    return chart.values.flat().some((value) => value !== null) ? [toPlot(table, chart)] : [];
  });
}

/**
 * @param {Table} table
 * @param {GroupedBarsSpec} spec
 * @returns {Chart}
 */
function chartOf(table, spec) {
  const columns = table.columns.filter(({ key }) => key.startsWith(`${spec.metric}_`));
  return {
    names: table.rows.map((row) => rowTexts(table, row)[0]),
    columns,
    values: table.rows.map(({ values }) => columns.map(({ key }) => numberOf(values[key]))),
    texts: table.rows.map(({ values }) => columns.map((one) => valueText(one, values[one.key]))),
    spec,
  };
}

/** @param {Chart} chart @returns {number[]} */
function numbersOf({ values }) {
  return values.flat().filter((value) => value !== null);
}

/**
 * @param {Table} table
 * @param {Chart} chart
 * @returns {Plot}
 */
function toPlot(table, chart) {
  const { columns, names, texts, spec } = chart;
  const rates = numbersOf(chart);
  const wide = Math.max(...rates) / Math.min(...rates) >= LOG_FROM;
  return {
    id: plotName(spec.id(table)),
    title: spec.title(table),
    summary: summaryOf(chart),
    note: spec.note,
    group: null,
    variants: (wide ? ['log', 'linear'] : ['linear', 'log']).map((kind) => ({
      name: kind,
      draw: ({ width }) => draw(chart, { width, log: kind === 'log' }),
    })),
    table: {
      columns: [
        { name: table.columns[0].name, align: 'left' },
        ...columns.map(({ name }) => ({ name, align: /** @type {const} */ ('right') })),
      ],
      rows: names.map((name, i) => ({ series: null, texts: [name, ...texts[i]] })),
    },
  };
}

/** @param {Chart} chart */
function summaryOf({ columns, values, names, spec }) {
  const parts = columns.map((column, i) => {
    const own = values.map((row) => row[i]).filter((value) => value !== null);
    if (own.length === 0) return `${column.name}: none`;
    const [least, most] = [Math.min(...own), Math.max(...own)].map((value) => text(column, value));
    return `${column.name}: ${least} to ${most}`;
  });
  return `${spec.axis} of ${names.length} ${spec.things}. ${parts.join('; ')}.`;
}

/** @param {Column} column @param {number} value */
function text(column, value) {
  return valueText({ ...column, shows: [] }, { value, low: null, high: null, n: 1 });
}

/**
 * @param {Chart} chart
 * @param {{ width: number, log: boolean }} options
 * @returns {import('./plot.js').Drawing}
 */
function draw(chart, { width, log }) {
  const { names, columns, values, spec } = chart;
  const left = namesWidth(names, width);
  const rates = numbersOf(chart);
  const axis = numberAxis(shortNumber, { name: spec.axis, type: log ? 'log' : 'value' });
  const scale = log ? logScale(Math.min(...rates), Math.max(...rates)) : null;
  const low = scale === null ? 0 : scale.min;
  return {
    height: LEGEND_HEIGHT + names.length * (columns.length * BAR_HEIGHT + GROUP_GAP) + AXIS_HEIGHT,
    nearest: 'xy',
    option: /** @type {any} */ ({
      grid: { left, right: 24, top: LEGEND_HEIGHT, bottom: AXIS_HEIGHT },
      legend: {
        top: 0,
        left,
        itemWidth: 12,
        itemHeight: 10,
        itemGap: 24,
        textStyle: { color: roleColor('ink'), fontSize: 12 },
        data: columns.map(({ name }) => name),
      },
      xAxis: scale === null ? { ...axis, min: 0 } : withTicks(axis, scale),
      yAxis: namesAxis(names, left),
      series: columns.map(({ name }, i) => ({
        type: 'bar',
        name,
        barWidth: BAR_HEIGHT - 1,
        barGap: '12%',
        itemStyle: { color: freeColor(i) },
        // An axis of logarithms has no zero: a bar begins at its low end.
        data: values.map((row) => row[i] ?? (log ? low : 0)),
      })),
    }),
    points: pointsOf(chart),
  };
}

/**
 * @param {Chart} chart
 * @returns {import('./plot.js').Point[]}
 */
function pointsOf({ names, columns, values, spec }) {
  return names.flatMap((name, row) =>
    columns.flatMap((column, i) => {
      const value = values[row][i];
      if (value === null) return [];
      const at = /** @type {[number, number]} */ ([value, row]);
      const shown = `${name}, ${column.name}: ${text(column, value)} ${spec.axis}`;
      return [{ seriesIndex: i, at, series: null, text: shown }];
    }),
  );
}
