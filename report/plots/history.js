/**
 * Tests of many results over time: a plot for each test, its value at each result with its
 * interval, and the levels between the change points.
 */

import { plainText } from '../../lib/format.js';
import { roleColor, seriesColor } from '../palette.js';
import { NARROW, numberAxis, shortNumber } from './plot.js';

/** @typedef {import('../analysis/history.js').BenchmarkHistory} BenchmarkHistory */

const HEIGHT = 300;

/**
 * @param {readonly BenchmarkHistory[]} histories
 * @param {{ name: string, format: (value: number | null) => string }} metric
 * @returns {import('./plot.js').Plot[]}
 */
export function historyPlots(histories, metric) {
  return histories.map((history, i) => toPlot(history, metric, i));
}

/**
 * @param {BenchmarkHistory} history
 * @param {Parameters<typeof historyPlots>[1]} metric
 * @param {number} series
 * @returns {import('./plot.js').Plot}
 */
function toPlot(history, { name, format }, series) {
  const { benchmark, points, changes } = history;
  const id = plainText(benchmark);
  const last = changes[changes.length - 1];
  const right = (/** @type {string} */ title) => ({
    name: title,
    align: /** @type {const} */ ('right'),
  });
  return {
    id: `history-${id.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    title: `${id}: ${name} over time`,
    summary:
      `${points.length} results. ` +
      (last === undefined
        ? 'No change of level is found.'
        : `${changes.length} ${changes.length === 1 ? 'change' : 'changes'} of level; the last at ` +
          `${plainText(points[last.index].id)}, from ${format(last.before)} to ${format(last.after)}.`),
    note:
      'Dots: the results, in their order, with the 95 % interval over their rounds. Vertical lines: ' +
      'changes of level (permutation test, level 0.01). Horizontal lines: the levels.' +
      (history.mixed.length > 0
        ? ` Differs between results: ${plainText(history.mixed.join(', '))}.`
        : ''),
    group: null,
    variants: [{ name: 'linear', draw: (size) => draw(history, { name, format }, series, size) }],
    table: {
      columns: [
        { name: 'result', align: 'left' },
        { name: 'started', align: 'left' },
        right(name),
        right('from'),
        right('to'),
        right('rounds'),
        { name: 'change', align: 'left' },
      ],
      rows: points.map((point, i) => {
        const change = changes.find(({ index }) => index === i);
        return {
          series: null,
          texts: [
            plainText(point.id),
            plainText(point.startedAt),
            format(point.value),
            format(point.low),
            format(point.high),
            String(point.n),
            change === undefined ? '' : `${format(change.before)} → ${format(change.after)}`,
          ],
        };
      }),
    },
  };
}

/**
 * @param {BenchmarkHistory} history
 * @param {Parameters<typeof historyPlots>[1]} metric
 * @param {number} series
 * @param {{ width: number }} size
 * @returns {import('./plot.js').Drawing}
 */
function draw({ points, changes }, { name, format }, series, { width }) {
  const narrow = width < NARROW;
  const values = points.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = (most - least || most || 1) * 0.1;
  const short = (/** @type {number} */ value) =>
    name.includes('ops/s') ? shortNumber(value) : format(value);
  return {
    height: HEIGHT,
    nearest: 'x',
    option: {
      grid: { left: narrow ? 62 : 82, right: 20, top: 12, bottom: 46 },
      xAxis: {
        type: 'category',
        data: points.map((_, i) => String(i)),
        axisTick: { show: false },
        axisLine: { lineStyle: { color: roleColor('grid') } },
        axisLabel: {
          color: roleColor('muted'),
          fontSize: 11,
          hideOverlap: true,
          formatter: (/** @type {string} */ i) =>
            plainText(points[Number(i)].startedAt.slice(0, 10)),
        },
      },
      yAxis: {
        // The ends are where the data end, and no round numbers.
        ...withoutEnds(short, narrow ? '' : name),
        min: Math.max(0, least - room),
        max: most + room,
        splitNumber: 4,
      },
      series: [
        {
          type: 'line',
          data: points.map(({ value }) => value),
          symbol: 'circle',
          symbolSize: 6,
          showAllSymbol: true,
          lineStyle: { color: seriesColor(series), width: 1, opacity: 0.5 },
          itemStyle: { color: seriesColor(series) },
          markLine: {
            silent: true,
            symbol: 'none',
            label: { show: false },
            data: [
              ...changes.map(({ index }) => ({
                xAxis: index,
                lineStyle: { color: roleColor('driver-limit'), type: 'solid', width: 1.5 },
              })),
              ...levels(points, changes),
            ],
          },
        },
        intervals(points, series),
      ],
    },
    points: points.map(({ id, value, n }, i) => ({
      seriesIndex: 0,
      at: [i, value],
      series,
      text: `${plainText(id)}: ${format(value)} (n ${n})`,
    })),
  };
}

/**
 * @param {(value: number) => string} format
 * @param {string} name
 */
function withoutEnds(format, name) {
  const axis = numberAxis(format, { name, vertical: true });
  const splitLine = { ...axis.splitLine, showMinLine: false, showMaxLine: false };
  const ends = { showMinLabel: false, showMaxLabel: false };
  return { ...axis, splitLine, axisLabel: { ...axis.axisLabel, ...ends } };
}

/**
 * @param {BenchmarkHistory['points']} points
 * @param {BenchmarkHistory['changes']} changes
 * @returns {any[]} pairs of ends, for each level between two changes
 */
function levels(points, changes) {
  if (changes.length === 0) return [];
  const bounds = [0, ...changes.map(({ index }) => index), points.length];
  const means = [changes[0].before, ...changes.map(({ after }) => after)];
  const lineStyle = { color: roleColor('muted'), type: 'dashed', width: 1 };
  return means.map((mean, i) => [
    { coord: [bounds[i], mean], lineStyle },
    { coord: [bounds[i + 1] - 1, mean] },
  ]);
}

/**
 * @param {BenchmarkHistory['points']} points
 * @param {number} series
 * @returns {any}
 */
function intervals(points, series) {
  const known = points.flatMap(({ low, high }, i) =>
    low === null || high === null ? [] : [[i, low, high]],
  );
  return {
    type: 'custom',
    silent: true,
    data: known,
    encode: { x: 0, y: [1, 2] },
    renderItem: (/** @type {any} */ _, /** @type {any} */ api) => {
      const [x1, y1] = api.coord([api.value(0), api.value(1)]);
      const [x2, y2] = api.coord([api.value(0), api.value(2)]);
      const style = { stroke: seriesColor(series), lineWidth: 1.5, fill: 'none' };
      return { type: 'line', shape: { x1, y1, x2, y2 }, style };
    },
  };
}
