/** The drawing of curves: over numbers, logarithms, or results in order. */

import { roleColor } from '../palette.js';
import {
  categoryAxis,
  logScale,
  NARROW,
  numberAxis,
  shortNumber,
  textWidth,
  withTicks,
} from './axes.js';
import { colorOf } from './plot.js';

/** @typedef {import('./lines.js').Chart} Chart */
/** @typedef {import('./lines.js').Curve} Curve */

/**
 * @typedef {object} XAxis
 * @property {string} name
 * @property {'value' | 'log' | 'order'} kind
 * @property {number[]} values values of points
 * @property {string[] | null} labels labels of positions
 * @property {number[]} [ticks]
 * @property {(value: number) => string} [format]
 */

const HEIGHT = 360;
/** Points per mark; curves have marks at different points. */
const SYMBOL_EVERY = 4;
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'];
/** Maximum points of a curve that react to the pointer; the others lie between them. */
const POINTS_MAX = 10;

/**
 * @param {Chart} chart
 * @param {{ width: number, log: boolean }} options
 * @returns {import('./plot.js').Drawing}
 */
export function drawLines(chart, { width, log }) {
  const { curves, x, y } = chart;
  const narrow = width < NARROW;
  const named = !narrow && (curves.length > 1 || x.kind !== 'order');
  const right = named
    ? Math.min(220, Math.max(...curves.map(({ name }) => textWidth(name))) + 18)
    : 20;
  return {
    height: HEIGHT,
    nearest: x.kind === 'order' ? 'x' : 'xy',
    option: /** @type {any} */ ({
      grid: { left: narrow ? 62 : 82, right, top: 16, bottom: 48 },
      xAxis: xAxisOf(x),
      yAxis: yAxisOf(chart, { log, name: narrow ? '' : y.name }),
      series: [
        ...curves.map((curve, i) =>
          lineOf(curve, { index: i, chart, narrow, labelX: named ? width - right + 10 : null }),
        ),
        ...curves.map((curve) => intervals(curve, log)).filter(({ data }) => data.length > 0),
        ...kneesOf(curves, narrow, x.format ?? shortNumber),
      ],
    }),
    points: curves.flatMap((curve, seriesIndex) =>
      shownPoints(curve, x).map((point) => ({
        seriesIndex,
        at: /** @type {[number, number]} */ ([point.x, point.y]),
        series: curve.color.series,
        text: chart.text(curve, point),
      })),
    ),
  };
}

/** @param {Curve} curve @param {XAxis} axis */
function shownPoints({ points }, { ticks }) {
  if (ticks === undefined || points.length <= POINTS_MAX) return points;
  // Eight points per decade: thinning by powers of two keeps the whole ones, such as 99 %.
  const step = 2 ** Math.ceil(Math.log2(points.length / POINTS_MAX));
  return points.filter((_, i) => (i + 1) % step === 0 || i === points.length - 1);
}

/** @param {XAxis} axis */
function xAxisOf({ name, kind, values, labels, ticks, format = String }) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (kind === 'order') return orderAxis(labels ?? []);
  const axis = numberAxis(kind === 'value' ? shortNumber : format, { name });
  if (kind === 'value') return { ...axis, min: 0, max: Math.max(1, most) };
  const scale = ticks === undefined ? logScale(least, most) : { min: least, max: most, ticks };
  return withTicks({ ...axis, type: 'log' }, scale);
}

/** @param {string[]} labels */
function orderAxis(labels) {
  const label = { color: roleColor('muted'), fontSize: 11, hideOverlap: true };
  return { ...categoryAxis(labels, label), axisLine: { lineStyle: { color: roleColor('grid') } } };
}

/**
 * @param {Chart} chart
 * @param {{ log: boolean, name: string }} options
 */
function yAxisOf({ curves, y: { format, fromZero } }, { log, name }) {
  const all = curves.flatMap(({ points }) =>
    points.flatMap(({ y, low, high }) => [
      y,
      high ?? y,
      fromZero && !(Number(low) > 0) ? y : (low ?? y),
    ]),
  );
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const text = (/** @type {number} */ value) =>
    /\/ ?s$/.test(name) ? shortNumber(value) : format(value);
  const axis = numberAxis(text, { name, vertical: true, type: log ? 'log' : 'value' });
  if (log) return withTicks(axis, logScale(Math.max(1e-9, least), most, 10));
  if (fromZero) return { ...axis, min: 0 };
  // The axis ends where the data end, not at round numbers.
  const room = (most - least || most || 1) * 0.1;
  const splitLine = { ...axis.splitLine, showMinLine: false, showMaxLine: false };
  const ends = { showMinLabel: false, showMaxLabel: false };
  return {
    ...axis,
    splitLine,
    axisLabel: { ...axis.axisLabel, ...ends },
    min: Math.max(0, least - room),
    max: most + room,
    splitNumber: 4,
  };
}

