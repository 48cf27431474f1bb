/**
 * Percentile curves: how long all but the slowest took, on an axis that gives each further nine of
 * the percentile the same room. The drawing and the table; what they are of is said by the plots.
 */

import { formatDuration, plainText } from '../../lib/format.js';
import { percentileCurve } from '../analysis/curve.js';
import { roleColor, seriesColor } from '../palette.js';
import { logScale, NARROW, numberAxis, textWidth, withTicks } from './plot.js';

/** Percentiles of the table. */
const QUANTILES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];
const HEIGHT = 380;
/** Of the points so many have one mark; that of each curve elsewhere. */
const SYMBOL_EVERY = 4;
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'];

/**
 * @typedef {object} Curve
 * @property {string} name with its marks
 * @property {string} plain without
 * @property {number} series
 * @property {import('../analysis/curve.js').CurvePoint[]} points
 * @property {import('../../measure/histogram.js').Histogram} histogram
 */

/** @typedef {{ value: string, of: string }} AxisNames what is measured, and of what */

/**
 * @param {readonly Curve[]} curves at least one
 * @param {AxisNames} [names]
 * @returns {import('./plot.js').Variant[]}
 */
export function curveVariants(curves, names = { value: 'latency', of: 'the operations' }) {
  return [
    { name: 'log', draw: ({ width }) => draw(curves, { width, names, log: true }) },
    { name: 'linear', draw: ({ width }) => draw(curves, { width, names, log: false }) },
  ];
}

/**
 * @param {readonly Curve[]} curves
 * @param {string} what the curves are of
 * @returns {import('./plot.js').PlotTable}
 */
export function curveTable(curves, what) {
  return {
    columns: [
      { name: what, align: 'left' },
      { name: 'least', align: 'right' },
      ...QUANTILES.map((q) => ({
        name: `p${Number((q * 100).toFixed(2))}`,
        align: /** @type {const} */ ('right'),
      })),
      { name: 'greatest', align: 'right' },
    ],
    rows: curves.map(({ name, series, histogram }) => ({
      series,
      texts: [
        name,
        formatDuration(histogram.min),
        ...QUANTILES.map((q) => formatDuration(histogram.printablePercentile(q))),
        formatDuration(histogram.max),
      ],
    })),
  };
}

/**
 * @param {readonly Curve[]} curves
 * @param {string} what is drawn: `Latency`
 * @returns {string} who has the least and the greatest at the 99th
 */
export function curveSummary(curves, what) {
  const at99 = curves
    .map(({ plain, histogram }) => ({ name: plain, ns: histogram.printablePercentile(0.99) }))
    .filter((one) => one.ns !== null)
    .sort((a, b) => Number(a.ns) - Number(b.ns));
  const [least, most] = [at99[0], at99[at99.length - 1]];
  if (at99.length === 0) return `${what} by percentile.`;
  if (at99.length === 1) {
    return `${what} by percentile. ${least.name} has ${formatDuration(least.ns)} at the 99th.`;
  }
  return (
    `${what} by percentile. At the 99th ${least.name} has the least, ` +
    `${formatDuration(least.ns)}, ${most.name} the greatest, ${formatDuration(most.ns)}.`
  );
}

/**
 * @param {number} oneIn
 * @returns {string} `99.9 %`
 */
export function percentileText(oneIn) {
  if (oneIn <= 1) return '0 %';
  const digits = Math.max(0, Math.ceil(Math.log10(oneIn) - 2));
  return `${(100 * (1 - 1 / oneIn)).toFixed(Math.max(digits, oneIn < 10 ? 0 : digits))} %`;
}

/**
 * @param {readonly Curve[]} curves
 * @param {{ width: number, names: AxisNames, log: boolean }} options
 * @returns {import('./plot.js').Drawing}
 */
