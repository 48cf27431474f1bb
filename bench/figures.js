/**
 * The results of a bench: figures with target, median and range, and their table.
 */

import Table from 'cli-table3';
import { median as medianOf } from 'simple-statistics';

/**
 * @typedef {object} Figure
 * @property {string} name
 * @property {string} unit
 * @property {number} median
 * @property {number} low minimum values of the passes
 * @property {number} high maximum
 * @property {number} n
 * @property {number | null} target
 * @property {boolean | null} reached null: no target
 */

/**
 * @typedef {object} BenchContext
 * @property {boolean} smoke sizes for the tests
 * @property {Record<string, import('../lib/types.js').Address>} servers by name
 * @property {number} rows number of rows of the dataset on the servers
 */

/**
 * @param {string} name
 * @param {number[]} values values of the passes
 * @param {{ target?: number, better: 'higher' | 'lower', unit: string }} options
 * @returns {Figure}
 */
export function measure(name, values, { target, better, unit }) {
  const median = values.length === 0 ? Number.NaN : medianOf(values);
  const reached =
    target === undefined ? null : better === 'higher' ? median >= target : median <= target;
  return {
    name,
    unit,
    median,
    low: Math.min(...values),
    high: Math.max(...values),
    n: values.length,
    target: target ?? null,
    reached,
  };
}

/**
 * @param {Figure[]} figures
 * @returns {string}
 */
export function showFigures(figures) {
  const table = new Table({
    head: ['figure', 'median', 'lowest', 'highest', 'n', 'target', ''],
    style: { head: [], border: [], compact: true },
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'left'],
  });
  for (const { name, unit, median, low, high, n, target, reached } of figures) {
    const text = (/** @type {number} */ value) => `${Number(value.toPrecision(4))} ${unit}`;
    const goal = target === null ? '' : text(target);
    const verdict = reached === null ? '' : reached ? 'reached' : 'not reached';
    table.push([name, text(median), text(low), text(high), n, goal, verdict]);
  }
  return table.toString();
}