/**
 * @param {Curve} curve
 * @param {{ index: number, chart: Chart, narrow: boolean, labelX: number | null }} options labelX:
 *   position of its name; null: no name
 * @returns {any}
 */
function lineOf({ name, color: ownColor, points }, { index, chart, narrow, labelX }) {
  const number = ownColor.series ?? ownColor.color;
  const color = colorOf(ownColor);
  const inOrder = chart.x.kind === 'order';
  const shape = inOrder ? 'circle' : SYMBOLS[number % SYMBOLS.length];
  const dense = chart.x.ticks !== undefined;
  return {
    type: 'line',
    name,
    data: points.map(({ x, y }) => [x, y]),
    // A symbol in addition to the colour, for colour-blind readers.
    symbol: (/** @type {unknown} */ _, /** @type {{ dataIndex: number }} */ { dataIndex }) =>
      dense && (narrow || dataIndex % SYMBOL_EVERY !== number % SYMBOL_EVERY) ? 'none' : shape,
    symbolSize: 6,
    showAllSymbol: true,
    lineStyle: inOrder
      ? { color, width: 1, opacity: 0.5 }
      : { color, width: 2, type: number % 8 >= 4 ? 'dashed' : 'solid' },
    itemStyle: { color },
    endLabel: {
      show: labelX !== null,
      formatter: () => name,
      color,
      fontSize: 11,
      width: 205,
      overflow: 'truncate',
    },
    // In one column, where names of curves that end at the same height are moved apart.
    labelLayout: { x: labelX ?? 0, align: 'left', moveOverlap: 'shiftY' },
    ...(index === 0 && linesOf(chart)),
  };
}

/** @param {Chart} chart @returns {any} marks of changes of level, and of levels */
function linesOf({ changes, levels }) {
  if (changes.length === 0) return {};
  const lineStyle = { color: roleColor('muted'), type: 'dashed', width: 1 };
  return {
    markLine: {
      silent: true,
      symbol: 'none',
      label: { show: false },
      data: [
        ...changes.map((xAxis) => ({
          xAxis,
          lineStyle: { color: roleColor('driver-limit'), type: 'solid', width: 1.5 },
        })),
        ...levels.map(([from, to]) => [{ coord: from, lineStyle }, { coord: to }]),
      ],
    },
  };
}

/**
 * @param {Curve} curve
 * @param {boolean} log logarithmic axis, which has no 0
 * @returns {any} vertical lines from low to high
 */
function intervals({ points, color }, log) {
  const known = points.filter(
    ({ low, high }) => low !== null && high !== null && (low > 0 || !log),
  );
  return {
    type: 'custom',
    silent: true,
    data: known.map(({ x, low, high }) => [x, low, high]),
    encode: { x: 0, y: [1, 2] },
    renderItem: (/** @type {any} */ _, /** @type {any} */ api) => {
      const [x1, y1] = api.coord([api.value(0), api.value(1)]);
      const [x2, y2] = api.coord([api.value(0), api.value(2)]);
      const style = { stroke: colorOf(color), lineWidth: 1.5, fill: 'none' };
      return { type: 'line', shape: { x1, y1, x2, y2 }, style };
    },
  };
}

/**
 * @param {readonly Curve[]} curves
 * @param {boolean} narrow
 * @param {(x: number) => string} format
 * @returns {any[]} rings around the knees
 */
function kneesOf(curves, narrow, format) {
  const knees = curves.flatMap(({ points, color }) =>
    points.filter(({ marked }) => marked).map(({ x, y }) => ({ x, y, color })),
  );
  if (knees.length === 0) return [];
  return [
    {
      type: 'scatter',
      silent: true,
      z: 6,
      symbol: 'circle',
      symbolSize: 15,
      data: knees.map(({ x, y, color }) => ({
        value: [x, y],
        itemStyle: { color: 'none', borderColor: colorOf(color), borderWidth: 2, opacity: 1 },
      })),
      label: {
        show: !narrow,
        position: 'top',
        fontSize: 11,
        color: roleColor('ink'),
        formatter: (/** @type {any} */ { dataIndex }) => `knee ${format(knees[dataIndex].x)}`,
      },
    },
  ];
}
