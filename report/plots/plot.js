/**
 * Definition of a plot, and common texts of plots. A kind of plot is a pure function from tables of
 * the model and a specification to plots: texts, a table of numbers and options of ECharts. It
 * renders nothing (that is svg.js) and knows no page, no workload and no metric.
 */

import { NONE, plainText } from '../../lib/format.js';
import { freeColor, roleColor, seriesColor } from '../palette.js';
import { rowTexts, valueText } from '../text.js';

/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */
/** @typedef {import('../../lib/report-types.js').Column} Column */

/**
 * @typedef {object} Point target of the pointer
 * @property {number} seriesIndex index in the option, for its axes
 * @property {[number, number]} at position in values of its axes
 * @property {number | null} series index of a contender's colour
 * @property {string} text
 */

/**
 * @typedef {object} Drawing
 * @property {number} height pixels
 * @property {import('echarts').EChartsOption} option in colours of palette.js only
 * @property {Point[]} points
 * @property {'x' | 'y' | 'xy'} nearest distance by which the pointer finds a point
 */

/**
 * @typedef {object} Variant
 * @property {string} name `linear`, `log`
 * @property {(size: { width: number }) => Drawing} draw
 */

/**
 * @typedef {object} PlotTable the numbers of the plot
 * @property {{ name: string, align: 'left' | 'right' }[]} columns the first names the row
 * @property {{ texts: string[], series: number | null }[]} rows
 */

/**
 * @typedef {object} Plot
 * @property {string} id id and file name: `throughput-get-burst`
 * @property {string} title
 * @property {string} summary description in one sentence: the alternative text
 * @property {string} note reading instructions
 * @property {string | null} of id of its table; null: of the whole document
 * @property {boolean} [first] shown above all tables
 * @property {Variant[]} variants the first is the default
 * @property {PlotTable} table
 */

/**
 * @typedef {object} PlotContext
 * @property {(contender: string | null) => number} seriesOf index of its colour
 */

/**
 * @typedef {object} Shared common part of the specifications
 * @property {(tables: readonly Table[]) => string} id
 * @property {(tables: readonly Table[]) => string} title
 * @property {boolean} [first]
 */

/**
 * One plot per table, or per name of tables.
 * @typedef {'table' | ((table: Table) => string)} Each
 */

/**
 * @param {readonly string[]} contenders contenders of a document, or of several with common colours
 * @returns {PlotContext}
 */
export function plotContext(contenders) {
  const numbers = new Map(contenders.map((name, i) => [name, i]));
  return { seriesOf: (contender) => numbers.get(contender ?? '') ?? 0 };
}

/**
 * @param {{ each?: Each }} spec
 * @param {readonly Table[]} tables
 * @returns {(readonly Table[])[]} the tables of each plot
 */
export function partsOf({ each }, tables) {
  if (each === undefined) return [tables];
  if (each === 'table') return tables.map((table) => [table]);
  return [...new Set(tables.map(each))].map((name) => tables.filter((one) => each(one) === name));
}

/**
 * @param {Shared} spec
 * @param {readonly Table[]} tables
 * @returns {Pick<Plot, 'id' | 'title' | 'of' | 'first'>}
 */
export function headOf(spec, tables) {
  return {
    id: plotName(spec.id(tables)),
    title: spec.title(tables),
    of: tables.length === 1 ? tables[0].id : null,
    ...(spec.first && { first: true }),
  };
}

/**
 * @param {readonly Table[]} tables
 * @param {(row: TableRow) => boolean} has
 * @returns {TableRow[]} including those without a table
 */
export function rowsOf(tables, has) {
  return tables.flatMap(({ rows, plotted = rows }) => plotted).filter(has);
}

/**
 * @param {readonly Table[]} tables
 * @param {(row: TableRow) => boolean} has
 * @returns {{ name: string, row: TableRow }[]} rows with a figure, with the names of tables;
 *   without the harness overhead, which is not a contender, unless it is alone
 */
export function contendersIn(tables, has) {
  const all = tables.flatMap((table) =>
    table.rows.filter(has).map((row) => ({ name: rowTexts(table, row)[0], row })),
  );
  const contenders = all.filter(({ row }) => !row.quiet);
  return contenders.length > 0 ? contenders : all;
}

/**
 * @param {readonly Table[]} tables
 * @param {string} metric its key
 * @returns {Column | undefined}
 */
export function columnOf(tables, metric) {
  return tables
    .flatMap(({ columns }) => columns)
    .find(({ key, role }) => key === metric && role === 'metric');
}

/**
 * @param {Pick<Column, 'unit' | 'as' | 'digits'> | undefined} column
 * @returns {(value: number | null) => string} with unit, without interval
 */
export function formatOf(column) {
  return (value) =>
    column === undefined || value === null
      ? NONE
      : valueText(
          { ...bare, unit: column.unit, as: column.as, digits: column.digits },
          { value, low: null, high: null, n: 1 },
        );
}

/** @type {Column} */
const bare = { key: '', name: '', unit: '', better: null, role: 'metric' };

/**
 * @param {string} name
 * @returns {PlotTable['columns'][number]} a column of numbers
 */
export function right(name) {
  return { name, align: 'right' };
}

/**
 * @param {string} name
 * @returns {PlotTable['columns'][number]} a column of texts
 */
export function left(name) {
  return { name, align: 'left' };
}

/**
 * @param {string} text
 * @returns {string} form for files and identifiers: letters, digits and hyphens only
 */
function plotName(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/**
 * @param {TableRow} row
 * @returns {string} name in a sentence, without marks
 */
export function plainName({ contender }) {
  return plainText(contender ?? '');
}

/**
 * @param {number} n
 * @param {string} thing
 * @returns {string} `1 key`, `5 keys`
 */
export function countOf(n, thing) {
  return `${n} ${thing}${n === 1 ? '' : 's'}`;
}

/**
 * @param {string} text
 * @param {number} [series] series that hides it
 * @returns {any} the heading of a small plot
 */
export function panelTitle(text, series) {
  return {
    text,
    borderColor: 'transparent',
    textStyle: { fontSize: 12, fontWeight: 600, color: roleColor('ink', series) },
  };
}

/**
 * @param {readonly string[]} names
 * @param {{ left: number, narrow?: boolean }} options
 * @returns {any} a legend above the plot
 */
export function legendOf(names, { left: at, narrow = false }) {
  return {
    top: 0,
    left: narrow ? 0 : at,
    borderColor: 'transparent',
    itemWidth: 12,
    itemHeight: 12,
    itemGap: narrow ? 14 : 28,
    textStyle: { color: roleColor('ink'), fontSize: narrow ? 11 : 12 },
    data: [...names],
  };
}

/**
 * @param {{ color: number, series: number | null }} curve
 * @returns {string} colour of a contender, or of a part that is never hidden
 */
export function colorOf({ color, series }) {
  return series === null ? freeColor(color) : seriesColor(series);
}
