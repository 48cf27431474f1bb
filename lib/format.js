/**
 * Formats numbers, times, sizes and untrusted text for people. Pure, and independent of the locale.
 * CSV and JSON contain plain numbers instead.
 */

import { printable } from './printable.js';

/** Shown for a missing value, never a zero. */
export const NONE = '–';

/**
 * Without Intl, which takes 14 ms to load.
 * @param {number} value
 */
const grouped = (value) => value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');

const TIME_UNITS = /** @type {const} */ ([
  ['ns', 1],
  ['µs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
]);

const SIZE_UNITS = /** @type {const} */ ([
  ['B', 1],
  ['KiB', 2 ** 10],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
  ['TiB', 2 ** 40],
]);

/**
 * @param {number | null} value
 * @returns {string} an integer in groups of three: `61,454`
 */
export function formatCount(value) {
  return value === null ? NONE : grouped(value);
}

/**
 * @param {number} value
 * @returns {string} three significant digits, an integer from 100 on: `0.0412`, `4.12`, `41.2`,
 *   `4,123`
 */
export function formatSignificant(value) {
  const size = Math.abs(value);
  if (size >= 99.95) return grouped(value);
  if (size === 0) return '0';
  // Based on the rounded value: 9.999 is 10.0, not 10.00.
  const rounded = Math.abs(Number(value.toPrecision(3)));
  return value.toFixed(Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(rounded)))));
}

/**
 * @param {number | null} perSecond
 * @returns {string} `61,454`; three digits below 100
 */
export function formatThroughput(perSecond) {
  return perSecond === null ? NONE : formatSignificant(perSecond);
}

/**
 * @param {number} value
 * @param {ReadonlyArray<readonly [string, number]>} units ascending
 * @param {number} carry factor between units
 */
function withUnit(value, units, carry) {
  let [name, size] = units[0];
  for (const [next, nextSize] of units.slice(1)) {
    // A value that would round up to the next unit is written in that unit.
    const shown = Math.abs(value) / size;
    if (Math.max(shown, Number(shown.toPrecision(3))) < carry) break;
    [name, size] = [next, nextSize];
  }
  const scaled = value / size;
  return `${size === 1 ? formatCount(scaled) : formatSignificant(scaled)} ${name}`;
}

/**
 * @param {number | null} ns
 * @returns {string} `180 ns`, `81.3 µs`, `1.23 ms`, `12.3 s`
 */
export function formatDuration(ns) {
  return ns === null ? NONE : withUnit(ns, TIME_UNITS, 1000);
}

/**
 * @param {number | null} bytes
 * @returns {string} `812 B`, `1.50 KiB`, `128 MiB`
 */
export function formatBytes(bytes) {
  return bytes === null ? NONE : withUnit(bytes, SIZE_UNITS, 1024);
}

/**
 * @param {number | null} ns
 * @returns {string} microseconds without unit, for a column with the unit in its head
 */
export function formatMicroseconds(ns) {
  return ns === null ? NONE : formatSignificant(ns / 1e3);
}

/**
 * @param {number | null} ratio
 * @returns {string} `1.00×`, `0.87×`, `12.3×`; two significant digits below 0.1: `0.0073×`
 */
export function formatRatio(ratio) {
  if (ratio === null) return NONE;
  if (ratio >= 9.995) return `${formatSignificant(ratio)}×`;
  if (ratio >= 0.0995 || ratio === 0) return `${ratio.toFixed(2)}×`;
  return `${ratio.toFixed(Math.min(9, 1 - Math.floor(Math.log10(ratio))))}×`;
}

/** From this half-width on an interval is written by its ends, since `± 174 %` is ambiguous. */
const ENDS_FROM = 0.3;

/**
 * For cells of tables, without spaces.
 * @param {number | null} share half the width of an interval relative to its centre
 * @param {number} [centre] geometric centre; absent: only the width is known
 * @param {(value: number) => string} [format] format of its ends
 * @returns {string} `±2.1%`, or `(6,180–46,400)` if wide; empty without an interval
 */
export function formatInterval(share, centre, format = formatSignificant) {
  if (share === null) return '';
  if (centre !== undefined && share >= ENDS_FROM) return endsText(share, centre, format);
  return share * 100 >= 1000 ? '±>999%' : `±${percentDigits(share)}%`;
}

/**
 * For sentences.
 * @param {number | null} share
 * @param {number} centre
 * @param {(value: number) => string} [format]
 * @returns {string} ` ± 2.1 %`, ` (6,180–46,400)`, to append to a figure
 */
export function formatWidth(share, centre, format = formatSignificant) {
  if (share === null) return '';
  return share < ENDS_FROM ? ` ± ${formatShare(share)}` : ` ${endsText(share, centre, format)}`;
}

/**
 * @param {number} share
 * @param {number} centre
 * @param {(value: number) => string} format
 */
function endsText(share, centre, format) {
  const [low, high] = [centre / (1 + share), centre * (1 + share)].map(format);
  return `(${low.replace(/×$/, '')}–${high.replace(/×$/, '')})`;
}

/**
 * For cells of tables.
 * @param {number | null} share
 * @returns {string} a part of a whole: `7.3%`, `64%`, `104%`
 */
export function formatPercent(share) {
  return share === null ? NONE : `${percentDigits(share)}%`;
}

/**
 * For sentences.
 * @param {number | null} share
 * @returns {string} a part of a whole: `7.3 %`, `64 %`, `104 %`
 */
export function formatShare(share) {
  return share === null ? NONE : `${percentDigits(share)} %`;
}

/** Beyond this the digits are meaningless: an interval of two rounds may reach 10⁹ %. */
const PERCENT_MAX = 9999;

/** @param {number} share */
function percentDigits(share) {
  const percent = share * 100;
  if (percent > PERCENT_MAX) return `>${PERCENT_MAX}`;
  return percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0);
}

/**
 * @param {number} ms
 * @returns {string} wall-clock time: `0.8 s`, `42 s`, `2 min 13 s`, `1 h 5 min`
 */
export function formatElapsed(ms) {
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * @param {string} text untrusted text from a server, a driver or a file
 * @returns {string} a single line; unprintable characters are escaped
 */
export function plainText(text) {
  return printable(text.replace(/[\t\r\n\v\f ]+/g, ' ').trim());
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/**
 * @param {string} text plain text, without colour escapes
 * @returns {number} terminal columns: two for wide characters, none for combining ones
 */
export function displayWidth(text) {
  let width = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

/**
 * @param {string} text
 * @param {number} width
 * @returns {string} the longest prefix that fits
 */
export function prefix(text, width) {
  let kept = '';
  let used = 0;
  for (const character of text) {
    used += displayWidth(character);
    if (used > width) break;
    kept += character;
  }
  return kept;
}

/**
 * @param {string} text
 * @param {number} width columns; Infinity does not break
 * @returns {string[]} lines broken between words, or within words longer than a line
 */
export function wrap(text, width) {
  /** @type {string[]} */
  const lines = [];
  let line = '';
  // Keeps a number together with its sign and its interval.
  for (const word of text.split(/(?<!±) (?![%±])/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (displayWidth(line) > width) {
      const head = prefix(line, width);
      if (head === '') break;
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  lines.push(line);
  return lines;
}

/**
 * @param {string} text
 * @returns {string} one word for a POSIX shell
 */
export function quoteForShell(text) {
  return /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
