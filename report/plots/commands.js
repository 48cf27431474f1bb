/**
 * The command list as paired bars: for each test one bar for each way to Redis, direct beside
 * proxied, over TCP and over a unix socket; a plot for each storage and kind of connection.
 */

import { formatThroughput, plainText } from '../../lib/format.js';
import { toCommandGroups, WAYS } from '../analysis/commands.js';
import { connectionsName, wayName } from '../commands.js';
import { freeColor, roleColor } from '../palette.js';
import { logScale, namesAxis, namesWidth, numberAxis, shortNumber, withTicks } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../analysis/commands.js').CommandGroup} CommandGroup */
/** @typedef {import('../analysis/commands.js').TestFigures} TestFigures */

const BAR_HEIGHT = 9;
const TEST_GAP = 14;
const LEGEND_HEIGHT = 34;
const AXIS_HEIGHT = 48;
/** From this ratio between the fastest and the slowest on, a linear axis hides the slow ones. */
const LOG_FROM = 30;

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'commands',
  summary: 'the command list, direct beside proxied',
  build: ({ result }) =>
    toCommandGroups(result)
      .filter(({ tests }) => tests.some(({ figures }) => figures.some((one) => one?.perSecond)))
      .map(toPlot),
};

/** @param {CommandGroup} group */
function waysOf({ tests }) {
  return WAYS.map((_, way) => way).filter((way) => tests.some(({ figures }) => figures[way]));
}

/**
 * @param {CommandGroup} group
 * @returns {Plot}
 */
function toPlot(group) {
  const { label, keepAlive, tests } = group;
  const ways = waysOf(group);
  const rates = tests.flatMap(({ figures }) => figures.flatMap((one) => one?.perSecond ?? []));
  const wide = Math.max(...rates) / Math.min(...rates) >= LOG_FROM;
  const name = `${plainText(label)}, ${connectionsName(keepAlive)}`;
  return {
    id: `commands-${label}-${keepAlive ? 'kept' : 'own'}`.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    title: `Commands, ${name}`,
    summary: summaryOf(group, ways),
    note: 'Bars: median of the rounds, right answers a second. No bar: refused, skipped or failed.',
    group: null,
    variants: (wide ? ['log', 'linear'] : ['linear', 'log']).map((kind) => ({
      name: kind,
      draw: ({ width }) => draw(group, ways, { width, log: kind === 'log' }),
    })),
    table: {
      columns: [
        { name: 'test', align: 'left' },
        ...ways.map((way) => ({ name: wayName(way), align: /** @type {const} */ ('right') })),
      ],
      rows: tests.map(({ test, figures }) => ({
        series: null,
        texts: [plainText(test), ...ways.map((way) => stateText(figures[way]))],
      })),
    },
  };
}

/** @param {import('../analysis/commands.js').Figure | null} figure */
function stateText(figure) {
  if (figure === null) return '–';
  return figure.perSecond === null ? figure.state : formatThroughput(figure.perSecond);
}

/**
 * @param {CommandGroup} group
 * @param {number[]} ways
 */
function summaryOf({ tests }, ways) {
  const parts = ways.map((way) => {
    const rates = tests.flatMap(({ figures }) => figures[way]?.perSecond ?? []);
    if (rates.length === 0) return `${wayName(way)}: none`;
    const least = formatThroughput(Math.min(...rates));
    return `${wayName(way)}: ${least} to ${formatThroughput(Math.max(...rates))}`;
  });
  return `Operations a second of ${tests.length} tests. ${parts.join('; ')}.`;
}

/**
 * @param {CommandGroup} group
 * @param {number[]} ways
 * @param {{ width: number, log: boolean }} options
 * @returns {import('./plot.js').Drawing}
 */
function draw({ tests }, ways, { width, log }) {
  const names = tests.map(({ test }) => plainText(test));
  const left = namesWidth(names, width);
  const rates = tests.flatMap(({ figures }) => figures.flatMap((one) => one?.perSecond ?? []));
  const most = Math.max(...rates);
  const axis = numberAxis(shortNumber, { name: 'ops/s', type: log ? 'log' : 'value' });
  const scale = log ? logScale(Math.min(...rates), most) : null;
  const low = scale === null ? 0 : scale.min;
  return {
    height: LEGEND_HEIGHT + tests.length * (ways.length * BAR_HEIGHT + TEST_GAP) + AXIS_HEIGHT,
    nearest: 'xy',
    option: /** @type {any} */ ({
      grid: { left, right: 24, top: LEGEND_HEIGHT, bottom: AXIS_HEIGHT },
      legend: {
        top: 0,
        left,
        itemWidth: 12,
        itemHeight: 10,
        itemGap: 24,
        textStyle: { color: roleColor('ink'), fontSize: 12 },
        data: ways.map(wayName),
      },
      xAxis: scale === null ? { ...axis, min: 0 } : withTicks(axis, scale),
      yAxis: namesAxis(names, left),
      series: ways.map((way, i) => ({
        type: 'bar',
        name: wayName(way),
        barWidth: BAR_HEIGHT - 1,
        barGap: '12%',
        itemStyle: { color: freeColor(i) },
        // An axis of logarithms has no zero: a bar begins at its low end.
        data: tests.map(({ figures }) => figures[way]?.perSecond ?? (log ? low : 0)),
      })),
    }),
    points: pointsOf(tests, ways),
  };
}

/**
 * @param {readonly TestFigures[]} tests
 * @param {number[]} ways
 * @returns {import('./plot.js').Point[]}
 */
function pointsOf(tests, ways) {
  return tests.flatMap(({ test, figures }, row) =>
    ways.flatMap((way, i) => {
      const rate = figures[way]?.perSecond;
      if (rate == null) return [];
      const text = `${plainText(test)}, ${wayName(way)}: ${formatThroughput(rate)} ops/s`;
      return [
        { seriesIndex: i, at: /** @type {[number, number]} */ ([rate, row]), series: null, text },
      ];
    }),
  );
}
