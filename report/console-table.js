/**
 * Fits a table into a terminal: chooses texts and columns by width, and adds bars if space is left.
 * Pure.
 */

import TextTable from 'cli-table3';
import { displayWidth } from '../lib/format.js';
import { headOf, rowTexts } from './text.js';

/** @typedef {import('../lib/report-types.js').Column} Column */
/** @typedef {import('../lib/report-types.js').Table} Table */
/** @typedef {import('../lib/report-types.js').TableRow} TableRow */

export const GAP = '  ';
/**
 * No lines: the one under the head is drawn separately, because cli-table3 would draw one per row.
 */
const NO_LINES = Object.freeze({
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: GAP,
});

/** Maximum width of a bar. */
export const BAR_MAX = 40;
/** Minimum width of a bar. */
const BAR_MIN = 16;
/** Ratio shown by a bar. */
const BAR_KEY = 'versus_fastest';

/**
 * @typedef {object} Fitted
 * @property {Column[]} kept in drawing order
 * @property {string[][]} cells
 * @property {boolean} fits false if even the mandatory columns are too wide
 */

/**
 * Uses short texts, then as many columns as fit, by weight; a narrower column of lower weight may
 * replace a wider one.
 * @param {Table} table
 * @param {number} width
 * @returns {Fitted}
 */
export function fitTable(table, width) {
  const { columns, rows } = table;
  const long = rows.map((row) => rowTexts(table, row, { knownRounds: true }));
  const all = pick(columns, long, (_) => true);
  if (tableWidth(all.kept, all.cells) <= width) return { ...all, fits: true };
  const short = rows.map((row) => rowTexts(table, row, { knownRounds: true, short: true }));
  const chosen = new Set(columns.filter((column) => dropOf(column) === 0));
  const least = pick(columns, short, (column) => chosen.has(column));
  if (tableWidth(least.kept, least.cells) > width) return { ...least, fits: false };
  let fitted = least;
  const others = columns.filter((column) => !chosen.has(column));
  for (const column of others.sort((a, b) => dropOf(a) - dropOf(b))) {
    const more = pick(columns, short, (one) => chosen.has(one) || one === column);
    if (tableWidth(more.kept, more.cells) > width) continue;
    chosen.add(column);
    fitted = more;
  }
  return { ...fitted, fits: true };
}

/**
 * @param {readonly Column[]} columns
 * @param {readonly string[][]} texts texts of all columns, by row
 * @param {(column: Column) => boolean} isKept
 * @returns {{ kept: Column[], cells: string[][] }} with the rank first
 */
function pick(columns, texts, isKept) {
  const places = columns.flatMap((column, i) => (isKept(column) ? [i] : []));
  places.sort((a, b) => Number(isRank(columns[b])) - Number(isRank(columns[a])) || a - b);
  const aligned = places.map((i) => {
    const column = texts.map((row) => row[i]);
    return columns[i].shows === undefined ? column : alignIntervals(column);
  });
  return {
    kept: places.map((i) => columns[i]),
    cells: texts.map((_, row) => aligned.map((column) => column[row])),
  };
}

/** @param {Column} column */
function isRank({ unit }) {
  return unit === 'rank';
}

/**
 * @param {readonly string[]} texts texts of one column, such as `54,731 ±4.8%`
 * @returns {string[]} with figures and intervals aligned
 */
function alignIntervals(texts) {
  const parts = texts.map((text) => text.split(/ (?=±|\(\d)/));
  const intervals = parts.flatMap(([, interval]) => interval ?? []);
  if (intervals.length === 0) return [...texts];
  const intervalWidth = Math.max(...intervals.map(displayWidth));
  const figureWidth = Math.max(
    ...parts.map(([figure, interval]) => (interval ? displayWidth(figure) : 0)),
  );
  return parts.map(([figure, interval]) => {
    if (interval)
      return `${figure} ${interval}${' '.repeat(intervalWidth - displayWidth(interval))}`;
    return displayWidth(figure) > figureWidth ? figure : figure + ' '.repeat(intervalWidth + 1);
  });
}

/** @param {Column} column */
export function dropOf({ drop = 0 }) {
  return drop;
}

/**
 * @param {readonly Column[]} columns
 * @param {readonly string[][]} cells
 */
export function tableWidth(columns, cells) {
  const widths = columns.map((column, j) =>
    Math.max(...headOf(column).map(displayWidth), ...cells.map((texts) => displayWidth(texts[j]))),
  );
  return widths.reduce((sum, one) => sum + one, GAP.length * (columns.length - 1));
}

/**
 * Bars of the ratio to the fastest, one per compared row.
 * @param {readonly TableRow[]} rows
 * @param {number} width available width
 * @returns {string[] | null} null: not enough space, or nothing to compare
 */
export function barsOf(rows, width) {
  const ratios = rows.map(({ values, remark }) => {
    const value = values[BAR_KEY];
    const isOne = value !== undefined && 'value' in value && remark === null;
    return isOne && typeof value.value === 'number' ? value.value : null;
  });
  if (width < BAR_MIN || ratios.filter((ratio) => ratio !== null).length < 2) return null;
  return ratios.map((ratio) => (ratio === null ? '' : barText(Math.min(1, ratio), width)));
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * @param {number} share 0 to 1
 * @param {number} width
 */
function barText(share, width) {
  const eighths = Math.max(1, Math.round(share * width * 8));
  return '█'.repeat(eighths >> 3) + EIGHTHS[eighths % 8];
}

/**
 * @param {string[][]} rows
 * @param {('left' | 'right')[]} colAligns
 * @returns {string[]} one line per row
 */
export function plainTable(rows, colAligns) {
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true };
  const table = new TextTable({ chars: NO_LINES, style, colAligns });
  table.push(...rows);
  const lines = table.toString().split('\n');
  return lines.map((line) => line.trimEnd());
}
