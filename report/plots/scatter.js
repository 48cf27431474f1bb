/** Single operations as points, with a line by least squares: one plot per table. */

import { plainText } from '../../lib/format.js';
import { freeColor } from '../palette.js';
import { numberAxis } from './axes.js';
import { columnOf, countOf, formatOf, headOf, left, right, rowsOf } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {import('../../lib/report-types.js').TableRow} TableRow */
/** @typedef {{ slopeNs: number, interceptNs: number } | null} Fit null: too few points */
/** @typedef {(value: number | null) => string} Format */

const HEIGHT = 380;
/** More points would overlap and make a page of some megabytes. */
const POINTS_MAX = 5000;

/**
 * @typedef {object} ScatterSpec
 * @property {'scatter'} kind
 * @property {(tables: readonly Table[]) => string} id
 * @property {(tables: readonly Table[]) => string} title
 * @property {(label: string, fit: Fit) => string} summary
 * @property {string} note
 * @property {string} metric metric whose column has the unit
 * @property {(benchmark: any) => boolean} has
 * @property {(row: TableRow) => string} series
 * @property {(benchmark: any) => [number, number][]} points
 * @property {(points: [number, number][]) => Fit} fit
 * @property {string} xName
 * @property {string} yName
 * @property {string} head head of the name
 * @property {[string, string]} fitNames names of intercept and slope
 * @property {string} thing singular unit of x: `key`
 *
 * @typedef {{ label: string, points: [number, number][], fit: Fit }} Cloud
 */

/**
 * @param {readonly Table[]} tables
 * @param {ScatterSpec} spec
 * @returns {Plot[]} empty without a point
 */
export function scatter(tables, spec) {
  return tables.flatMap((table) => {
    const [row] = rowsOf([table], ({ benchmarks: [one] }) => spec.has(one));
    if (row === undefined) return [];
    const all = spec.points(row.benchmarks[0]);
    if (all.length === 0) return [];
    const step = Math.ceil(all.length / POINTS_MAX);
    const points = all.filter((_, i) => i % step === 0);
    const cloud = { label: plainText(spec.series(row)), points, fit: spec.fit(all) };
    return [toPlot(cloud, table, spec)];
  });
}

/**
 * @param {Cloud} cloud
 * @param {Table} table
 * @param {ScatterSpec} spec
 * @returns {Plot}
 */
function toPlot(cloud, table, spec) {
  const { label, fit } = cloud;
  const format = formatOf(columnOf([table], spec.metric));
  return {
    ...headOf(spec, [table]),
    summary: spec.summary(label, fit),
    note: spec.note,
    variants: [{ name: 'linear', draw: () => draw(cloud, { spec, format }) }],
    table: {
      columns: [left(spec.head), ...spec.fitNames.map(right)],
      rows: [
        {
          series: null,
          texts: [label, format(fit?.interceptNs ?? null), format(fit?.slopeNs ?? null)],
        },
      ],
    },
  };
}

/**
 * @param {Cloud} cloud
 * @param {{ spec: ScatterSpec, format: Format }} options
 * @returns {import('./plot.js').Drawing}
 */
function draw({ label, points, fit }, { spec: { xName, yName, thing }, format }) {
  const most = Math.max(1, ...points.map(([x]) => x));
  const ends = fit === null ? [] : [0, most].map((x) => [x, fit.interceptNs + fit.slopeNs * x]);
  const color = freeColor(1);
  const endLabel = { show: fit !== null, formatter: equation(fit), color };
  return {
    height: HEIGHT,
    nearest: 'xy',
    option: /** @type {any} */ ({
      grid: { left: 82, right: 190, top: 14, bottom: 48 },
      xAxis: { ...numberAxis(String, { name: xName }), min: 0, max: most },
      yAxis: { ...numberAxis(format, { name: yName, vertical: true }), min: 0 },
      series: [
        { type: 'scatter', data: points, symbolSize: 4, itemStyle: { color: freeColor(0) } },
        { type: 'line', data: ends, showSymbol: false, lineStyle: { color, width: 2 }, endLabel },
      ],
    }),
    points: points.map((at) => ({
      seriesIndex: 0,
      at,
      series: null,
      text: `${label}, ${countOf(at[0], thing)}: ${format(at[1])}`,
    })),
  };
}

/** @param {Fit} fit @returns {string} `0.0100 x + 0.2000 ms` */
function equation(fit) {
  if (fit === null) return '';
  const [slope, intercept] = [fit.slopeNs / 1e6, fit.interceptNs / 1e6];
  const sign = intercept < 0 ? '-' : '+';
  return `${slope.toFixed(4)} x ${sign} ${Math.abs(intercept).toFixed(4)} ms`;
}
