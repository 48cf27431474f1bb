/**
 * Results side by side: for each benchmark the speed of the others over the first, with its
 * interval. A plot for each workload and load; a colour for each of the other results.
 */

import { formatDuration, formatRatio, formatThroughput, plainText } from '../../lib/format.js';
import { ADVICE } from '../analysis/comparison.js';
import { roleColor, seriesColor } from '../palette.js';
import { logScale, NARROW, namesAxis, namesWidth, numberAxis, withTicks } from './plot.js';

/** @typedef {import('../analysis/comparison.js').Comparison} Comparison */
/** @typedef {import('../analysis/comparison.js').ComparedBenchmark} ComparedBenchmark */

const ROW_HEIGHT = 30;

/**
 * @typedef {object} Entry
 * @property {string} name of the row
 * @property {number} other which result, from 0
 * @property {string} file
 * @property {ComparedBenchmark} benchmark
 */

/**
 * @param {Comparison} comparison
 * @returns {import('./plot.js').Plot[]}
 */
export function comparisonPlots({ base, others }) {
  /** @type {Map<string, Entry[]>} */
  const groups = new Map();
  for (const [other, { benchmarks, file }] of others.entries()) {
    for (const benchmark of benchmarks) {
      if (benchmark.ratio === null) continue;
      const [storage, ...rest] = plainText(benchmark.benchmark).split('/');
      const key = rest.join(', ');
      const name = storage.replace(/:default$/, '');
      groups.set(key, [
        ...(groups.get(key) ?? []),
        { name, other, file: plainText(file), benchmark },
      ]);
    }
  }
  return [...groups].map(([key, entries]) =>
    toPlot(key, entries, { base: plainText(base.file), many: others.length > 1 }),
  );
}

/**
 * @param {string} key workload and load
 * @param {Entry[]} list
 * @param {{ base: string, many: boolean }} context
 * @returns {import('./plot.js').Plot}
 */
