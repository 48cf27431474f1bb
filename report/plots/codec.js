/**
 * Codec variants as dots: a row for each variant, a dot for each fixture at its speed against that
 * of the fastest on the same fixture. One plot for each protocol and direction.
 */

import { formatRatio, formatThroughput, NONE } from '../../lib/format.js';
import { toCodecGroups } from '../analysis/codecs.js';
import { codecGroupName, codecName } from '../codec.js';
import { seriesColor } from '../palette.js';
import { logScale, NARROW, namesAxis, namesWidth, numberAxis, withTicks } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../analysis/codecs.js').CodecGroup} CodecGroup */

const ROW_HEIGHT = 30;
/** Of one after the other fixture, so that dots tell apart without colour too. */
const SYMBOLS = Object.freeze(['circle', 'rect', 'triangle', 'diamond', 'pin', 'arrow']);

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'codec',
  summary: 'codec variants against the fastest on each fixture',
  build({ result }) {
    /** @type {Map<string, CodecGroup[]>} */
    const sides = new Map();
    for (const group of toCodecGroups(result)) {
      const name = codecGroupName(group);
      sides.set(name, [...(sides.get(name) ?? []), group]);
    }
    return [...sides].flatMap(([name, groups]) => toPlot(name, groups));
  },
};

/**
 * @typedef {object} Dot
 * @property {number} row
 * @property {number} fixture
 * @property {number} ratio
 * @property {number} bytesPerSecond
 */

/**
 * @param {string} name
 * @param {CodecGroup[]} groups
 * @returns {Plot[]} none where nothing was measured
 */
function toPlot(name, groups) {
  const names = [...new Set(groups.flatMap(({ variants }) => variants.map(codecName)))];
  /** @type {Dot[]} */
  const all = groups.flatMap(({ variants }, fixture) =>
    variants.flatMap((one) =>
      one.ratio === null || one.bytesPerSecond === null || one.kind === 'bound'
        ? []
        : [
            {
              row: names.indexOf(codecName(one)),
              fixture,
              ratio: one.ratio,
              bytesPerSecond: one.bytesPerSecond,
            },
          ],
    ),
  );
  if (all.length === 0) return [];
  const means = names.map((_, row) => meanRatio(all.filter((dot) => dot.row === row)));
  const order = names
    .map((_, row) => row)
    .filter((row) => means[row] > 0)
    .sort((a, b) => means[b] - means[a]);
  const dots = all.map((dot) => ({ ...dot, row: order.indexOf(dot.row) }));
  const shown = order.map((row) => names[row]);
  const fixtures = groups.map(({ fixture }) => fixture);
  const [first] = shown;
  return [
    {
      id: `codec-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
      title: `${name}: speed against the fastest`,
      summary: `Over all fixtures ${first} comes nearest to the fastest on each.`,
      note:
        'A dot is a fixture: 1 is the fastest on it, 0.5 half as fast. Rows by their geometric ' +
        'mean. What decodes nothing is left out.',
      group: null,
      variants: [{ name: 'log', draw: ({ width }) => draw({ dots, shown, fixtures, width }) }],
      table: toTable(dots, shown, fixtures),
    },
  ];
}

/** @param {readonly Dot[]} dots @returns {number} geometric; 0 without any */
function meanRatio(dots) {
  if (dots.length === 0) return 0;
  return Math.exp(dots.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / dots.length);
}

/**
 * @param {readonly Dot[]} dots
 * @param {readonly string[]} names
 * @param {readonly string[]} fixtures
 * @returns {import('./plot.js').PlotTable}
 */
function toTable(dots, names, fixtures) {
  const right = (/** @type {string} */ name) => ({ name, align: /** @type {const} */ ('right') });
  return {
    columns: [
      { name: 'variant', align: 'left' },
      ...fixtures.map((name) => right(`${name}, MB/s`)),
    ],
    rows: names.map((name, row) => ({
      series: null,
      texts: [
        name,
        ...fixtures.map((_, fixture) => {
          const dot = dots.find((one) => one.row === row && one.fixture === fixture);
          return dot === undefined
            ? NONE
            : `${formatThroughput(dot.bytesPerSecond / 1e6)} (${formatRatio(dot.ratio)})`;
        }),
      ],
    })),
  };
}

/**
 * @param {{ dots: Dot[], shown: string[], fixtures: string[], width: number }} what
 * @returns {import('./plot.js').Drawing}
 */
function draw({ dots, shown, fixtures, width }) {
  const left = namesWidth(shown, width);
  const narrow = width < NARROW;
  const least = Math.min(...dots.map(({ ratio }) => ratio));
  const scale = logScale(least / 1.1, 1, narrow ? 4 : 8);
  const axis = numberAxis((value) => String(Number(value.toPrecision(2))), {
    name: 'speed, of the fastest on the same fixture',
    type: 'log',
  });
  return {
    height: shown.length * ROW_HEIGHT + 88,
    nearest: 'xy',
    option: /** @type {any} */ ({
      legend: { data: fixtures, top: 0, left, itemWidth: 14, icon: undefined },
      grid: { left, right: narrow ? 24 : 40, top: 34, bottom: 46 },
      xAxis: withTicks(axis, { ...scale, max: Math.max(1, scale.max) }),
      yAxis: namesAxis(shown, left),
      series: fixtures.map((name, fixture) => ({
        name,
        type: 'scatter',
        symbol: SYMBOLS[fixture % SYMBOLS.length],
        symbolSize: 11,
        itemStyle: { color: seriesColor(fixture), opacity: 0.9 },
        data: dots.filter((dot) => dot.fixture === fixture).map(({ ratio, row }) => [ratio, row]),
      })),
    }),
    points: dots.map(({ ratio, row, fixture, bytesPerSecond }) => ({
      seriesIndex: fixture,
      at: [ratio, row],
      series: null,
      text:
        `${shown[row]}, ${fixtures[fixture]}: ${formatThroughput(bytesPerSecond / 1e6)} MB/s, ` +
        `${formatRatio(ratio)} of the fastest`,
    })),
  };
}
