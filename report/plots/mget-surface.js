/**
 * Fetches of many keys as a surface seen from above: the median by keys and number in flight, as
 * the shade of a tile, with its figure where there is room.
 */

import { formatDuration } from '../../lib/format.js';
import { groupName, toFetchGroups } from '../../workloads/mget/analysis.js';
import { freeColor, roleColor } from '../palette.js';
import { countOf, textWidth } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../../workloads/mget/analysis.js').FetchGroup} FetchGroup */

/** Of a tile; few rows are high, many low. */
const ROW_HEIGHT = Object.freeze({ least: 26, most: 64 });
const HEIGHT = 320;
const MARGIN = Object.freeze({ left: 62, right: 16, top: 14, bottom: 48 });
/** The palest tile is still seen, and on the darkest one its figure is still read. */
const SHADE = Object.freeze({ least: 0.06, most: 0.55 });
const FONT_SIZE = 11;

/**
 * @typedef {object} Tile
 * @property {number} x place of its number of keys
 * @property {number} y place of its number in flight
 * @property {number} medianNs
 * @property {string} text
 *
 * @typedef {object} Surface
 * @property {number[]} keys
 * @property {number[]} inFlight
 * @property {Tile[]} tiles
 */

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'mget-surface',
  summary: 'medians of fetches by keys and number in flight',
  build: ({ result }) =>
    toFetchGroups(result).flatMap((group, i) => {
      const surface = surfaceOf(group);
      const isSurface = surface.keys.length > 1 && surface.inFlight.length > 1;
      return isSurface ? [toPlot(group, surface, i)] : [];
    }),
};

/**
 * @param {FetchGroup} group
 * @returns {Surface}
 */
function surfaceOf({ columns }) {
  const figures = columns.flatMap(({ inFlight, rows }) =>
    rows.flatMap(({ keys, warmup, medianNs }) =>
      keys === null || warmup || medianNs === null ? [] : [{ inFlight, keys, medianNs }],
    ),
  );
  const keys = ascending(figures.map((figure) => figure.keys));
  const inFlight = ascending(figures.map((figure) => figure.inFlight));
  const tiles = figures.map((figure) => ({
    x: keys.indexOf(figure.keys),
    y: inFlight.indexOf(figure.inFlight),
    medianNs: figure.medianNs,
    text: `${countOf(figure.keys, 'key')}, ${figure.inFlight} in flight: ${formatDuration(figure.medianNs)}`,
  }));
  return { keys, inFlight, tiles };
}

/** @param {number[]} values */
function ascending(values) {
  return [...new Set(values)].sort((a, b) => a - b);
}

/**
 * @param {FetchGroup} group
 * @param {Surface} surface
 * @param {number} number of the plot
 * @returns {Plot}
 */
function toPlot(group, surface, number) {
  const name = groupName(group);
  const byTime = surface.tiles.toSorted((a, b) => a.medianNs - b.medianNs);
  return {
    id: `mget-surface-${number + 1}-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    title: `${name}: median of a fetch by its keys and the number in flight`,
    summary: `From ${byTime[0].text} to ${byTime[byTime.length - 1].text}.`,
    note:
      'A tile is the median of all fetches of that many keys, call to last value. The darker, the ' +
      'longer; each doubling of the time darkens alike.',
    group: null,
    variants: [{ name: 'linear', draw: (size) => draw(surface, size) }],
    table: {
      columns: [
        { name: 'keys', align: 'left' },
        ...surface.inFlight.map((n) => ({
          name: `${n} in flight`,
          align: /** @type {const} */ ('right'),
        })),
      ],
      rows: surface.keys.map((keys, x) => ({
        series: null,
        texts: [String(keys), ...surface.inFlight.map((_, y) => figureAt(surface, x, y))],
      })),
    },
  };
}

/**
 * @param {Surface} surface
 * @param {number} x
 * @param {number} y
 */
function figureAt({ tiles }, x, y) {
  return formatDuration(tiles.find((tile) => tile.x === x && tile.y === y)?.medianNs ?? null);
}

/**
 * @param {Surface} surface
 * @param {{ width: number }} size
 * @returns {import('./plot.js').Drawing}
 */
function draw({ keys, inFlight, tiles }, { width }) {
  const { least, most } = ROW_HEIGHT;
  const rowHeight = Math.min(most, Math.max(least, HEIGHT / inFlight.length));
  const widest = Math.max(...tiles.map(({ medianNs }) => textWidth(formatDuration(medianNs))));
  const tileWidth = (width - MARGIN.left - MARGIN.right) / keys.length;
  const shadeOf = shades(tiles);
  return {
    height: Math.round(rowHeight * inFlight.length + MARGIN.top + MARGIN.bottom),
    nearest: 'xy',
    option: /** @type {any} */ ({
      grid: MARGIN,
      xAxis: placesAxis(keys, { name: 'keys of a fetch', gap: 26 }),
      yAxis: placesAxis(inFlight, { name: 'in flight', gap: 42 }),
      series: [
        {
          type: 'custom',
          data: tiles.map(({ x, y, medianNs }) => [x, y, medianNs]),
          renderItem: (/** @type {unknown} */ _, /** @type {any} */ api) =>
            tileShape(api, shadeOf, widest + 8 <= tileWidth),
        },
      ],
    }),
    points: tiles.map(({ x, y, text }) => ({ seriesIndex: 0, at: [x, y], series: null, text })),
  };
}

/**
 * @param {Tile[]} tiles
 * @returns {(ns: number) => number} opacity, by the logarithm of the time
 */
function shades(tiles) {
  const logs = tiles.map(({ medianNs }) => Math.log(Math.max(1, medianNs)));
  const low = Math.min(...logs);
  const range = Math.max(...logs) - low || 1;
  const { least, most } = SHADE;
  return (ns) => least + ((most - least) * (Math.log(Math.max(1, ns)) - low)) / range;
}

/**
 * @param {any} api of a custom series of ECharts
 * @param {(ns: number) => number} shadeOf
 * @param {boolean} withText
 */
function tileShape(api, shadeOf, withText) {
  const ns = api.value(2);
  const [x, y] = api.coord([api.value(0), api.value(1)]);
  const [width, height] = api.size([1, 1]);
  const shape = {
    x: x - width / 2 + 1,
    y: y - height / 2 + 1,
    width: width - 2,
    height: height - 2,
  };
  const style = { fill: freeColor(0), fillOpacity: Number(shadeOf(ns).toFixed(3)) };
  const text = {
    ...{ x, y, text: formatDuration(ns), align: 'center', verticalAlign: 'middle' },
    ...{ fill: roleColor('ink'), fontSize: FONT_SIZE },
  };
  const tile = { type: 'rect', shape, style };
  const children = withText ? [tile, { type: 'text', style: text }] : [tile];
  return { type: 'group', children };
}

/**
 * @param {number[]} values
 * @param {{ name: string, gap: number }} options
 */
function placesAxis(values, { name, gap }) {
  return {
    type: 'category',
    data: values.map(String),
    name,
    nameLocation: 'middle',
    nameGap: gap,
    nameTextStyle: { color: roleColor('muted'), fontSize: FONT_SIZE },
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: { color: roleColor('muted'), fontSize: FONT_SIZE, hideOverlap: true },
    splitLine: { show: false },
  };
}
