/**
 * Metrics of tables as bars, one row per table row: one bar with its interval, rounds and ceilings;
 * stacked; or side by side. bar-drawing.js draws them.
 */

import { NONE, plainText } from '../../lib/format.js';
import { numberOf } from '../../stats/metrics.js';
import { valueText } from '../text.js';
import { drawBars } from './bar-drawing.js';
import {
  columnOf,
  contendersIn,
  formatOf,
  headOf,
  left,
  partsOf,
  plainName,
  right,
} from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('./plot.js').Table} Table */
/** @typedef {import('./plot.js').TableRow} TableRow */
/** @typedef {import('./plot.js').Column} Column */
/** @typedef {(value: number | null) => string} Format */

/**
 * @typedef {object} Measure length of a bar: a metric of the table, or a value that `of` reads from
 *   a row's benchmark
 * @property {string} key key of the metric
 * @property {string} [name]
 * @property {import('../palette.js').Role} [role] its colour, if different from the contender's
 * @property {string} [unit] with `of`
 * @property {string} [as]
 * @property {(benchmark: any) => number | null} [of]
 *
 * @typedef {object} Mark a ceiling beside a bar
 * @property {'driver-limit' | 'wire-limit'} role
 * @property {string} name
 * @property {number} value
 *
 * @typedef {object} Entry a row of the drawing
 * @property {TableRow} row
 * @property {string} name with its marks
 * @property {string} plain without
 * @property {number} series
 * @property {(number | null)[]} values one per measure
 * @property {string[]} texts texts of the values
 * @property {number | null} low lower end of the interval of the first value
 * @property {number | null} high
 * @property {number} n number of rounds
 * @property {number[]} rounds
 * @property {Mark[]} marks
 *
 * @typedef {import('./plot.js').Shared & { kind: 'bars', each?: import('./plot.js').Each, layout?:
 *   'stacked' | 'grouped', measures?: readonly Measure[], columns?: string, has?: (row: TableRow)
 *   => boolean, name?: (row: TableRow) => string, order?: 'ascending', scales?: readonly string[],
 *   rounds?: (benchmark: any) => number[], marks?: (row: TableRow) => Mark[], more?: readonly
 *   string[], summary: (entries: readonly Entry[], format: Format, names: readonly string[]) =>
 *   string, note: string | ((entries: readonly Entry[]) => string), axis: string, head: string, }}
 *   BarsSpec columns: instead of measures, a metric with a column per kind; more: further metrics
 *   of the numbers
 */

/**
 * @typedef {object} Chart
 * @property {Entry[]} entries
 * @property {(Measure & { name: string })[]} measures
 * @property {Format} format
 * @property {string} unit
 * @property {BarsSpec} spec
 */

/**
 * @param {readonly Table[]} tables
 * @param {BarsSpec} spec
 * @param {import('./plot.js').PlotContext} context
 * @returns {Plot[]} empty without a value
 */
export function bars(tables, spec, context) {
  return partsOf(spec, tables).flatMap((part) => {
    const columns = measuresIn(part, spec);
    if (columns.length === 0) return [];
    const chart = chartOf(part, { spec, columns, context });
    return chart.entries.length === 0 ? [] : [toPlot(part, chart)];
  });
}

/**
 * @typedef {{ measure: Measure, column: Pick<Column, 'key' | 'name' | 'unit' | 'as'> }} Measured
 */

/**
 * @param {readonly Table[]} tables
 * @param {BarsSpec} spec
 * @returns {Measured[]}
 */
function measuresIn(tables, { measures = [], columns: prefix }) {
  if (prefix !== undefined) {
    return tables
      .flatMap(({ columns }) => columns)
      .filter(({ key }) => key.startsWith(`${prefix}_`))
      .map((column) => ({ measure: { key: column.key }, column }));
  }
  return measures.flatMap((measure) => {
    const { key, name = key, unit = '', as, of } = measure;
    const column = of === undefined ? columnOf(tables, key) : { key, name, unit, as };
    return column === undefined ? [] : [{ measure, column }];
  });
}

/**
 * @param {readonly Table[]} tables
 * @param {{ spec: BarsSpec, columns: Measured[], context: import('./plot.js').PlotContext }} how
 * @returns {Chart}
 */