function draw(curves, { width, names, log }) {
  const narrow = width < NARROW;
  const values = curves.flatMap(({ points }) => points.map(({ latencyNs }) => latencyNs));
  const furthest = Math.max(...curves.flatMap(({ points }) => points.map(({ oneIn }) => oneIn)));
  const right = narrow
    ? 16
    : Math.min(220, Math.max(...curves.map(({ name }) => textWidth(name))) + 18);
  const xTicks = [2, 4, 10, 20, 100, 1000, 1e4, 1e5, 1e6].filter((tick) => tick <= furthest);
  const y = numberAxis(formatDuration, {
    name: narrow ? '' : names.value,
    vertical: true,
    type: log ? 'log' : 'value',
  });
  return {
    height: HEIGHT,
    nearest: 'xy',
    option: {
      grid: { left: narrow ? 62 : 82, right, top: 14, bottom: 48 },
      xAxis: withTicks(
        numberAxis(percentileText, { name: `percentile of ${names.of}`, type: 'log' }),
        { min: firstOf(curves), max: furthest, ticks: xTicks },
      ),
      yAxis: log
        ? withTicks(y, logScale(Math.min(...values), Math.max(...values), 10))
        : { ...y, min: 0 },
      series: curves.map((curve) => lineOf(curve, narrow)),
    },
    points: curves.flatMap(({ points, name, series }, seriesIndex) =>
      points.map(({ oneIn, latencyNs }) => ({
        seriesIndex,
        at: /** @type {[number, number]} */ ([oneIn, latencyNs]),
        series,
        text: `${name}: ${percentileText(oneIn)} within ${formatDuration(latencyNs)}`,
      })),
    ),
  };
}

/** @param {readonly Curve[]} curves */
function firstOf(curves) {
  return Math.min(...curves.map(({ points }) => points[0].oneIn));
}

/**
 * @param {Curve} curve
 * @param {boolean} narrow
 * @returns {any}
 */
function lineOf({ name, series, points }, narrow) {
  const color = seriesColor(series);
  const shape = SYMBOLS[series % SYMBOLS.length];
  return {
    type: 'line',
    name,
    data: points.map(({ oneIn, latencyNs }) => [oneIn, latencyNs]),
    // A second mark beside the colour, for those who do not tell colours apart.
    symbol: (/** @type {unknown} */ _, /** @type {{ dataIndex: number }} */ { dataIndex }) =>
      dataIndex % SYMBOL_EVERY === series % SYMBOL_EVERY ? shape : 'none',
    symbolSize: 6,
    showAllSymbol: true,
    lineStyle: { color, width: 2, type: series % 8 >= 4 ? 'dashed' : 'solid' },
    itemStyle: { color },
    endLabel: {
      show: !narrow,
      formatter: () => name,
      color: roleColor('ink', series),
      fontSize: 11,
      distance: 8,
      width: 205,
      overflow: 'truncate',
    },
    labelLayout: { moveOverlap: 'shiftY' },
  };
}

/**
 * @typedef {object} PercentilesSpec
 * @property {'percentiles'} kind
 * @property {string} id
 * @property {string} title
 * @property {string} note
 * @property {(benchmark: any) => boolean} has
 * @property {(row: import('../../lib/report-types.js').TableRow) => string} series
 * @property {(benchmark: any) => number} x a plot for the least and one for the greatest
 * @property {(x: number) => string} xText
 * @property {(benchmark: any) => import('../../measure/histogram.js').Histogram | null} histogram
 * @property {string} what
 * @property {string} head
 * @property {AxisNames} names
 */

/**
 * @param {readonly import('../../lib/report-types.js').Table[]} tables
 * @param {PercentilesSpec} spec
 * @returns {import('./plot.js').Plot[]}
 */
export function percentiles(tables, spec) {
  const rows = tables.flatMap((table) =>
    table.rows.filter(({ benchmarks: [one] }) => spec.has(one)),
  );
  if (rows.length === 0) return [];
  const numbers = rows.map(({ benchmarks: [one] }) => spec.x(one));
  const labels = [...new Set(rows.map(spec.series))];
  return [...new Set([Math.min(...numbers), Math.max(...numbers)])].flatMap((n) => {
    // The number of a series is its colour, in every plot of the tables the same.
    const curves = labels.flatMap((label, series) => {
      const row = rows.find((one) => spec.series(one) === label && spec.x(one.benchmarks[0]) === n);
      const histogram = row === undefined ? null : spec.histogram(row.benchmarks[0]);
      const points = histogram === null ? [] : percentileCurve(histogram);
      if (histogram === null || points.length < 2) return [];
      return [{ name: plainText(label), plain: plainText(label), series, points, histogram }];
    });
    if (curves.length === 0) return [];
    return [
      {
        ...{ id: `${spec.id}-${n}`, title: `${spec.title}, ${spec.xText(n)}`, note: spec.note },
        summary: curveSummary(curves, spec.what),
        group: null,
        variants: curveVariants(curves, spec.names),
        table: curveTable(curves, spec.head),
      },
    ];
  });
}
