/**
 * A plot as SVG, by ECharts without a DOM. The output has no script, style sheet, style attribute
 * or generated identifier, so it works in a page with a strict policy, several times, and is
 * deterministic.
 */

import { createRequire } from 'node:module';
import { paint, roleColor } from './palette.js';

/** @typedef {import('./plots/plot.js').Plot} Plot */
/** @typedef {import('./plots/plot.js').Drawing} Drawing */

const require = createRequire(import.meta.url);

/** Without quotes, because the list is used in attributes. */
const FONT = 'system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, Arial, sans-serif';
/** Radius of the pointer target of a point without a script. */
const HIT_RADIUS = 7;
const HEAD_HEIGHT = 58;
const PICTURE_WIDTH = 880;
/** Removed parts: unneeded ones, and the font, which texts inherit from the root element. */
const DROPPED = new RegExp(
  ` (?:${[
    ...['ecmeta_\\w+', 'class', 'pointer-events', 'font-family'],
    ...['xmlns:xlink', 'xml:space', 'baseProfile', 'version'],
  ].join('|')})="[^"]*"`,
  'g',
);

/**
 * A plot in a page: with its variables and pointer texts, without a title.
 * @param {Plot} plot
 * @param {{ variant?: number, width: number, id: string, hover?: boolean }} options id: prefix of
 *   identifiers; hover: with pointer targets
 * @returns {string}
 */
export function plotForPage(plot, { variant = 0, width, id, hover = true }) {
  const drawing = plot.variants[variant].draw({ width });
  const { svg, pixels } = drawSvg(drawing, { width, id });
  const points = hover ? drawing.points : [];
  const hits = points.map(({ text, series }, i) => {
    const owner = series === null ? '' : ` data-s="${series}"`;
    const [x, y] = pixels[i];
    return `<circle cx="${x}" cy="${y}" r="${HIT_RADIUS}"${owner}><title>${escapeXml(text)}</title></circle>`;
  });
  const label = escapeXml(`${plot.title}. ${plot.summary}`);
  const head = `role="img" aria-label="${label}" ${hover ? `data-nearest="${drawing.nearest}"` : ''}`;
  const layer = hover
    ? `<g class="hits" fill="none" pointer-events="all">${hits.join('')}</g>`
    : '';
  return paint(svg, 'page')
    .replace('<svg ', `<svg ${head} `)
    .trimEnd()
    .replace(/<\/svg>$/, () => `${layer}</svg>`);
}

/**
 * A standalone picture: with a title, a background and the colours of a theme.
 * @param {Plot} plot
 * @param {{ theme?: 'light' | 'dark', subtitle?: string }} [options] subtitle: identifies the run
 * @returns {string}
 */