function toPlot(key, list, { base, many }) {
  const order = [...new Set(list.map(({ name }) => name))];
  const entries = [...list].sort(
    (a, b) => order.indexOf(a.name) - order.indexOf(b.name) || a.other - b.other,
  );
  const count = (/** @type {string} */ verdict) =>
    entries.filter(({ benchmark }) => benchmark.verdict === verdict).length;
  const named = entries.map((entry) => ({
    ...entry,
    name: many ? `${entry.name} (${entry.other + 2})` : entry.name,
  }));
  const figure = (/** @type {ComparedBenchmark} */ { metric }, /** @type {number} */ value) =>
    metric === 'p99' ? formatDuration(value) : formatThroughput(value);
  const right = (/** @type {string} */ name) => ({ name, align: /** @type {const} */ ('right') });
  return {
    id: `comparison-${key.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    title: `Against the first, ${key}`,
    summary:
      `${count('faster')} faster, ${count('slower')} slower, ${count('same')} the same, ` +
      `${count('undecided')} undecided, against ${base}.`,
    note:
      'Dot: speed relative to the first result; 1 is equal, right of it is faster. Line: 95 % ' +
      'interval. Filled: faster or slower; hollow: the same, or undecided.' +
      (many ? ' The number behind a name says which result.' : '') +
      (entries.some(({ benchmark }) => benchmark.reference === null) ? ` ${ADVICE}` : ''),
    group: null,
    variants: [{ name: 'log', draw: (size) => draw(named, size) }],
    table: {
      columns: [
        { name: 'storage', align: 'left' },
        { name: 'result', align: 'left' },
        right('first'),
        right('other'),
        right('ratio'),
        right('from'),
        right('to'),
        { name: 'verdict', align: 'left' },
      ],
      rows: named.map(({ name, file, benchmark }) => ({
        series: null,
        texts: [
          name,
          file,
          figure(benchmark, benchmark.base),
          figure(benchmark, benchmark.other),
          formatRatio(benchmark.ratio),
          formatRatio(benchmark.low),
          formatRatio(benchmark.high),
          benchmark.verdict,
        ],
      })),
    },
  };
}

/**
 * @param {Entry[]} entries
 * @param {{ width: number }} size
 * @returns {import('./plot.js').Drawing}
 */
function draw(entries, { width }) {
  const names = entries.map(({ name }) => name);
  const left = namesWidth(names, width);
  const known = entries.flatMap(({ benchmark: { ratio, low, high } }) =>
    [ratio, low, high].filter((value) => value !== null && value > 0),
  );
  const values = /** @type {number[]} */ (known);
  const scale = ratioScale(Math.min(1, ...values), Math.max(1, ...values));
  const clamp = (/** @type {number} */ value) => Math.max(scale.min, Math.min(scale.max, value));
  return {
    height: entries.length * ROW_HEIGHT + 60,
    nearest: 'y',
    option: {
      grid: { left, right: width < NARROW ? 60 : 90, top: 8, bottom: 46 },
      xAxis: withTicks(
        numberAxis(formatRatio, { name: 'speed over the first', type: 'log' }),
        scale,
      ),
      yAxis: namesAxis(names, left),
      series: [
        {
          type: 'scatter',
          z: 3,
          silent: true,
          symbolSize: 9,
          data: entries.map(({ benchmark, other }, i) => ({
            value: [clamp(benchmark.ratio ?? 1), i],
            itemStyle: {
              color:
                benchmark.verdict === 'faster' || benchmark.verdict === 'slower'
                  ? seriesColor(other)
                  : roleColor('surface'),
              borderColor: seriesColor(other),
              opacity: 1,
              borderWidth: 2,
            },
          })),
          label: {
            show: true,
            position: 'top',
            distance: 3,
            color: roleColor('ink'),
            fontSize: 10,
            formatter: (/** @type {any} */ { dataIndex }) =>
              formatRatio(entries[dataIndex].benchmark.ratio),
          },
          markLine: {
            silent: true,
            symbol: 'none',
            label: { show: false },
            lineStyle: { color: roleColor('muted'), type: 'dashed' },
            data: [{ xAxis: 1 }],
          },
        },
        spans(entries, clamp),
      ],
    },
    points: entries.map(({ name, file, benchmark }, i) => ({
      seriesIndex: 0,
      at: [clamp(benchmark.ratio ?? 1), i],
      series: null,
      text:
        `${name}, ${file}: ${formatRatio(benchmark.ratio)} ` +
        `(${formatRatio(benchmark.low)} to ${formatRatio(benchmark.high)}), ${benchmark.verdict}`,
    })),
  };
}

/**
 * @param {Entry[]} entries
 * @param {(value: number) => number} clamp
 * @returns {any}
 */
function spans(entries, clamp) {
  return {
    type: 'custom',
    silent: true,
    z: 2,
    data: entries.map(({ benchmark: { low, high, ratio } }, i) => [
      clamp(low ?? ratio ?? 1),
      clamp(high ?? ratio ?? 1),
      i,
    ]),
    encode: { x: [0, 1], y: 2 },
    renderItem: (/** @type {any} */ { dataIndex }, /** @type {any} */ api) => {
      const [x1, y1] = api.coord([api.value(0), api.value(2)]);
      const [x2, y2] = api.coord([api.value(1), api.value(2)]);
      const stroke = seriesColor(entries[dataIndex].other);
      const style = { stroke, lineWidth: 2, fill: 'none' };
      return { type: 'line', shape: { x1, y1, x2, y2 }, style };
    },
  };
}

/**
 * @param {number} low
 * @param {number} high
 * @returns {ReturnType<typeof logScale>} fine ticks around 1 where the ratios are near it
 */
function ratioScale(low, high) {
  for (const step of [0.02, 0.05, 0.1, 0.25]) {
    const from = Math.floor(low / step - 0.2) * step;
    const to = Math.ceil(high / step + 0.2) * step;
    const n = Math.round((to - from) / step);
    if (from <= 0 || n > 9) continue;
    const ticks = Array.from({ length: n + 1 }, (_, i) => Number((from + i * step).toFixed(3)));
    return { min: ticks[0], max: ticks[n], ticks };
  }
  return logScale(low, high, 8);
}
