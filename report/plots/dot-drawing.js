/** The drawing of ratios as dots, a small plot with a separate axis per panel. */

import { formatRatio } from '../../lib/format.js';
import { roleColor } from '../palette.js';
import {
  figuresAxis,
  intervalSeries,
  logScale,
  NARROW,
  namesAxis,
  namesWidth,
  numberAxis,
  textWidth,
  withTicks,
} from './axes.js';
import { colorOf, legendOf, panelTitle } from './plot.js';

/** @typedef {import('./dots.js').Chart} Chart */
/** @typedef {import('./dots.js').Dot} Dot */

const ROW_HEIGHT = 27;
const PANEL_HEAD = 24;
const LEGEND_HEIGHT = 34;
const AXIS_HEIGHT = 46;
/** Symbols of consecutive series, distinct without colour too. */
const SYMBOLS = Object.freeze(['circle', 'rect', 'triangle', 'diamond', 'pin', 'arrow']);

/**
 * @param {Chart} chart
 * @param {number} width
 * @returns {import('./plot.js').Drawing}
 */
export function drawDots(chart, width) {
  const { panels, series } = chart;
  const narrow = width < NARROW;
  const left = namesWidth(
    panels.flatMap(({ rows }) => rows),
    width,
  );
  const figures = series.length > 0 ? [] : chart.dots.map((dot) => figureOf(dot, narrow));
  const right = Math.min(width / 3, Math.max(18, ...figures.map(textWidth)) + 18);
  const head = panels.some(({ name }) => name !== '') ? PANEL_HEAD : 8;
  let top = series.length > 0 ? LEGEND_HEIGHT : 0;
  const parts = panels.map((panel, index) => {
    const part = panelOf(chart, { index, left, right, top, head, narrow });
    top += head + panel.rows.length * ROW_HEIGHT + AXIS_HEIGHT;
    return part;
  });
  let seriesIndex = 0;
  /** @type {import('./plot.js').Point[]} */
  const points = [];
  for (const { dots, clamp, series: own } of parts) {
    for (const dot of dots) {
      const at = /** @type {[number, number]} */ ([clamp(dot.ratio), dot.at]);
      points.push({ seriesIndex, at, series: dot.color.series, text: pointText(dot, chart) });
    }
    seriesIndex += own.length;
  }
  return {
    height: top + 2,
    nearest: series.length > 0 ? 'xy' : 'y',
    option: /** @type {any} */ ({
      ...(series.length > 0 && { legend: legendOf(series, { left, narrow }) }),
      title: parts.flatMap(({ title }) => title),
      grid: parts.map(({ grid }) => grid),
      xAxis: parts.map(({ xAxis }) => xAxis),
      yAxis: parts.flatMap(({ yAxis }) => yAxis),
      series: parts.flatMap((part) => part.series),
    }),
    points,
  };
}

/**
 * @param {Chart} chart
 * @param {{ index: number, left: number, right: number, top: number, head: number,
 *   narrow: boolean }} where
 */
function panelOf({ dots: all, panels, series: names, spec }, where) {
  const { index, left, right, top, head, narrow } = where;
  const { name, rows } = panels[index];
  const dots = all.filter(({ panel }) => panel === name);
  const known = dots.flatMap(({ ratio, low, high, limits }) => [
    ratio,
    low ?? ratio,
    high ?? ratio,
    ...limits,
  ]);
  const values = known.filter((value) => value > 0);
  const scale = ratioScale(Math.min(1, ...values), Math.max(1, ...values), narrow ? 5 : 9);
  const clamp = (/** @type {number} */ value) => Math.max(scale.min, Math.min(scale.max, value));
  const figures = names.length > 0 ? [] : dots.map((dot) => figureOf(dot, narrow));
  const axes = { gridIndex: index };
  const namesAt = panels.slice(0, index).length * (names.length > 0 ? 1 : 2);
  const axis = numberAxis(formatRatio, { name: spec.axis, type: 'log' });
  return {
    dots,
    clamp,
    title: name === '' ? [] : [{ ...panelTitle(name), left: 0, top: top + 2 }],
    grid: { left, right, top: top + head, height: rows.length * ROW_HEIGHT },
    xAxis: { ...withTicks(axis, scale), ...axes },
    yAxis: [
      { ...namesAxis(rows, left), ...axes },
      ...(names.length > 0 ? [] : [{ ...figuresAxis(figures), ...axes }]),
    ],
    series: seriesOf(dots, { clamp, names, axes: { xAxisIndex: index, yAxisIndex: namesAt } }),
  };
}

