/** The drawing of bars: one per row, stacked, or side by side. */

import { freeColor, roleColor, seriesColor } from '../palette.js';
import {
  figuresAxis,
  intervalSeries,
  logScale,
  NARROW,
  namesAxis,
  namesWidth,
  numberAxis,
  shortNumber,
  textWidth,
  withTicks,
} from './axes.js';
import { legendOf } from './plot.js';

/** @typedef {import('./bars.js').Chart} Chart */
/** @typedef {import('./bars.js').Entry} Entry */
/** @typedef {ReturnType<typeof scaleOf>} Scale */

const ROW_HEIGHT = 30;
const BAR_WIDTH = 14;
const GROUPED = Object.freeze({ bar: 9, gap: 14 });
const LEGEND_HEIGHT = 34;
const AXIS_HEIGHT = 48;
/** Ceilings may be much higher than the bars; beyond this factor a mark at the edge shows them. */
const BEYOND = 1.6;

/**
 * @param {Chart} chart
 * @param {{ width: number, log: boolean }} options
 * @returns {import('./plot.js').Drawing}
 */
export function drawBars(chart, { width, log }) {
  const { entries, measures, spec } = chart;
  const narrow = width < NARROW;
  const names = entries.map(({ name }) => name);
  const left = namesWidth(names, width);
  const grouped = spec.layout === 'grouped';
  const scale = scaleOf(chart, { log, narrow });
  const top = measures.length > 1 ? LEGEND_HEIGHT : 8;
  const rowHeight = grouped ? measures.length * GROUPED.bar + GROUPED.gap : ROW_HEIGHT;
  const figures = grouped ? [] : entries.map((entry) => figureOf(entry, chart, narrow));
  const room = grouped ? 24 : Math.min(width / 4, Math.max(...figures.map(textWidth)) + 22);
  const axis = numberAxis((value) => tickOf(value, chart), {
    name: spec.axis,
    type: log ? 'log' : 'value',
  });
  const ticked = scale.ticks.length > 0;
  return {
    height: entries.length * rowHeight + top + AXIS_HEIGHT,
    nearest: grouped ? 'xy' : 'y',
    option: /** @type {any} */ ({
      ...(measures.length > 1 && {
        legend: legendOf(
          measures.map(({ name }) => name),
          { left, narrow },
        ),
      }),
      grid: { left, right: room, top, bottom: AXIS_HEIGHT },
      xAxis: ticked
        ? withTicks(axis, scale)
        : { ...axis, min: 0, max: scale.max, splitNumber: narrow ? 3 : 6 },
      yAxis: grouped ? namesAxis(names, left) : [namesAxis(names, left), figuresAxis(figures)],
      series: [
        ...barsOf(chart, scale),
        ...(measures.length > 1
          ? []
          : [
              intervalSeries(spansOf(entries, scale)),
              roundDots(entries, scale),
              ...ceilingMarks(entries, scale.max),
            ]),
      ],
    }),
    points: grouped ? groupedPoints(chart, scale) : rowPoints(chart, scale),
  };
}

/**
 * @param {Chart} chart
 * @param {{ log: boolean, narrow: boolean }} options
 */
function scaleOf({ entries, spec }, { log, narrow }) {
  const lengths = entries.flatMap(({ values, rounds, low, high }) =>
    spec.layout === 'stacked' ? [sumOf(values)] : [...values, ...rounds, low, high],
  );
  const positive = lengths.filter((value) => value !== null && value > 0);
  const known = /** @type {number[]} */ (positive);
  const ceilings = entries.flatMap(({ marks }) => marks.map(({ value }) => value));
  if (log) {
    const all = [...known, ...ceilings];
    const scale = logScale(Math.min(...all) / 1.6, Math.max(...all), narrow ? 4 : 7);
    return { ...scale, inside: within(scale.min, scale.max) };
  }
  const most = Math.max(1e-9, ...known);
  const max = 1.02 * Math.max(most, ...ceilings.filter((value) => value <= most * BEYOND));
  return { min: 0, max, ticks: [], inside: within(0, max) };
}

/** @param {number} min @param {number} max */
function within(min, max) {
  return (/** @type {number} */ value) => Math.max(min, Math.min(max, value));
}

/** @param {readonly (number | null)[]} values */
function sumOf(values) {
  return values.reduce((/** @type {number} */ sum, value) => sum + (value ?? 0), 0);
}

/** @param {number} value @param {Chart} chart */
function tickOf(value, { format, measures: [{ as, unit }] }) {
  if (as === 'µs') return shortNumber(value / 1e3);
  return unit === 'B' ? format(value) : shortNumber(value);
}

/**
 * @param {Entry} entry
 * @param {Chart} chart
 * @param {boolean} narrow
 */
function figureOf({ values, texts: [text] }, { format, spec, measures }, narrow) {
  if (spec.layout === 'stacked') return format(sumOf(values));
  if (measures[0].of !== undefined) return format(values[0]);
  return narrow ? shortNumber(values[0] ?? 0) : text.replace(/ \(n \d+\)$/, '');
}