function chartOf(tables, { spec, columns, context }) {
  const { has = () => true } = spec;
  const entries = contendersIn(tables, has).flatMap(({ name, row }) => {
    const values = columns.map(({ measure }) => amountOf(row, measure));
    if (values.every((value) => value === null)) return [];
    const first = row.values[columns[0].measure.key];
    const interval = first !== undefined && 'value' in first ? first : NO_INTERVAL;
    return [
      {
        row,
        name: spec.name === undefined ? name : plainText(spec.name(row)),
        plain: plainName(row),
        series: context.seriesOf(row.contender),
        values,
        texts: columns.map(({ measure, column }) => textOf(row, measure, column)),
        low: interval.low,
        high: interval.high,
        n: interval.n,
        rounds: spec.rounds?.(row.benchmarks[0]) ?? [],
        marks: spec.marks?.(row) ?? [],
      },
    ];
  });
  if (spec.order === 'ascending') entries.sort((a, b) => Number(a.values[0]) - Number(b.values[0]));
  const [{ column }] = columns;
  return {
    entries,
    spec,
    unit: column.name,
    format: formatOf({ ...column, digits: undefined }),
    measures: columns.map(({ measure, column: { name } }) => ({ ...measure, name })),
  };
}

const NO_INTERVAL = Object.freeze({ low: null, high: null, n: 0 });

/**
 * @param {TableRow} row
 * @param {Measure} measure
 */
function amountOf({ values, benchmarks: [benchmark] }, { key, of }) {
  if (of !== undefined) return of(benchmark);
  return values[key] === undefined ? null : numberOf(values[key]);
}

/**
 * @param {TableRow} row
 * @param {Measure} measure
 * @param {Measured['column']} column
 */
function textOf(row, measure, column) {
  if (measure.of !== undefined) return formatOf({ ...column })(amountOf(row, measure));
  const value = row.values[measure.key];
  return value === undefined ? NONE : valueText(/** @type {Column} */ (column), value);
}

/**
 * @param {readonly Table[]} tables
 * @param {Chart} chart
 * @returns {Plot}
 */
function toPlot(tables, chart) {
  const { entries, spec, format } = chart;
  const known = entries.flatMap(({ values }) => values.filter((value) => Number(value) > 0));
  const numbers = /** @type {number[]} */ (known);
  // Bars are proportional on a linear axis only.
  const { scales = ['linear', 'log'] } = spec;
  return {
    ...headOf(spec, tables),
    summary: spec.summary(
      entries,
      format,
      chart.measures.map(({ name }) => name),
    ),
    note: typeof spec.note === 'string' ? spec.note : spec.note(entries),
    variants: scales.map((name) => ({
      name,
      draw: ({ width }) => drawBars(chart, { width, log: name === 'log' && numbers.length > 0 }),
    })),
    table: numbersOf(tables, chart),
  };
}

/**
 * @param {readonly Table[]} tables
 * @param {Chart} chart
 * @returns {import('./plot.js').PlotTable}
 */
function numbersOf(tables, { entries, measures, format, spec }) {
  const spans = measures.length === 1 && entries.some(({ low }) => low !== null);
  const rounds = Math.max(0, ...entries.map((entry) => entry.rounds.length));
  const marks = [...new Set(entries.flatMap((entry) => entry.marks.map(({ name }) => name)))];
  const more = (spec.more ?? []).flatMap((key) => columnOf(tables, key) ?? []);
  return {
    columns: [
      left(spec.head),
      ...measures.map(({ name }) => right(name)),
      ...(spans ? [right('from'), right('to'), right('n')] : []),
      ...Array.from({ length: rounds }, (_, i) => right(`round ${i + 1}`)),
      ...marks.map(right),
      ...more.map(({ name }) => right(name)),
    ],
    rows: entries.map(({ name, series, values, texts, low, high, n, row, ...entry }) => ({
      series: spec.layout === 'grouped' ? null : series,
      texts: [
        name,
        ...(measures.length === 1 ? values.map(format) : texts),
        ...(spans ? [format(low), format(high), String(n)] : []),
        ...Array.from({ length: rounds }, (_, i) => format(entry.rounds[i] ?? null)),
        ...marks.map((mark) => format(entry.marks.find((one) => one.name === mark)?.value ?? null)),
        ...more.map((column) => valueText(column, row.values[column.key])),
      ],
    })),
  };
}
