/**
 * The page: head, policy, style, script and sections. It is self-contained, and its policy blocks
 * everything else.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { plainText } from '../../lib/format.js';
import { paletteCss, SERIES_COLORS } from '../palette.js';
import { escapeHtml, foldMarkup, swatch } from './markup.js';

/** A larger download is compressed to keep the page small; `report` reads it too. */
const DOWNLOAD_MAX = 500_000;

const read = (/** @type {string} */ name) =>
  readFileSync(new URL(name, import.meta.url), 'utf8').replaceAll('\r\n', '\n');
/** Dark colours of the page; those of plots are in palette.js. */
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
 * @property {string} when text below the title
 * @property {readonly string[]} lead the most important statements
 * @property {{ label: string, series: number }[]} storages storages in plots, with their colours
 * @property {{ name: string, json: string }[]} downloads
 * @property {{ id: string, title: string }[]} contents
 * @property {readonly string[]} body markup markup of the sections; the first has the figure
 */

/**
 * @param {Page} page
 * @returns {string}
 */
export function pageMarkup({ title, when, lead, storages, downloads, contents, body }) {
  const [first, ...rest] = body;
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
${leadMarkup(lead)}
</header>
<main id="main" tabindex="-1">
${first}
<nav aria-label="Contents"><ul>
${contents.map(({ id, title: name }) => `<li><a href="#${id}">${escapeHtml(name)}</a></li>`).join('\n')}
</ul></nav>
${toolsMarkup(storages)}
${rest.join('\n')}
</main>
<footer><div class="actions">
<button type="button" data-action="theme" hidden>Dark colours</button>
${downloads.map(downloadMarkup).join('\n')}
</div>
<p>Made by Dragstrip from the result in this page. It loads nothing and sends nothing.</p></footer>
<script type="module">${SCRIPT}</script>
</body>
</html>
`;
}

/**
 * @param {readonly string[]} lines
 * @returns {string} the first sentence of each, with the others folded
 */
function leadMarkup(lines) {
  const parts = lines.map((line) => /^(.*?\.)(?: ([A-Z].*))?$/s.exec(line)?.slice(1) ?? [line]);
  const more = parts.flatMap(([, rest]) => rest ?? []);
  return [
    ...parts.map(([sentence]) => `<p class="lead"><strong>${escapeHtml(sentence)}</strong></p>`),
    ...(more.length === 0
      ? []
      : [foldMarkup('In detail', more.map((rest) => `<p>${escapeHtml(rest)}</p>`).join('\n'))]),
  ].join('\n');
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
 * A data URL, which needs neither a script nor a server.
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

/** @param {string} css with comments as placeholders of colours */
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