/**
 * @param {Chart} chart
 * @param {Scale} scale
 * @returns {any[]}
 */
function barsOf({ entries, measures, spec }, { inside, min }) {
  const grouped = spec.layout === 'grouped';
  return measures.map(({ name, role }, i) => {
    const colorOf = (/** @type {number} */ series) =>
      grouped ? freeColor(i) : role === undefined ? seriesColor(series) : roleColor(role, series);
    return {
      type: 'bar',
      name,
      z: 2,
      ...(grouped ? { barWidth: GROUPED.bar - 1, barGap: '12%' } : { barWidth: BAR_WIDTH }),
      ...(spec.layout === 'stacked' && { stack: 'all' }),
      ...(measures.length > 1 && {
        itemStyle: { color: grouped ? freeColor(i) : roleColor(role ?? 'neutral') },
      }),
      // A logarithmic axis has no zero, so bars start at its low end.
      data: entries.map(({ values, series }) => ({
        value: values[i] === null ? min : inside(values[i]),
        itemStyle: { color: colorOf(series) },
      })),
    };
  });
}

/** @param {readonly Entry[]} entries @param {Scale} scale */
function spansOf(entries, { inside }) {
  return entries.map(({ low, high, series }, row) =>
    low === null || high === null
      ? null
      : { row, low: inside(low), high: inside(high), color: roleColor('ink', series) },
  );
}

/** @param {readonly Entry[]} entries @param {Scale} scale */
function roundDots(entries, { inside }) {
  return {
    type: 'scatter',
    silent: true,
    z: 3,
    symbolSize: 4,
    data: entries.flatMap(({ rounds, series }, i) =>
      rounds.map((value) => ({
        value: [inside(value), i],
        itemStyle: { color: roleColor('ink', series), opacity: 0.45 },
      })),
    ),
  };
}

/**
 * @param {readonly Entry[]} entries
 * @param {number} max maximum of the axis
 * @returns {any[]}
 */
function ceilingMarks(entries, max) {
  const all = entries.flatMap(({ marks, series }, i) =>
    marks.map((one) => ({ ...one, series, i })),
  );
  if (all.length === 0) return [];
  const data = all.map(({ role, value, series, i }) => ({
    value: [Math.min(value, max), i],
    ...(value > max ? edgeSymbol(role) : SYMBOLS[role]),
    itemStyle: {
      color: roleColor(role, series),
      opacity: 1,
      borderColor: roleColor('surface', series),
      borderWidth: 1,
    },
  }));
  return [{ type: 'scatter', silent: true, z: 5, data }];
}

const SYMBOLS = Object.freeze({
  'driver-limit': { symbol: 'diamond', symbolSize: 10 },
  'wire-limit': { symbol: 'rect', symbolSize: [4, 20] },
});

/** @param {'driver-limit' | 'wire-limit'} role */
function edgeSymbol(role) {
  const symbolOffset = [0, role === 'driver-limit' ? -6 : 6];
  return { symbol: 'triangle', symbolRotate: -90, symbolSize: 8, symbolOffset };
}

/**
 * @param {Chart} chart
 * @param {Scale} scale
 * @returns {import('./plot.js').Point[]}
 */
function rowPoints(chart, { inside }) {
  const { entries, spec } = chart;
  return entries.map((entry, i) => ({
    seriesIndex: 0,
    at: [inside(spec.layout === 'stacked' ? sumOf(entry.values) : Number(entry.values[0])), i],
    series: entry.series,
    text: pointText(entry, chart),
  }));
}

/**
 * @param {Entry} entry
 * @param {Chart} chart
 */
function pointText({ name, values, texts, low, high, n, marks }, { spec, measures, format, unit }) {
  if (spec.layout === 'stacked') {
    return `${name}: ${measures.map((one, i) => `${one.name} ${texts[i]}`).join(', ')}`;
  }
  const rounds = n === 0 ? '' : ` (n ${n})`;
  const interval =
    low === null || high === null ? '' : `, mean between ${format(low)} and ${format(high)}`;
  const known = marks.map((mark) => `, ${mark.name} ${format(mark.value)}`);
  return `${name}: ${format(values[0])} ${unit}${rounds}${interval}${known.join('')}`;
}

/**
 * @param {Chart} chart
 * @param {Scale} scale
 * @returns {import('./plot.js').Point[]}
 */
function groupedPoints({ entries, measures, spec, format }, { inside }) {
  return entries.flatMap(({ name, values }, row) =>
    measures.flatMap(({ name: measure }, i) => {
      const value = values[i];
      if (value === null) return [];
      const at = /** @type {[number, number]} */ ([inside(value), row]);
      const text = `${name}, ${measure}: ${format(value)} ${spec.axis}`;
      return [{ seriesIndex: i, at, series: null, text }];
    }),
  );
}
