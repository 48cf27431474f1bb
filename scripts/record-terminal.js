/**
 * Records a command in a terminal of 100 columns and writes it as an animated, self-contained SVG
 * without scripts: node scripts/record-terminal.js docs/pictures/race.svg npx dragstrip race
 * --budget 20s The terminal is that of `script` (util-linux). Long waits are shortened.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHome } from '../lib/home.js';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');

const COLUMNS = 100;
const ROWS = 34;
/** Width of a character in the widest of the fonts, hinted, and height of a line, in pixels. */
const [WIDTH, HEIGHT, MARGIN] = [7.5, 16, 14];
/** Frames closer than this in recorded time are merged. */
const STEP_MS = 900;
/** Display time in ms of a frame, and of each screen of the report. */
const [SHOWN_MS, PAGE_MS] = [260, 8000];
/** End of the report, which is followed by local paths. */
const END = /\r?\n(?=result: )/;
const COLOURS = Object.freeze({
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
});

const ESCAPE = String.fromCharCode(27);
/** An escape sequence, or a character. */
const SEQUENCES = new RegExp(`${ESCAPE}\\[([\\d;?]*)([A-Za-z])|[^]`, 'gu');
/** The beginning of an escape sequence, which the next write completes. */
const UNFINISHED = new RegExp(`${ESCAPE}(\\[[\\d;?]*)?$`);

/** @typedef {{ text: string, style: string }} Cell */

/** The part of a terminal that Dragstrip uses: text that wraps, colours, cursor up, erased lines. */
export class Screen {
  /** @type {Cell[][]} */
  #lines = [[]];
  #row = 0;
  #column = 0;
  #style = '';
  #unfinished = '';

  /** @param {string} text */
  write(text) {
    const all = this.#unfinished + text;
    this.#unfinished = UNFINISHED.exec(all)?.[0] ?? '';
    const end = all.length - this.#unfinished.length;
    for (const match of all.slice(0, end).matchAll(SEQUENCES)) this.#take(match);
  }

