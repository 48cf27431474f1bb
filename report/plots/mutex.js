/** Locks as plots: critical sections a second by the number of keys, a curve for each kind. */

import { formatThroughput, plainText } from '../../lib/format.js';
import { byLabel, toLockRows } from '../../workloads/mutex/analysis.js';
import { seriesColor } from '../palette.js';
import { countOf, numberAxis } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */

const HEIGHT = 380;
const NAMES = Object.freeze({
  lock: 'Test 1, lock and unlock',
  count: 'Test 2, a counted section',
});

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'mutex',
  summary: 'critical sections by the number of keys that are locked',
  build: ({ result }) =>
    Object.entries(NAMES).flatMap(([test, name]) => {
      const curves = curvesOf(result, test);
      return curves.length === 0 ? [] : [toPlot(curves, test, name)];
    }),
};

/** @typedef {{ label: string, points: [number, number][] }} Curve */

/**
 * @param {import('../../lib/result.js').Result} result
 * @param {string} test
 * @returns {Curve[]}
 */
function curvesOf(result, test) {
  return byLabel(toLockRows(result, test))
    .map(({ label, rows }) => ({
      label: plainText(label),
      points: rows.flatMap(({ keys, sections, realNs }) =>
        sections === null || realNs === null || realNs === 0
          ? []
          : [/** @type {[number, number]} */ ([keys, (sections / realNs) * 1e9])],
      ),
    }))
    .filter(({ points }) => points.length > 0);
}

/**
 * @param {Curve[]} curves
 * @param {string} test
 * @param {string} name
 * @returns {Plot}
 */
function toPlot(curves, test, name) {
  const keys = [...new Set(curves.flatMap(({ points }) => points.map(([n]) => n)))].sort(
    (a, b) => a - b,
  );
  return {
    id: `mutex-${test}`,
    title: `Mutex, ${name}: sections a second by keys`,
    summary: curves
      .map(({ label, points: [[n, rate]] }) => `${label}: ${formatThroughput(rate)} (${n})`)
      .join('; '),
    note: 'Critical sections a second; each locks n names out of 2n - 1. Higher is better.',
    group: null,
    variants: [{ name: 'linear', draw: () => draw(curves, keys) }],
    table: {
      columns: [
        { name: 'lock', align: 'left' },
        ...keys.map((n) => ({ name: `${n}/${2 * n - 1}`, align: /** @type {const} */ ('right') })),
      ],
      rows: curves.map(({ label, points }, series) => ({
        series,
        texts: [
          label,
          ...keys.map((n) => formatThroughput(points.find(([at]) => at === n)?.[1] ?? null)),
        ],
      })),
    },
  };
}

/**
 * @param {Curve[]} curves
 * @param {number[]} keys
 * @returns {import('./plot.js').Drawing}
 */
function draw(curves, keys) {
  const most = Math.max(1, ...keys);
  const rate = numberAxis(formatThroughput, { name: 'sections / s', vertical: true });
  return {
    height: HEIGHT,
    nearest: 'xy',
    option: /** @type {any} */ ({
      grid: { left: 82, right: 210, top: 14, bottom: 48 },
      xAxis: { ...numberAxis(String, { name: 'names locked at once' }), min: 0, max: most },
      yAxis: { ...rate, min: 0 },
      series: curves.map(({ label, points }, i) => {
        const color = seriesColor(i);
        const style = { color };
        const endLabel = { show: true, formatter: label, color };
        return {
          type: 'line',
          data: points,
          symbolSize: 5,
          itemStyle: style,
          lineStyle: style,
          endLabel,
          // Curves that end at one height would write over each other.
          labelLayout: { moveOverlap: 'shiftY' },
        };
      }),
    }),
    points: curves.flatMap(({ label, points }, i) =>
      points.map((at) => ({
        seriesIndex: i,
        at,
        series: i,
        text: `${label}, ${countOf(at[0], 'key')}: ${formatThroughput(at[1])} a second`,
      })),
    ),
  };
}
