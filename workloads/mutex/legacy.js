/** The original program's lines of Test 1 and Test 2, as Ruby's Benchmark prints its tables. */

import { NONE, plainText } from '../../lib/format.js';
import { byLabel, toLockRows } from './analysis.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('./analysis.js').LockRow} LockRow */

/** @param {LockRow} row */
export function titleOfLock({ source }) {
  const { operations, inFlight } = source.load;
  return `lock/unlock ${operations} times with concurrency: ${inFlight}`;
}

/** @param {LockRow} row */
export function titleOfCount({ source }) {
  const seconds = (source.load.durationNs ?? 0) / 1e9;
  const what = `lock/write/incr/read/del/unlock in ${seconds} seconds + cooldown period`;
  return `${what}, tasks: ${source.load.inFlight}`;
}

/** Widths of Ruby's Benchmark. */
const CAPTION = '      user     system      total        real';
const FIGURE = 10;

/**
 * The lines of one test, all kinds of lock.
 * @param {Result} result
 * @param {'lock' | 'count'} test
 * @returns {string[]} none where it was not measured
 */
export function legacyLinesOf(result, test) {
  const rows = toLockRows(result, test);
  if (rows.length === 0) return [];
  const title = test === 'lock' ? titleOfLock(rows[0]) : titleOfCount(rows[0]);
  const width = test === 'lock' ? 14 : 16;
  const lines = [test === 'lock' ? 'Test 1' : 'Test 2', title];
  for (const { label, rows: own } of byLabel(rows)) {
    lines.push('', plainText(label), `${' '.repeat(width)}${CAPTION}`);
    lines.push(...own.map((row) => legacyLine(row, test, width)));
  }
  return lines;
}

/**
 * @param {LockRow} row
 * @param {string} test
 * @param {number} width of the label
 */
function legacyLine(row, test, width) {
  const { keys, sections, userNs, systemNs, realNs, notOffered } = row;
  const two = (/** @type {number} */ value) => String(value).padStart(2);
  const label = `keys:${two(keys)}/${two(2 * keys - 1)}`;
  if (notOffered !== null) return `${label}  ${plainText(notOffered)}`;
  if (userNs === null || systemNs === null || realNs === null) return `${label}  not measured`;
  const name = test === 'lock' ? label : `${label}${String(sections ?? NONE).padStart(6)}`;
  const figures = [userNs, systemNs, userNs + systemNs].map(seconds).join(' ');
  return `${name.padEnd(width)}${figures} (${seconds(realNs)})`;
}

/** @param {number} ns */
function seconds(ns) {
  return (ns / 1e9).toFixed(6).padStart(FIGURE);
}
