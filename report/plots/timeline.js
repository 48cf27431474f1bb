/**
 * Throughput over time, a small plot per storage with a line per round: the shaded warm-up, then
 * the measurement; with garbage collections if known.
 */

import { formatCount, formatDuration, formatThroughput } from '../../lib/format.js';
import { roleColor, seriesColor } from '../palette.js';
import { NARROW, numberAxis, shortNumber } from './axes.js';
import { contendersIn, countOf, headOf, left, panelTitle, partsOf, right } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('./plot.js').Table} Table */
/** @typedef {import('./plot.js').TableRow} TableRow */
/** @typedef {import('../../lib/result.js').Round} Round */

/**
 * @typedef {import('./plot.js').Shared & {
 *   kind: 'timeline',
 *   each?: import('./plot.js').Each,
 *   has?: (row: TableRow) => boolean,
 *   rounds: (benchmark: any) => Round[],
 *   thing: string,
 *   note: string,
 *   noteOfCollections: string,
 *   head: string,
 * }} TimelineSpec
 */

const PANEL_HEIGHT = 128;
const PANEL_HEAD = 26;
/** Height of the mark of a collection, half of it above the axis; and its minimum visible width. */
const COLLECTION_HEIGHT = 14;
const COLLECTION_SHARE_MIN = 0.004;
/** Intervals shorter than this fraction of a window have no meaningful rate. */
const WINDOW_SHARE_MIN = 0.25;

/**
 * @typedef {object} Panel
 * @property {string} name
 * @property {number} series
 * @property {{ round: number, warmup: [number, number][], measured: [number, number][],
 *   collections: [number, number][] }[]} rounds points of time (ns since the start of measuring)
 *   and rate; collections with start and end
 * @property {Round[]} source
 */

/**
 * @param {readonly Table[]} tables
 * @param {TimelineSpec} spec
 * @param {import('./plot.js').PlotContext} context
 * @returns {Plot[]} empty if no round has a timeline, as in blocks
 */
export function timeline(tables, spec, { seriesOf }) {
  return partsOf(spec, tables).flatMap((part) => {
    const panels = contendersIn(part, spec.has ?? (() => true)).map(({ name, row }) => {
      const source = spec.rounds(row.benchmarks[0]);
      return { name, series: seriesOf(row.contender), rounds: source.map(toLines), source };
    });
    const known = panels.some(({ rounds }) => rounds.some(({ measured }) => measured.length > 0));
    return known ? [toPlot(part, panels, spec)] : [];
  });
}

/** @param {Round} round */
function toLines(round) {
  const { warmup, timeline, durationNs, client } = round;
  const { collections = [] } = client ?? {}; // empty if only their sum is known
  const before = rates(warmup.curve, warmup.windowNs, warmup.durationNs);
  return {
    round: round.round,
    warmup: before.map(([atNs, rate]) => pair(atNs - warmup.durationNs, rate)),
    measured: rates(timeline.operations, timeline.windowNs, durationNs),
    collections: collections.map(({ startNs, ns }) => pair(startNs, startNs + ns)),
  };
}

/** @param {number} a @param {number} b @returns {[number, number]} */
function pair(a, b) {
  return [a, b];
}

/**
 * @param {readonly number[]} counts count per window
 * @param {number} windowNs
 * @param {number} endNs end of the data, which may cut off the last window
 * @returns {[number, number][]} middle of each window and its rate
 */
function rates(counts, windowNs, endNs) {
  return counts.flatMap((count, i) => {
    const fromNs = i * windowNs;
    const ns = Math.min(windowNs, endNs - fromNs);
    // A short rest of a window is ignored, unless it is the only one.
    if (ns <= 0 || (ns < windowNs * WINDOW_SHARE_MIN && i > 0)) return [];
    return [pair(fromNs + ns / 2, (count / ns) * 1e9)];
  });
}

/**
 * @param {readonly Table[]} tables
 * @param {Panel[]} panels
 * @param {TimelineSpec} spec
 * @returns {Plot}
 */
function toPlot(tables, panels, spec) {
  const known = panels.some(({ rounds }) => rounds.some(({ collections }) => collections.length));
  return {
    ...headOf(spec, tables),
    summary:
      `A small plot for each of ${countOf(panels.length, spec.thing)}, a line for each round, ` +
      'with its warm-up before.',
    note: `${spec.note}${known ? ` ${spec.noteOfCollections}` : ''}`,
    variants: [{ name: 'linear', draw: (size) => draw(panels, size) }],
    table: toTable(panels, spec.head),
  };
}