export function plotPicture(plot, { theme = 'light', subtitle = '' } = {}) {
  const width = PICTURE_WIDTH;
  const drawing = plot.variants[0].draw({ width });
  const { svg } = drawSvg(drawing, { width, id: plot.id });
  const height = drawing.height + HEAD_HEIGHT;
  const inner = svg
    .replace(/^<svg[^>]*>/, '')
    .trimEnd()
    .replace(/<\/svg>$/, '')
    .trim();
  const picture = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="${FONT}" role="img">`,
    `<title>${escapeXml(plot.title)}</title>`,
    `<desc>${escapeXml(plot.summary)}</desc>`,
    `<rect width="${width}" height="${height}" fill="${roleColor('surface')}"/>`,
    `<text x="16" y="27" font-size="16" font-weight="600" fill="${roleColor('ink')}">` +
      `${escapeXml(plot.title)}</text>`,
    `<text x="16" y="46" font-size="12" fill="${roleColor('muted')}">` +
      `${escapeXml(subtitle)}</text>`,
    `<g transform="translate(0 ${HEAD_HEIGHT})">`,
    inner,
    '</g>',
    '</svg>',
  ].join('\n');
  return `${paint(picture, theme)}\n`;
}

/**
 * @param {Drawing} drawing
 * @param {{ width: number, id: string }} options
 * @returns {{ svg: string, pixels: [number, number][] }} pixel positions of the drawing's points
 */
function drawSvg({ height, option, points }, { width, id }) {
  // Loading this megabyte takes 150 ms, so it is loaded at the first plot.
  const echarts = /** @type {typeof import('echarts')} */ (require('echarts'));
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    const textStyle = { fontFamily: FONT, fontSize: 12, color: roleColor('ink') };
    chart.setOption({ animation: false, textStyle, ...option });
    const pixels = points.map(({ seriesIndex, at }) => {
      const [x, y] = /** @type {number[]} */ (chart.convertToPixel({ seriesIndex }, at));
      return /** @type {[number, number]} */ ([round(x), round(y)]);
    });
    return { svg: tidy(chart.renderToSVGString({ useViewBox: true }), id), pixels };
  } finally {
    chart.dispose();
  }
}

/**
 * @param {string} svg output of ECharts
 * @param {string} id
 * @returns {string} without parts refused by a strict policy, pointer texts and generated
 *   identifiers
 */
function tidy(svg, id) {
  const lines = svg
    .replace(/<style[\s\S]*?<\/style>/g, '')
    .replace(/<[a-z][^>]*>/gi, (tag) =>
      tag
        .replace(/ style="([^"]*)"/g, (_, css) => asAttributes(css))
        .replace(DROPPED, '')
        .replace(/zr\d+-/g, `${id}-`)
        .replace(/(?<=[\s",(MLHVCAZlhvcaz])-?\d+\.\d{2,}/g, (digits) => `${round(Number(digits))}`),
    )
    .replace('<svg ', '<svg dominant-baseline="central" ')
    .split('\n')
    .map((line) => shorter(line.trim()))
    .filter((line) => line !== '');
  return joined(lines).join('\n');
}

/** A circle in the form of ECharts: the unit circle, scaled and moved. */
const DISC =
  /^<path([^>]*) d="M1 0A[^"]*" transform="matrix\(([\d.]+),0,0,\2,([\d.]+),([\d.]+)\)"([^>]*)><\/path>$/;

/**
 * @param {string} line an element
 * @returns {string}
 */
function shorter(line) {
  return line
    .replace(DISC, '<circle r="$2" cx="$3" cy="$4"$1$5></circle>')
    .replace(/^<text dominant-baseline="central"/, '<text')
    .replace(/><\/(?:path|circle)>$/, '/>');
}

/**
 * @param {readonly string[]} lines
 * @returns {string[]} with adjacent paths merged if only their coordinates differ
 */
function joined(lines) {
  /** @type {string[]} */
  const kept = [];
  let last = '';
  for (const line of lines) {
    const [, before, course, after] = /^(<path[^>]*? d=")([^"]*)("[^>]*\/>)$/.exec(line) ?? [];
    const kind = course === undefined ? '' : before + after;
    const top = kept.length - 1;
    if (kind !== '' && kind === last) kept[top] = kept[top].replace(after, course + after);
    else kept.push(line);
    last = kind;
  }
  return kept;
}

/**
 * @param {string} css declarations of a style attribute; ECharts writes fonts only
 * @returns {string} presentation attributes, which a policy without inline styles permits
 */
function asAttributes(css) {
  return css
    .split(';')
    .map((declaration) => declaration.split(':'))
    .filter(([name, value]) => /^[a-z-]+$/.test(name) && value !== undefined)
    .map(([name, value]) => ` ${name}="${value.trim()}"`)
    .join('');
}

/** @param {number} value rounded to a tenth of a pixel */
function round(value) {
  return Math.round(value * 10) / 10;
}

/**
 * @param {string} text
 * @returns {string} escaped for the text of an element or the value of an attribute
 */
export function escapeXml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
