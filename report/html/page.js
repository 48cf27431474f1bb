/**
 * The page itself: head, policy, style, script, and the sections in it. It loads nothing: what it
 * shows is in it, and its policy lets in nothing else.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { plainText } from '../../lib/format.js';
import { paletteCss, SERIES_COLORS } from '../palette.js';
import { escapeHtml, swatch } from './markup.js';

/** A greater download is packed, so that a page stays small; `report` reads it packed too. */
const DOWNLOAD_MAX = 500_000;

const read = (/** @type {string} */ name) =>
  readFileSync(new URL(name, import.meta.url), 'utf8').replaceAll('\r\n', '\n');
/** The colours of the page's own surfaces in the dark; those of plots are in palette.js. */
const DARK = {
  ink: '#e6edf3',
  muted: '#9aa5b1',
  line: '#303842',
  page: '#0b0e13',
  card: '#12161c',
  link: '#6cb0ff',
  bad: '#ff8a80',
  'bad-soft': '#3b1d1d',
  warn: '#f0b429',
  'warn-soft': '#33270f',
};
const LIGHT = {
  ink: '#1f2328',
  muted: '#59636e',
  line: '#d5dbe2',
  page: '#f6f8fa',
  card: '#ffffff',
  link: '#0b5cad',
  bad: '#b42318',
  'bad-soft': '#fdeceb',
  warn: '#8a5300',
  'warn-soft': '#fff5e0',
};

const SCRIPT = read('./enhance.js')
  .replace(/^\s*(\/\/.*|\/\*\*[\s\S]*?\*\/)\n/gm, '')
  .trim();
const STYLE = styleText(read('./page.css'));

/**
 * @typedef {object} Page
 * @property {string} title
 * @property {string} when below the title
 * @property {readonly string[]} lead what there is to know first
 * @property {{ label: string, series: number }[]} storages that plots show, with their colours
 * @property {{ name: string, json: string }[]} downloads
 * @property {{ id: string, title: string }[]} contents
 * @property {string} body markup of the sections
 */

/**
 * @param {Page} page
 * @returns {string}
 */
export function pageMarkup({ title, when, lead, storages, downloads, contents, body }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the figures</a>
<header>
<h1>${escapeHtml(title)}</h1>
<p class="when">${escapeHtml(when)}</p>
${lead.map((line) => `<p class="lead">${escapeHtml(line)}</p>`).join('\n')}
<div class="actions">
<button type="button" data-action="theme" hidden>Dark colours</button>
${downloads.map(downloadMarkup).join('\n')}
</div>
<nav aria-label="Contents"><ul>
${contents.map(({ id, title: name }) => `<li><a href="#${id}">${escapeHtml(name)}</a></li>`).join('\n')}
</ul></nav>
</header>
<main id="main" tabindex="-1">
${toolsMarkup(storages)}
${body}
</main>
<footer><p>Made by Dragstrip from the result in this page. It loads nothing and sends nothing.</p></footer>
<script type="module">${SCRIPT}</script>
</body>
</html>
`;
}

/** @param {string} text */
function hash(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function policy() {
  return [
    "default-src 'none'",
    `style-src ${hash(STYLE)}`,
    `script-src ${hash(SCRIPT)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/**
 * As an address with the data in it: it needs neither a script nor a server.
 * @param {{ name: string, json: string }} download
 */
function downloadMarkup({ name, json }) {
  const file = plainText(name).replace(/[^\w.-]+/g, '-');
  const whole = Buffer.from(json).toString('base64');
  const isWhole = whole.length <= DOWNLOAD_MAX;
  const href = isWhole
    ? `data:application/json;base64,${whole}`
    : `data:application/gzip;base64,${gzipSync(json).toString('base64')}`;
  const label = `${file}.json${isWhole ? '' : '.gz'}`;
  return `<a class="button" download="${escapeHtml(label)}" href="${href}">Download ${escapeHtml(label)}</a>`;
}

/** @param {Page['storages']} storages */
function toolsMarkup(storages) {
  if (storages.length < 2) return '';
  const buttons = storages.map(
    ({ label, series }) =>
      `<button type="button" aria-pressed="true" data-toggle="${series}">` +
      `${swatch(series)}${escapeHtml(plainText(label))}</button>`,
  );
  return (
    '<div class="tools" role="group" aria-label="Storages in the plots" hidden>' +
    `<span>In the plots:</span>${buttons.join('\n')}</div>`
  );
}

/** @param {string} css with the places where colours go marked by comments */
function styleText(css) {
  const variables = (/** @type {Record<string, string>} */ colors) =>
    Object.entries(colors)
      .map(([name, color]) => `--${name}:${color}`)
      .join(';');
  const light = `color-scheme:light;${variables(LIGHT)};${paletteCss('light')};`;
  const dark = `color-scheme:dark;${variables(DARK)};${paletteCss('dark')};`;
  const swatches = Array.from({ length: SERIES_COLORS }, (_, i) => `.c${i}{--c:var(--s${i})}`);
  const text = css
    .replaceAll('/* light */', light)
    .replaceAll('/* dark */', dark)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
  return `${text}\n${swatches.join('')}`;
}