/** @param {Panel[]} panels @param {string} head */
function toTable(panels, head) {
  return {
    columns: [
      left(head),
      right('round'),
      right('warm-up'),
      right('measured'),
      right('slowest window'),
      right('fastest window'),
      right('collections'),
      right('collecting'),
    ],
    rows: panels.flatMap(({ name, series, source, rounds }) =>
      source.map(({ warmup, durationNs, client }, i) => {
        const seen = rounds[i].measured.map(([, rate]) => rate);
        const rate = (/** @type {number} */ value) =>
          formatThroughput(Number.isFinite(value) ? value : null);
        return {
          series,
          texts: [
            name,
            formatCount(rounds[i].round + 1),
            formatDuration(warmup.durationNs),
            formatDuration(durationNs),
            rate(Math.min(...seen)),
            rate(Math.max(...seen)),
            formatCount(client?.gcCount ?? null),
            formatDuration(client?.gcNs ?? null),
          ],
        };
      }),
    ),
  };
}

/**
 * @param {Panel[]} panels
 * @param {{ width: number }} size
 * @returns {import('./plot.js').Drawing}
 */
function draw(panels, { width }) {
  const columns = width < NARROW ? 1 : Math.min(3, panels.length);
  const panelWidth = width / columns;
  /** @type {any[]} */
  const [titles, grids, xAxes, yAxes, series] = [[], [], [], [], []];
  /** @type {import('./plot.js').Point[]} */
  const points = [];
  for (const [i, panel] of panels.entries()) {
    const start = (i % columns) * panelWidth;
    const top = Math.floor(i / columns) * (PANEL_HEIGHT + PANEL_HEAD);
    const grid = { left: start + 52, top: top + PANEL_HEAD, width: panelWidth - 70 };
    grids.push({ ...grid, height: PANEL_HEIGHT - 34, outerBoundsMode: 'none' });
    titles.push({ ...panelTitle(panel.name, panel.series), left: start + 48, top: top + 2 });
    const x = numberAxis(timeText);
    Object.assign(x.axisLabel, { showMinLabel: false, showMaxLabel: false });
    xAxes.push({
      ...x,
      gridIndex: i,
      ...extent(panel),
      splitNumber: 3,
      splitLine: { show: false },
    });
    const y = numberAxis(shortNumber, { vertical: true });
    yAxes.push({ ...y, gridIndex: i, min: 0, splitNumber: 3 });
    for (const [k, lines] of panel.rounds.entries()) {
      points.push(
        ...lines.measured.map((at) => ({
          seriesIndex: series.length,
          at,
          series: panel.series,
          text:
            `${panel.name}, round ${lines.round + 1}, after ${timeText(at[0])}: ` +
            `${formatThroughput(at[1])} ops/s`,
        })),
      );
      series.push(lineOf(panel, lines, i, k === 0));
    }
  }
  const height = Math.ceil(panels.length / columns) * (PANEL_HEIGHT + PANEL_HEAD) + 4;
  return {
    height,
    nearest: 'xy',
    points,
    option: { title: titles, grid: grids, xAxis: xAxes, yAxis: yAxes, series },
  };
}

/** @param {Panel} panel */
function extent({ source }) {
  return {
    min: -Math.max(0, ...source.map(({ warmup }) => warmup.durationNs)),
    max: Math.max(1, ...source.map(({ durationNs }) => durationNs)),
  };
}

/** @param {number} ns */
function timeText(ns) {
  if (ns === 0) return '0';
  return `${ns < 0 ? '−' : ''}${formatDuration(Number(Math.abs(ns).toPrecision(3)))}`;
}

/**
 * @param {Panel} panel
 * @param {Panel['rounds'][number]} lines
 * @param {number} index index of its axes
 * @param {boolean} first first series of the panel, with the shaded area
 * @returns {any}
 */
function lineOf(panel, { warmup, measured, collections }, index, first) {
  const { min, max } = extent(panel);
  return {
    type: 'line',
    xAxisIndex: index,
    yAxisIndex: index,
    data: [...warmup, ...measured],
    showSymbol: warmup.length + measured.length < 2,
    symbolSize: 4,
    silent: true,
    lineStyle: { color: seriesColor(panel.series), width: 1.4, opacity: 0.75 },
    itemStyle: { color: seriesColor(panel.series) },
    ...(first &&
      min < 0 && {
        markArea: {
          silent: true,
          itemStyle: { color: roleColor('shade') },
          data: [[{ xAxis: min }, { xAxis: 0 }]],
        },
      }),
    ...(collections.length > 0 && {
      markLine: {
        silent: true,
        symbol: 'none',
        label: { show: false },
        lineStyle: {
          color: roleColor('muted', panel.series),
          type: 'solid',
          cap: 'butt',
          width: COLLECTION_HEIGHT,
          opacity: 0.5,
        },
        data: collections.map(([from, to]) => [
          { coord: [from, 0] },
          { coord: [Math.max(to, from + (max - min) * COLLECTION_SHARE_MIN), 0] },
        ]),
      },
    }),
  };
}