/**
 * @param {readonly Dot[]} dots dots of a panel
 * @param {{ clamp: (value: number) => number, names: readonly string[],
 *   axes: { xAxisIndex: number, yAxisIndex: number } }} how
 * @returns {any[]} the dots, with a line at 1, and their intervals
 */
function seriesOf(dots, { clamp, names, axes }) {
  const spans = dots.map(({ low, high, at, color }) =>
    low === null || high === null
      ? null
      : { row: at, low: clamp(low), high: clamp(high), color: colorOf(color) },
  );
  const limits = [...new Set(dots.flatMap((dot) => dot.limits))].map((limit) => ({
    xAxis: clamp(limit),
    lineStyle: { color: roleColor('driver-limit'), type: 'solid' },
  }));
  const tables = names.length > 0 ? names.map((_, i) => i) : [null];
  return [
    ...tables.map((table, i) => ({
      ...axes,
      type: 'scatter',
      z: 5,
      silent: true,
      symbolSize: names.length > 0 ? 11 : 9,
      symbol: SYMBOLS[i % SYMBOLS.length],
      ...(table !== null && {
        name: names[table],
        itemStyle: { color: colorOf({ color: table, series: null }) },
      }),
      data: dots
        .filter((dot) => table === null || dot.table === table)
        .map(({ ratio, at, color, filled }) => ({
          value: [clamp(ratio), at],
          itemStyle: {
            color: filled ? colorOf(color) : roleColor('surface', color.series ?? undefined),
            borderColor: colorOf(color),
            borderWidth: names.length > 0 ? 0 : 2,
            opacity: 1,
          },
        })),
      ...(i === 0 && {
        markLine: {
          silent: true,
          symbol: 'none',
          label: { show: false },
          lineStyle: { color: roleColor('muted'), type: 'dashed' },
          data: [{ xAxis: 1 }, ...limits],
        },
      }),
    })),
    { ...intervalSeries(spans), ...axes },
  ];
}

/** @param {Dot} dot @param {boolean} narrow */
function figureOf({ ratio, shown }, narrow) {
  return narrow ? formatRatio(ratio) : shown;
}

/**
 * @param {Dot} dot
 * @param {Chart} chart
 */
function pointText({ name, table, ratio, low, high, figures }, { series, units, spec }) {
  const shown = figures.map((text, i) => `${text} ${units[i]}`.trim());
  if (series.length > 0) {
    return `${name}, ${series[table]}: ${shown[0]}, ${formatRatio(ratio)} of the fastest`;
  }
  const range = low === null ? '' : ` (${formatRatio(low)} to ${formatRatio(high)})`;
  return `${name}: ${formatRatio(ratio)}${range}, ${spec.axis}; ${shown.join(', ')}`;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} most maximum number of ticks
 * @returns {ReturnType<typeof logScale>} fine ticks if the ratios are near 1
 */
function ratioScale(low, high, most) {
  for (const step of [0.02, 0.05, 0.1, 0.25]) {
    const from = Math.floor(low / step - 0.2) * step;
    const to = Math.ceil(high / step + 0.2) * step;
    const n = Math.round((to - from) / step);
    if (from <= 0 || n > most) continue;
    const ticks = Array.from({ length: n + 1 }, (_, i) => Number((from + i * step).toFixed(3)));
    return { min: ticks[0], max: ticks[n], ticks };
  }
  return logScale(low / 1.05, high, most - 1);
}