  /** @param {RegExpMatchArray} match */
  #take([whole, sequence = '', letter]) {
    if (letter === 'A') this.#row = Math.max(0, this.#row - Number(sequence || 1));
    else if (letter === 'K') this.#lines[this.#row] = [];
    else if (letter === 'm') this.#style = styleOf(sequence, this.#style);
    else if (letter !== undefined) return;
    else if (whole === '\r') this.#column = 0;
    else if (whole === '\n') this.#newLine();
    else if (whole >= ' ') this.#put(whole);
  }

  #newLine() {
    this.#row += 1;
    this.#column = 0;
    this.#lines[this.#row] ??= [];
  }

  /** @param {string} text */
  #put(text) {
    if (this.#column === COLUMNS) this.#newLine();
    const line = this.#lines[this.#row];
    while (line.length < this.#column) line.push({ text: ' ', style: '' });
    line[this.#column] = { text, style: this.#style };
    this.#column += 1;
  }

  /** @returns {Cell[][]} */
  get lines() {
    return this.#lines.slice(0, this.#row + 1);
  }
}

/**
 * @param {string} sequence
 * @param {string} style
 */
function styleOf(sequence, style) {
  let classes = new Set(style.split(' ').filter((name) => name !== ''));
  for (const code of sequence.split(';').map(Number)) {
    if (code === 0) classes = new Set();
    else if (code === 1) classes.add('b');
    else if (code === 2) classes.add('d');
    else if (code === 22) for (const name of ['b', 'd']) classes.delete(name);
    else if (code === 39) for (const name of classes) if (/^c/.test(name)) classes.delete(name);
    if (Object.hasOwn(COLOURS, code)) classes.add(`c${code}`);
  }
  return [...classes].join(' ');
}

/** @param {string} text */
function xmlText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * @param {Cell[]} cells
 * @returns {string} runs of one style
 */
function markupOf(cells) {
  /** @type {Cell[]} */
  const runs = [];
  for (const { text, style } of cells) {
    const last = runs.at(-1);
    if (last?.style === style) last.text += text;
    else runs.push({ text, style });
  }
  return runs
    .map(({ text, style }) =>
      style === '' ? xmlText(text) : `<tspan class="${style}">${xmlText(text)}</tspan>`,
    )
    .join('')
    .trimEnd();
}

/**
 * @param {string} prompt displayed command
 * @param {readonly { atMs: number, text: string }[]} chunks
 * @returns {string} the SVG
 */
export function animate(prompt, chunks) {
  const screen = new Screen();
  screen.write(`\x1b[90m$\x1b[0m \x1b[1m${prompt}\x1b[0m\n`);
  const frames = [screen.lines.map(markupOf)];
  let shownMs = 0;
  for (const { atMs, text } of chunks) {
    const [shown, rest] = text.split(END);
    // The view of a run is redrawn by one write; a frame is captured before it.
    if (atMs - shownMs >= STEP_MS) {
      shownMs = atMs;
      frames.push(screen.lines.map(markupOf).slice(-ROWS));
    }
    screen.write(shown);
    if (rest !== undefined) break;
  }
  const lines = screen.lines.map(markupOf);
  const report = lines.slice(
    Math.max(
      0,
      lines.findIndex((line) => line.includes('get, ')),
    ),
  );
  return pictureOf(frames, [report.slice(0, ROWS), report.slice(-ROWS)]);
}

/**
 * @param {readonly string[][]} frames
 * @param {readonly string[][]} pages
 */
function pictureOf(frames, pages) {
  const all = [...frames, ...pages];
  /** Lines of several frames are stored once. @type {Map<string, string>} */
  const ids = new Map();
  const groups = all.map((lines, index) => {
    const uses = lines.map((line, row) => {
      if (line === '') return '';
      const id = ids.get(line) ?? `l${ids.size}`;
      ids.set(line, id);
      return `<use href="#${id}" y="${(row + 1) * HEIGHT}"/>`;
    });
    // Without animation the first page of the report is shown.
    const shown = index === frames.length ? ' style="opacity:1"' : '';
    return `<g class="f" id="f${index}"${shown}>${uses.join('')}</g>`;
  });
  const totalMs = frames.length * SHOWN_MS + pages.length * PAGE_MS;
  let endMs = 0;
  const rules = all.map((_, index) => {
    const startMs = endMs;
    endMs += index < frames.length ? SHOWN_MS : PAGE_MS;
    const [from, to] = [startMs, endMs].map((ms) => ((100 * ms) / totalMs).toFixed(2));
    const before = index === 0 ? '' : '0%{opacity:0}';
    const after = index === all.length - 1 ? '' : `${to}%{opacity:0}`;
    return (
      `#f${index}{animation:k${index} ${totalMs}ms step-end infinite}` +
      `@keyframes k${index}{${before}${from}%{opacity:1}${after}}`
    );
  });
  const lines = [...ids].map(([line, id]) => `<text id="${id}">${line}</text>`);
  const [width, height] = [COLUMNS * WIDTH + 2 * MARGIN, ROWS * HEIGHT + 2 * MARGIN];
  const colours = Object.entries(COLOURS).map(([code, colour]) => `.c${code}{fill:${colour}}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" \
aria-label="A run of Dragstrip in a terminal">
<style>text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;\
fill:#e6edf3;white-space:pre}.f{opacity:0}.b{font-weight:bold}.d{opacity:.65}${colours.join('')}
${rules.join('\n')}
@media (prefers-reduced-motion:reduce){.f{animation:none!important}}</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<defs>${lines.join('\n')}</defs>
<g transform="translate(${MARGIN} ${MARGIN - 4})" xml:space="preserve">
${groups.join('\n')}
</g>
</svg>
`;
}

/** @param {string} text @returns {string} with paths relative to the repository */
function withoutPaths(text) {
  return text.replaceAll(findHome(), '.dragstrip').replaceAll(`${ROOT}${path.sep}`, '');
}

/**
 * @param {readonly string[]} words
 * @returns {{ atMs: number, text: string }[]} output with times
 */
function record(words) {
  const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-record-'));
  try {
    const [log, timing] = ['log', 'timing'].map((name) => path.join(folder, name));
    const command = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const sized = `stty cols ${COLUMNS} rows ${ROWS}; ${command}`;
    const options = ['-q', '-e', '-O', log, '-T', timing, '-c', sized];
    const env = { ...process.env, TERM: 'xterm-256color', npm_config_loglevel: 'silent' };
    const { status } = spawnSync('script', options, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env,
    });
    if (status !== 0) throw new Error(`the command ended with ${status}`);
    // Without the two lines added by `script`.
    const written = readFileSync(log);
    const decoder = new TextDecoder();
    let [at, atMs] = [written.indexOf('\n') + 1, 0];
    return readFileSync(timing, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.replace(/^[A-Z] /, '').split(' '))
      .map(([seconds, bytes]) => {
        atMs += Number(seconds) * 1000;
        at += Number(bytes);
        const text = decoder.decode(written.subarray(at - Number(bytes), at), { stream: true });
        return { atMs, text: withoutPaths(text) };
      });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, ...words] = process.argv.slice(2);
  writeFileSync(file, animate(words.join(' '), record(words)));
}
