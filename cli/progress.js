/**
 * Progress on standard error: on a terminal a block of lines, redrawn at most four times per second
 * and at least once per second; otherwise a plain line every few seconds. Only the parent process
 * draws.
 */

import pc from 'picocolors';
import { displayWidth, prefix } from '../lib/format.js';
import { systemClock } from '../measure/clock.js';

const DRAW_EVERY_NS = 250e6;
/** Redrawn without events too, since the remaining time changes. */
const TICK_MS = 1000;
const LINE_EVERY_NS = 5e9;
const BAR_WIDTH = 24;
const BAR_MIN = 5;
const COLUMNS_DEFAULT = 80;

/** @typedef {ReturnType<typeof pc.createColors>} Colors */

/**
 * @typedef {object} Area size of the drawing
 * @property {number} columns
 * @property {number} rows
 * @property {Colors} colors false without support by the terminal, or if NO_COLOR is set
 */

/**
 * @typedef {object} View current state of the work, in two forms
 * @property {(area: Area) => string[]} lines text for a terminal
 * @property {() => string} line text without a terminal
 */

/**
 * @typedef {object} Progress
 * @property {(text: string, share?: number | null) => void} update text and, if known, the
 *   completed fraction, 0 to 1
 * @property {(view: View) => void} show evaluates the view only when it is drawn
 * @property {(line?: string) => void} done removes the drawing, and prints the line, if any
 * @property {boolean} live whether the drawing is removed when the work is done
 */

/**
 * @param {NodeJS.WriteStream} stream
 * @param {{ quiet?: boolean, clock?: Pick<import('../measure/clock.js').Clock, 'now'> }} [options]
 * @returns {Progress}
 */
export function createProgress(stream, { quiet = false, clock = systemClock } = {}) {
  if (quiet) return { update() {}, show() {}, done() {}, live: false };
  // A dumb terminal cannot erase lines.
  const canDraw = stream.isTTY && process.env['TERM'] !== 'dumb';
  return canDraw ? terminalProgress(stream, clock) : plainProgress(stream, clock);
}

/**
 * Waiting for another process may take minutes, so it is also logged, immediately.
 * @param {Progress} progress
 * @param {string} text
 */
export function showWait(progress, text) {
  if (progress.live) progress.update(text);
  else progress.done(text);
}

/**
 * @param {NodeJS.WriteStream} stream
 * @param {Pick<import('../measure/clock.js').Clock, 'now'>} clock
 * @returns {Progress}
 */
function terminalProgress(stream, clock) {
  const block = createBlock(stream);
  const colors = pc.createColors(stream.hasColors?.() ?? false);
  let drawnNs = Number.NEGATIVE_INFINITY;
  /** @type {NodeJS.Timeout | undefined} */
  let ticks;
  /** @type {View | null} */
  let last = null;
  const draw = () => {
    const nowNs = clock.now();
    if (last === null || nowNs - drawnNs < DRAW_EVERY_NS) return;
    drawnNs = nowNs;
    // The last column stays empty, since a terminal may wrap a line that fills it; so does the last
    // row.
    const columns = Math.max(1, (stream.columns ?? COLUMNS_DEFAULT) - 1);
    const rows = Math.max(1, (stream.rows ?? 24) - 1);
    block.draw(last.lines({ columns, rows, colors }).slice(0, rows));
  };
  /** @param {View} view */
  const show = (view) => {
    last = view;
    ticks ??= setInterval(draw, TICK_MS).unref();
    draw();
  };
  return {
    live: true,
    show,
    update(text, share = null) {
      show({
        line: () => text,
        lines: (area) => [withBar(share, text, area)],
      });
    },
    done(line) {
      clearInterval(ticks);
      ticks = undefined;
      last = null;
      block.clear();
      if (line !== undefined) stream.write(`${line}\n`);
    },
  };
}

/**
 * Lines that replace the previously drawn ones. A terminal that became narrower has wrapped them
 * into more rows, so the number of rows to erase follows from their widths.
 * @param {NodeJS.WriteStream} stream
 */
function createBlock(stream) {
  /** @type {number[]} */
  let widths = [];
  const erase = () => {
    const columns = Math.max(1, stream.columns ?? COLUMNS_DEFAULT);
    const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    widths = [];
    return eraseRows(rows);
  };
  return {
    /** @param {string[]} lines */
    draw(lines) {
      // One write, to avoid flicker.
      const text = `${erase()}${lines.map((line) => `${line}\n`).join('')}`;
      widths = lines.map((line) => displayWidth(stripColors(line)));
      stream.write(text);
    },
    clear() {
      const text = erase();
      if (text !== '') stream.write(text);
    },
  };
}

/**
 * Row by row, upwards, because in tmux clearing the screen below pushes its contents into the
 * history.
 * @param {number} rows above the cursor
 */
function eraseRows(rows) {
  return rows === 0 ? '' : `\r${'\x1b[1A\x1b[2K'.repeat(rows)}`;
}

/** @param {string} line the only escapes are colours */
function stripColors(line) {
  return line.replace(/\x1b\[[\d;]*m/g, '');
}

/**
 * @param {NodeJS.WriteStream} stream
 * @param {Pick<import('../measure/clock.js').Clock, 'now'>} clock
 * @returns {Progress}
 */
function plainProgress(stream, clock) {
  let writtenNs = clock.now();
  /** @param {() => string} line */
  const say = (line) => {
    const nowNs = clock.now();
    if (nowNs - writtenNs < LINE_EVERY_NS) return;
    writtenNs = nowNs;
    stream.write(`${line()}\n`);
  };
  return {
    live: false,
    show: (view) => say(() => view.line()),
    update: (text, share = null) =>
      say(() => (share === null ? text : `${text} (${Math.floor(share * 100)} %)`)),
    done(line) {
      writtenNs = clock.now();
      if (line !== undefined) stream.write(`${line}\n`);
    },
  };
}

/**
 * @param {number | null} share 0 to 1; null: unknown
 * @param {string} text
 * @param {Pick<Area, 'columns' | 'colors'>} area
 * @returns {string} words first; the bar fills the remaining width
 */
export function withBar(share, text, { columns, colors }) {
  const width = Math.min(BAR_WIDTH, columns - displayWidth(text) - 1);
  if (share === null || width < BAR_MIN) return prefix(text, columns);
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return `${colors.cyan('█'.repeat(full))}${colors.dim('░'.repeat(width - full))} ${text}`;
}
