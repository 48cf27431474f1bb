/**
 * A ratio of tables as dots: a row for each contender, a dot for each table at its ratio to the
 * best of that table. One plot for each group of tables.
 */

import { formatRatio, NONE } from '../../lib/format.js';
import { numberOf } from '../../stats/metrics.js';
import { seriesColor } from '../palette.js';
import { rowTexts } from '../text.js';
import { logScale, NARROW, namesAxis, namesWidth, numberAxis, withTicks } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */

const ROW_HEIGHT = 30;
/** Of one after the other fixture, so that dots tell apart without colour too. */
const SYMBOLS = Object.freeze(['circle', 'rect', 'triangle', 'diamond', 'pin', 'arrow']);

/**
 * @typedef {object} DotsSpec
 * @property {'dots'} kind
 * @property {string} ratio key of the metric
 * @property {string} figure key of the metric that is shown beside it
 * @property {(table: Table) => string} plot the name of the plot that a table belongs to
 * @property {(table: Table) => string} series what a dot stands for
 * @property {(row: TableRow) => boolean} has
 * @property {string} id
 * @property {string} head
 * @property {string} axis
 * @property {(first: string) => string} summary
 * @property {string} note
 *
 * @typedef {object} Dot
 * @property {number} row
 * @property {number} fixture
 * @property {number} ratio
 * @property {string} text
 */

/**
 * @param {readonly Table[]} tables
 * @param {DotsSpec} spec
 * @returns {Plot[]}
 */
export function dots(tables, spec) {
  const names = [...new Set(tables.map(spec.plot))];
  return names.flatMap((name) =>
    toPlot(
      name,
      tables.filter((table) => spec.plot(table) === name),
      spec,
    ),
  );
}

/**
 * @param {string} name
 * @param {Table[]} tables
 * @param {DotsSpec} spec
 * @returns {Plot[]} none where nothing was measured
 */
function toPlot(name, tables, spec) {
  const names = [
    ...new Set(tables.flatMap((table) => table.rows.map((row) => nameOf(table, row)))),
  ];
  const all = tables.flatMap((table, fixture) =>
    table.rows.filter(spec.has).flatMap((row) => {
      const ratio = numberOf(row.values[spec.ratio]);
      const texts = rowTexts(
        { ...table, columns: table.columns.map((one) => ({ ...one, shows: [] })) },
        row,
      );
      const text = texts[table.columns.findIndex(({ key }) => key === spec.figure)];
      return ratio === null ? [] : [{ row: names.indexOf(texts[0]), fixture, ratio, text }];
    }),
  );
  if (all.length === 0) return [];
  const means = names.map((_, row) => meanRatio(all.filter((dot) => dot.row === row)));
  const order = names
    .map((_, row) => row)
    .filter((row) => means[row] > 0)
    .sort((a, b) => means[b] - means[a]);
  const shownDots = all.map((dot) => ({ ...dot, row: order.indexOf(dot.row) }));
  const shown = order.map((row) => names[row]);
  const fixtures = tables.map(spec.series);
  const unit = tables[0].columns.find(({ key }) => key === spec.figure)?.name ?? '';
  const { head, axis } = spec;
  return [
    {
      id: `${spec.id}-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
      title: `${name}: speed against the fastest`,
      summary: spec.summary(shown[0]),
      note: spec.note,
      group: null,
      variants: [
        {
          name: 'log',
          draw: ({ width }) => draw({ dots: shownDots, shown, fixtures, width, unit, axis }),
        },
      ],
      table: toTable(shownDots, shown, fixtures, { head, unit }),
    },
  ];
}

/**
 * @param {Table} table
 * @param {TableRow} row
 */
function nameOf(table, row) {
  return rowTexts(table, row)[0];
}

/** @param {readonly Dot[]} dots @returns {number} geometric; 0 without any */
function meanRatio(dots) {
  if (dots.length === 0) return 0;
  return Math.exp(dots.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / dots.length);
}

/**
 * @param {readonly Dot[]} dots
 * @param {readonly string[]} names
 * @param {readonly string[]} fixtures
 * @param {{ head: string, unit: string }} words
 * @returns {import('./plot.js').PlotTable}
 */
function toTable(dots, names, fixtures, { head, unit }) {
  const right = (/** @type {string} */ name) => ({ name, align: /** @type {const} */ ('right') });
  return {
    columns: [{ name: head, align: 'left' }, ...fixtures.map((name) => right(`${name}, ${unit}`))],
    rows: names.map((name, row) => ({
      series: null,
      texts: [
        name,
        ...fixtures.map((_, fixture) => {
          const dot = dots.find((one) => one.row === row && one.fixture === fixture);
          return dot === undefined ? NONE : `${dot.text} (${formatRatio(dot.ratio)})`;
        }),
      ],
    })),
  };
}

/**
 * @param {{ dots: Dot[], shown: string[], fixtures: string[], width: number,
 *   unit: string, axis: string }} what
 * @returns {import('./plot.js').Drawing}
 */
function draw({ dots, shown, fixtures, width, unit, axis: axisName }) {
  const left = namesWidth(shown, width);
  const narrow = width < NARROW;
  const least = Math.min(...dots.map(({ ratio }) => ratio));
  const scale = logScale(least / 1.1, 1, narrow ? 4 : 8);
  const axis = numberAxis((value) => String(Number(value.toPrecision(2))), {
    name: axisName,
    type: 'log',
  });
  return {
    height: shown.length * ROW_HEIGHT + 88,
    nearest: 'xy',
    option: /** @type {any} */ ({
      legend: { data: fixtures, top: 0, left, itemWidth: 14, icon: undefined },
      grid: { left, right: narrow ? 24 : 40, top: 34, bottom: 46 },
      xAxis: withTicks(axis, { ...scale, max: Math.max(1, scale.max) }),
      yAxis: namesAxis(shown, left),
      series: fixtures.map((name, fixture) => ({
        name,
        type: 'scatter',
        symbol: SYMBOLS[fixture % SYMBOLS.length],
        symbolSize: 11,
        itemStyle: { color: seriesColor(fixture), opacity: 0.9 },
        data: dots.filter((dot) => dot.fixture === fixture).map(({ ratio, row }) => [ratio, row]),
      })),
    }),
    points: dots.map(({ ratio, row, fixture, text }) => ({
      seriesIndex: fixture,
      at: [ratio, row],
      series: null,
      text:
        `${shown[row]}, ${fixtures[fixture]}: ${text} ${unit}, ` +
        `${formatRatio(ratio)} of the fastest`,
    })),
  };
}
