/**
 * Common axes, scales and marks of plots: rows of names, numbers, logarithms, intervals. Options of
 * ECharts in the colours of palette.js; nothing is rendered here.
 */

import { displayWidth } from '../../lib/format.js';
import { roleColor } from '../palette.js';

/** @param {string} text */
export function textWidth(text) {
  return Math.ceil(displayWidth(text) * 7.3) + 4;
}

export const NARROW = 560;

/**
 * @param {readonly string[]} names names of rows
 * @param {number} width width of the plot
 * @returns {number} their width on the left
 */
export function namesWidth(names, width) {
  const wanted = Math.max(...names.map(textWidth)) + 12;
  return Math.round(Math.min(wanted, width * (width < NARROW ? 0.36 : 0.32)));
}

/**
 * An axis of texts at positions 0, 1, 2 …
 * @param {readonly string[]} texts
 * @param {object} label further options of its labels
 * @returns {any}
 */
export function categoryAxis(texts, label) {
  return {
    type: 'category',
    // By index, because two storages from files may have the same name.
    data: texts.map((_, i) => String(i)),
    axisTick: { show: false },
    axisLabel: { ...label, formatter: (/** @type {string} */ i) => texts[Number(i)] },
  };
}

/**
 * An axis of rows, the first on top.
 * @param {readonly string[]} texts
 * @param {object} label
 */
function rowsAxis(texts, label) {
  const axis = categoryAxis(texts, { color: roleColor('ink'), interval: 0, ...label });
  return { ...axis, inverse: true, axisLine: { show: false } };
}

/**
 * An axis of storages.
 * @param {readonly string[]} names
 * @param {number} left available width
 * @returns {import('echarts').YAXisComponentOption}
 */
export function namesAxis(names, left) {
  return rowsAxis(names, { width: left - 12, overflow: 'truncate' });
}

/**
 * A column of figures at the right edge, beside bars and marks.
 * @param {readonly string[]} texts one per row
 * @returns {import('echarts').YAXisComponentOption}
 */
export function figuresAxis(texts) {
  return { ...rowsAxis(texts, { margin: 10 }), position: 'right', splitLine: { show: false } };
}

/**
 * @param {(value: number) => string} format
 * @param {{ name?: string, vertical?: boolean, type?: 'value' | 'log' }} [options]
 * @returns {any} a numeric axis; the caller sets min and max
 */
export function numberAxis(format, { name = '', vertical = false, type = 'value' } = {}) {
  return {
    type,
    name,
    nameLocation: 'middle',
    nameGap: vertical ? 58 : 26,
    nameTextStyle: { color: roleColor('muted'), fontSize: 11 },
    axisLine: { show: !vertical, lineStyle: { color: roleColor('grid') } },
    axisTick: { show: false },
    axisLabel: {
      color: roleColor('muted'),
      fontSize: 11,
      hideOverlap: true,
      formatter: (/** @type {number} */ value) => format(value),
    },
    splitLine: { lineStyle: { color: roleColor('grid') } },
    minorTick: { show: false },
    minorSplitLine: { show: false },
  };
}

/**
 * Ticks of a logarithmic axis at 1, 2 and 5 times each power of ten, or only at the powers if there
 * are many.
 * @param {number} low above 0
 * @param {number} high
 * @param {number} [most] maximum number of ticks
 * @returns {{ min: number, max: number, ticks: number[] }}
 */
export function logScale(low, high, most = 9) {
  const steps = [[1, 2, 5], [1, 3], [1]].find((mantissas) => ticksOf(mantissas).length <= most);
  const ticks = ticksOf(steps ?? [1]);
  return { min: ticks[0], max: /** @type {number} */ (ticks.at(-1)), ticks };

  /** @param {number[]} mantissas */
  function ticksOf(mantissas) {
    const all = [];
    for (let e = Math.floor(Math.log10(low)) - 1; e <= Math.ceil(Math.log10(high)) + 1; e += 1) {
      all.push(...mantissas.map((m) => Number(`${m}e${e}`)));
    }
    const from = all.findLastIndex((tick) => tick <= low);
    const to = all.findIndex((tick) => tick >= high);
    return all.slice(from, Math.max(to, from + 1) + 1);
  }
}

/**
 * @param {any} axis axis of numberAxis
 * @param {ReturnType<typeof logScale>} scale
 * @returns {any} axis with the ticks of that scale
 */
export function withTicks(axis, { min, max, ticks }) {
  return {
    ...axis,
    min,
    max,
    axisLabel: { ...axis.axisLabel, customValues: ticks },
    splitLine: { ...axis.splitLine, customValues: ticks },
  };
}

/**
 * @param {number} value
 * @returns {string} short form for an axis: `20k`, `1.5M`
 */
export function shortNumber(value) {
  for (const [unit, size] of /** @type {const} */ ([
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ])) {
    if (value >= size) return `${Number((value / size).toPrecision(3))}${unit}`;
  }
  return String(Number(value.toPrecision(3)));
}

/**
 * A series of intervals: lines from low to high, one per row.
 * @param {readonly ({ low: number, high: number, row: number, color: string } | null)[]} spans
 * @returns {any}
 */
export function intervalSeries(spans) {
  const shown = spans.filter((span) => span !== null);
  return {
    type: 'custom',
    name: 'interval',
    silent: true,
    z: 4,
    data: shown.map(({ low, high, row }) => [low, high, row]),
    encode: { x: [0, 1], y: 2 },
    renderItem: (/** @type {any} */ { dataIndex }, /** @type {any} */ api) => {
      const { color } = shown[dataIndex];
      const [x1, y] = api.coord([api.value(0), api.value(2)]);
      const [x2] = api.coord([api.value(1), api.value(2)]);
      const line = (/** @type {number[]} */ [a, b, c, d]) => ({
        type: 'line',
        shape: { x1: a, y1: b, x2: c, y2: d },
        style: { stroke: color, lineWidth: 1.5, fill: 'none' },
      });
      const cap = 4;
      return {
        type: 'group',
        children: [
          line([x1, y, x2, y]),
          line([x1, y - cap, x1, y + cap]),
          line([x2, y - cap, x2, y + cap]),
        ],
      };
    },
  };
}
