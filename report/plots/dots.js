/**
 * Ratios of tables as dots with their intervals: one row per table row and one axis per panel, or,
 * if tables are series, one row per contender and one dot per table.
 */

import { formatRatio, NONE, plainText } from '../../lib/format.js';
import { numberOf } from '../../stats/metrics.js';
import { valueText } from '../text.js';
import { drawDots } from './dot-drawing.js';
import { columnOf, contendersIn, headOf, left, partsOf, plainName, right } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('./plot.js').Table} Table */
/** @typedef {import('./plot.js').TableRow} TableRow */

/**
 * @typedef {import('./plot.js').Shared & { kind: 'dots', each?: import('./plot.js').Each, ratio:
 *   string, figures: readonly string[], has?: (row: TableRow) => boolean, name?: (row: TableRow) =>
 *   string, panel?: (row: TableRow) => string, series?: (table: Table) => string, color?: (row:
 *   TableRow) => number, filled?: (row: TableRow) => boolean, limits?: (row: TableRow) => readonly
 *   number[], order?: 'mean', rowsMin?: number, summary: (dots: readonly Dot[], names: readonly
 *   string[]) => string, note: string | ((dots: readonly Dot[]) => string), axis: string, head:
 *   string, }} DotsSpec figures: further metrics of numbers and pointer texts; series: meaning of a
 *   dot, if each table has the same contenders; color: colour of rows that are not contenders;
 *   rowsMin: panels with fewer rows are omitted
 *
 * @typedef {object} Dot
 * @property {TableRow} row
 * @property {string} name with its marks
 * @property {string} plain without
 * @property {string} panel
 * @property {number} at its row in the panel
 * @property {number} table index of the series
 * @property {number} ratio
 * @property {number | null} low
 * @property {number | null} high
 * @property {string} shown text of the ratio as in the table
 * @property {string[]} figures
 * @property {{ color: number, series: number | null }} color
 * @property {boolean} filled
 * @property {readonly number[]} limits limits of gates on its ratio
 *
 * @typedef {{ name: string, rows: string[] }} Panel
 * @typedef {{ dots: Dot[], panels: Panel[], series: string[], units: string[],
 *   spec: DotsSpec }} Chart
 */

/**
 * @param {readonly Table[]} tables
 * @param {DotsSpec} spec
 * @param {import('./plot.js').PlotContext} context
 * @returns {Plot[]} empty without a ratio
 */
export function dots(tables, spec, context) {
  return partsOf(spec, tables).flatMap((part) => {
    const all = part.flatMap((table, i) => dotsOf(table, i, spec, context));
    const found = all.filter(
      ({ panel }) => all.filter((one) => one.panel === panel).length >= (spec.rowsMin ?? 1),
    );
    return found.length === 0 ? [] : [toPlot(part, found, spec)];
  });
}

/**
 * @param {Table} table
 * @param {number} index
 * @param {DotsSpec} spec
 * @param {import('./plot.js').PlotContext} context
 * @returns {Dot[]}
 */
function dotsOf(table, index, spec, context) {
  const { has = () => true, panel = () => '' } = spec;
  const column = columnOf([table], spec.ratio);
  if (column === undefined) return [];
  return contendersIn([table], has).flatMap(({ name, row }) => {
    const value = row.values[spec.ratio];
    const ratio = numberOf(value);
    if (ratio === null || ratio <= 0 || !('value' in value)) return [];
    const color =
      spec.series !== undefined
        ? { color: index, series: null }
        : spec.color !== undefined
          ? { color: spec.color(row), series: null }
          : { color: 0, series: context.seriesOf(row.contender) };
    return [
      {
        row,
        ratio,
        color,
        table: index,
        at: 0,
        panel: panel(row),
        name: spec.name === undefined ? name : plainText(spec.name(row)),
        plain: plainName(row),
        low: value.low,
        high: value.high,
        shown: valueText(column, value),
        figures: spec.figures.map((key) => figureOf([table], key, row)),
        filled: spec.filled?.(row) ?? true,
        limits: spec.limits?.(row) ?? [],
      },
    ];
  });
}

/**
 * @param {readonly Table[]} tables
 * @param {string} key
 * @param {TableRow} row
 */
function figureOf(tables, key, row) {
  const column = columnOf(tables, key);
  return column === undefined ? NONE : valueText({ ...column, shows: [] }, row.values[key]);
}

/**
 * @param {readonly Table[]} tables
 * @param {Dot[]} allDots
 * @param {DotsSpec} spec
 * @returns {Plot}
 */
function toPlot(tables, allDots, spec) {
  const panels = panelsOf(allDots, spec);
  for (const dot of allDots) {
    dot.at = panels.find(({ name }) => name === dot.panel)?.rows.indexOf(dot.name) ?? 0;
  }
  /** @type {Chart} */
  const chart = {
    dots: allDots,
    panels,
    spec,
    series: spec.series === undefined ? [] : tables.map(spec.series),
    units: spec.figures.map((key) => columnOf(tables, key)?.name ?? ''),
  };
  const names = panels.flatMap(({ rows }) => rows);
  return {
    ...headOf(spec, tables),
    summary: spec.summary(allDots, names),
    note: typeof spec.note === 'string' ? spec.note : spec.note(allDots),
    variants: [{ name: 'log', draw: ({ width }) => drawDots(chart, width) }],
    table: chart.series.length > 0 ? numbersBySeries(chart) : numbersByRow(chart),
  };
}

/**
 * @param {readonly Dot[]} found
 * @param {DotsSpec} spec
 * @returns {Panel[]} rows in the order of tables, or by their mean
 */
function panelsOf(found, { order }) {
  return [...new Set(found.map(({ panel }) => panel))].map((name) => {
    const own = found.filter(({ panel }) => panel === name);
    const rows = [...new Set(own.map((dot) => dot.name))];
    const means = new Map(rows.map((row) => [row, meanOf(own.filter((dot) => dot.name === row))]));
    if (order === 'mean') rows.sort((a, b) => Number(means.get(b)) - Number(means.get(a)));
    return { name, rows };
  });
}

/** @param {readonly Dot[]} found @returns {number} geometric mean */
function meanOf(found) {
  return Math.exp(found.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / found.length);
}

/** @param {Chart} chart @returns {import('./plot.js').PlotTable} */
function numbersByRow({ dots: allDots, units, spec }) {
  const spans = allDots.some(({ low }) => low !== null);
  return {
    columns: [
      left(spec.head),
      ...units.map(right),
      right('ratio'),
      ...(spans ? [right('from'), right('to')] : []),
    ],
    rows: allDots.map(({ name, figures, ratio, low, high, color: { series } }) => ({
      series,
      texts: [
        ...[name, ...figures, formatRatio(ratio)],
        ...(spans ? [formatRatio(low), formatRatio(high)] : []),
      ],
    })),
  };
}

/** @param {Chart} chart @returns {import('./plot.js').PlotTable} */
function numbersBySeries({ dots: allDots, panels, series, units: [unit], spec }) {
  return {
    columns: [left(spec.head), ...series.map((name) => right(`${name}, ${unit}`))],
    rows: panels.flatMap(({ rows }) =>
      rows.map((name) => ({
        series: null,
        texts: [
          name,
          ...series.map((_, i) => {
            const dot = allDots.find((one) => one.name === name && one.table === i);
            return dot === undefined ? NONE : `${dot.figures[0]} (${formatRatio(dot.ratio)})`;
          }),
        ],
      })),
    ),
  };
}
