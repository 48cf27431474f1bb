/**
 * Fetches of many keys as plots: each fetch as a point with a line by least squares, or the medians
 * by the number of keys, a curve for each number in flight.
 */

import { formatDuration } from '../../lib/format.js';
import {
  fitPoints,
  groupName,
  scatterPoints,
  toFetchGroups,
} from '../../workloads/mget/analysis.js';
import { seriesColor } from '../palette.js';
import { countOf, numberAxis } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../../workloads/mget/analysis.js').FetchGroup} FetchGroup */
/** @typedef {import('../../workloads/mget/analysis.js').FetchColumn} FetchColumn */

const HEIGHT = 380;
/** More would make a page of some megabytes, and hide each other. */
const POINTS_MAX = 5000;

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'mget',
  summary: 'fetches of many keys',
  build: ({ result }) => toFetchGroups(result).map((group, i) => toPlot(group, i)),
};

/**
 * @param {FetchGroup} group
 * @param {number} number of the plot
 * @returns {Plot}
 */
function toPlot(group, number) {
  const name = groupName(group);
  const isScatter = group.columns[0].rows.some(({ keys }) => keys === null);
  const points = isScatter ? scatterPoints(group.columns[0].source) : [];
  const curves = isScatter ? [scatterCurve(group.columns[0], points)] : medianCurves(group);
  return {
    id: `mget-${number + 1}-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    title: `${name}: ${isScatter ? 'each fetch' : 'median of a fetch'} by its keys`,
    summary: summaryOf(curves),
    note: isScatter
      ? 'A point is a fetch, the line is by least squares. Lower is better.'
      : 'Median of a fetch, call to last value, for each number in flight. Lower is better.',
    group: null,
    variants: [{ name: 'linear', draw: () => draw(curves) }],
    table: {
      columns: [
        { name: 'in flight', align: 'left' },
        { name: 'a fetch', align: 'right' },
        { name: 'a key', align: 'right' },
      ],
      rows: curves.map(({ label, fit }, series) => ({
        series,
        texts: [
          label,
          formatDuration(fit?.interceptNs ?? null),
          formatDuration(fit?.slopeNs ?? null),
        ],
      })),
    },
  };
}

/**
 * @typedef {object} Curve
 * @property {string} label
 * @property {[number, number][]} points keys and ns
 * @property {import('../../workloads/mget/analysis.js').Fit | null} fit
 * @property {boolean} single points, and not a curve
 */

/**
 * @param {FetchColumn} column
 * @param {[number, number][]} points
 * @returns {Curve}
 */
function scatterCurve({ inFlight }, points) {
  const step = Math.ceil(points.length / POINTS_MAX);
  const shown = points.filter((_, i) => i % step === 0);
  return { label: `${inFlight} in flight`, points: shown, fit: fitPoints(points), single: true };
}

/**
 * @param {FetchGroup} group
 * @returns {Curve[]}
 */
function medianCurves({ columns }) {
  return columns.map(({ inFlight, rows, fit }) => ({
    label: `${inFlight} in flight`,
    points: rows.flatMap(({ keys, warmup, medianNs }) =>
      keys === null || warmup || medianNs === null
        ? []
        : [/** @type {[number, number]} */ ([keys, medianNs])],
    ),
    fit,
    single: false,
  }));
}

/** @param {Curve[]} curves */
function summaryOf(curves) {
  const parts = curves.flatMap(({ label, fit }) =>
    fit === null
      ? []
      : [`${label}: ${formatDuration(fit.interceptNs)} and ${formatDuration(fit.slopeNs)} a key`],
  );
  return parts.length === 0
    ? 'Time of a fetch by its keys.'
    : `A fetch takes, ${parts.join('; ')}.`;
}

/**
 * @param {Curve[]} curves
 * @returns {import('./plot.js').Drawing}
 */
function draw(curves) {
  const most = Math.max(1, ...curves.flatMap(({ points }) => points.map(([keys]) => keys)));
  const time = numberAxis(formatDuration, { name: 'a fetch', vertical: true });
  return {
    height: HEIGHT,
    nearest: 'xy',
    option: /** @type {any} */ ({
      grid: { left: 82, right: 190, top: 14, bottom: 48 },
      xAxis: { ...numberAxis(String, { name: 'keys of a fetch' }), min: 0, max: most },
      yAxis: { ...time, min: 0 },
      series: curves.flatMap((curve, i) => seriesOf(curve, i, most)),
    }),
    points: curves.flatMap(({ label, points, single }, i) =>
      points.map((at) => ({
        seriesIndex: single ? 0 : i,
        at,
        series: i,
        text: `${label}, ${countOf(at[0], 'key')}: ${formatDuration(at[1])}`,
      })),
    ),
  };
}

/**
 * @param {Curve} curve
 * @param {number} i
 * @param {number} most keys
 * @returns {any[]} of ECharts
 */
function seriesOf({ label, points, fit, single }, i, most) {
  const color = seriesColor(i);
  const itemStyle = { color };
  if (!single) {
    const endLabel = { show: true, formatter: label, color };
    return [
      { type: 'line', data: points, symbolSize: 5, itemStyle, lineStyle: itemStyle, endLabel },
    ];
  }
  const ends = fit === null ? [] : [0, most].map((k) => [k, fit.interceptNs + fit.slopeNs * k]);
  const equation =
    fit === null
      ? ''
      : `${(fit.slopeNs / 1e6).toFixed(4)} x ${fit.interceptNs < 0 ? '-' : '+'} ` +
        `${Math.abs(fit.interceptNs / 1e6).toFixed(4)} ms`;
  const lineStyle = { color: seriesColor(i + 1), width: 2 };
  const endLabel = { show: equation !== '', formatter: equation, color: seriesColor(i + 1) };
  return [
    { type: 'scatter', data: points, symbolSize: 4, itemStyle },
    { type: 'line', data: ends, showSymbol: false, lineStyle, endLabel },
  ];
}
