/**
 * A metric by two numbers as a surface seen from above: the shade of a tile, with its figure where
 * there is room. A plot of each table with more than one of both numbers.
 */

import { numberOf } from '../../stats/metrics.js';
import { freeColor, roleColor } from '../palette.js';
import { textWidth } from './axes.js';
import { columnOf, countOf, formatOf, headOf, left, right, rowsOf } from './plot.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('../../lib/report-types.js').Table} Table */
/** @typedef {(value: number | null) => string} Format */

/** Of a tile; few rows are high, many low. */
const ROW_HEIGHT = Object.freeze({ least: 26, most: 64 });
const HEIGHT = 320;
const MARGIN = Object.freeze({ left: 62, right: 16, top: 14, bottom: 48 });
/** The palest tile is still seen, and on the darkest one its figure is still read. */
const SHADE = Object.freeze({ least: 0.06, most: 0.55 });
const FONT_SIZE = 11;

/**
 * @typedef {object} SurfaceSpec
 * @property {'surface'} kind
 * @property {(tables: readonly Table[]) => string} id
 * @property {(tables: readonly Table[]) => string} title
 * @property {string} note
 * @property {string} metric its key; less is paler
 * @property {(benchmark: any) => boolean} has
 * @property {(benchmark: any) => number} x
 * @property {(benchmark: any) => number} y
 * @property {string} xName
 * @property {string} yName
 * @property {[string, string]} things one of x, and what follows y: `key`, `in flight`
 *
 * @typedef {object} Tile
 * @property {number} x position of its number
 * @property {number} y
 * @property {number} value
 * @property {string} text
 *
 * @typedef {object} Surface
 * @property {number[]} xs
 * @property {number[]} ys
 * @property {Tile[]} tiles
 */

/**
 * @param {readonly Table[]} tables
 * @param {SurfaceSpec} spec
 * @returns {Plot[]}
 */
export function surface(tables, spec) {
  return tables.flatMap((table) => {
    const format = formatOf(columnOf([table], spec.metric));
    const figures = surfaceOf(table, spec, format);
    const isSurface = figures.xs.length > 1 && figures.ys.length > 1;
    return isSurface ? [toPlot(table, figures, { spec, format })] : [];
  });
}

/**
 * @param {Table} table
 * @param {SurfaceSpec} spec
 * @param {Format} format
 * @returns {Surface}
 */
function surfaceOf(table, { metric, has, x, y, things: [thing, after] }, format) {
  const rows = rowsOf([table], ({ benchmarks: [one] }) => has(one));
  const figures = rows.flatMap(({ values, benchmarks: [one] }) => {
    const value = values[metric] === undefined ? null : numberOf(values[metric]);
    return value === null ? [] : [{ x: x(one), y: y(one), value }];
  });
  const xs = ascending(figures.map((figure) => figure.x));
  const ys = ascending(figures.map((figure) => figure.y));
  const tiles = figures.map((figure) => ({
    x: xs.indexOf(figure.x),
    y: ys.indexOf(figure.y),
    value: figure.value,
    text: `${countOf(figure.x, thing)}, ${figure.y} ${after}: ${format(figure.value)}`,
  }));
  return { xs, ys, tiles };
}

/** @param {number[]} values */
function ascending(values) {
  return [...new Set(values)].sort((a, b) => a - b);
}

/**
 * @param {Table} table
 * @param {Surface} figures
 * @param {{ spec: SurfaceSpec, format: Format }} options
 * @returns {Plot}
 */
function toPlot(table, figures, { spec, format }) {
  const { xs, ys, tiles } = figures;
  const sorted = tiles.toSorted((a, b) => a.value - b.value);
  const textAt = (/** @type {number} */ x, /** @type {number} */ y) =>
    format(tiles.find((tile) => tile.x === x && tile.y === y)?.value ?? null);
  return {
    ...headOf(spec, [table]),
    summary: `From ${sorted[0].text} to ${sorted[sorted.length - 1].text}.`,
    note: spec.note,
    variants: [{ name: 'linear', draw: ({ width }) => draw(figures, { width, spec, format }) }],
    table: {
      columns: [left(`${spec.things[0]}s`), ...ys.map((n) => right(`${n} ${spec.things[1]}`))],
      rows: xs.map((value, x) => ({
        series: null,
        texts: [String(value), ...ys.map((_, y) => textAt(x, y))],
      })),
    },
  };
}

/**
 * @param {Surface} surface
 * @param {{ width: number, spec: SurfaceSpec, format: Format }} options
 * @returns {import('./plot.js').Drawing}
 */
function draw({ xs, ys, tiles }, { width, spec: { xName, yName }, format }) {
  const { least, most } = ROW_HEIGHT;
  const rowHeight = Math.min(most, Math.max(least, HEIGHT / ys.length));
  const widest = Math.max(...tiles.map(({ value }) => textWidth(format(value))));
  const tileWidth = (width - MARGIN.left - MARGIN.right) / xs.length;
  const shadeOf = shades(tiles);
  const textOf = widest + 8 <= tileWidth ? format : null;
  return {
    height: Math.round(rowHeight * ys.length + MARGIN.top + MARGIN.bottom),
    nearest: 'xy',
    option: /** @type {any} */ ({
      grid: MARGIN,
      xAxis: numbersAxis(xs, { name: xName, gap: 26 }),
      yAxis: numbersAxis(ys, { name: yName, gap: 42 }),
      series: [
        {
          type: 'custom',
          data: tiles.map(({ x, y, value }) => [x, y, value]),
          renderItem: (/** @type {unknown} */ _, /** @type {any} */ api) =>
            tileShape(api, shadeOf, textOf),
        },
      ],
    }),
    points: tiles.map(({ x, y, text }) => ({ seriesIndex: 0, at: [x, y], series: null, text })),
  };
}

/**
 * @param {Tile[]} tiles
 * @returns {(value: number) => number} opacity, by the logarithm
 */
function shades(tiles) {
  const logs = tiles.map(({ value }) => Math.log(Math.max(1, value)));
  const low = Math.min(...logs);
  const range = Math.max(...logs) - low || 1;
  const { least, most } = SHADE;
  return (value) => least + ((most - least) * (Math.log(Math.max(1, value)) - low)) / range;
}

/**
 * @param {any} api of a custom series of ECharts
 * @param {(value: number) => number} shadeOf
 * @param {Format | null} textOf null: no room
 */
function tileShape(api, shadeOf, textOf) {
  const value = api.value(2);
  const [x, y] = api.coord([api.value(0), api.value(1)]);
  const [width, height] = api.size([1, 1]);
  const shape = {
    x: x - width / 2 + 1,
    y: y - height / 2 + 1,
    width: width - 2,
    height: height - 2,
  };
  const style = { fill: freeColor(0), fillOpacity: Number(shadeOf(value).toFixed(3)) };
  const text = {
    ...{ x, y, text: textOf?.(value) ?? '', align: 'center', verticalAlign: 'middle' },
    ...{ fill: roleColor('ink'), fontSize: FONT_SIZE },
  };
  const tile = { type: 'rect', shape, style };
  const children = textOf !== null ? [tile, { type: 'text', style: text }] : [tile];
  return { type: 'group', children };
}

/**
 * @param {number[]} values
 * @param {{ name: string, gap: number }} options
 */
function numbersAxis(values, { name, gap }) {
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
