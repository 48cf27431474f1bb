/**
 * How long locks are waited for, as percentile curves: a plot for the fewest and one for the most
 * names that are locked at once, a curve for each kind of lock.
 */

import { plainText } from '../../lib/format.js';
import { byLabel, toLockRows, waitsOf } from '../../workloads/mutex/analysis.js';
import { percentileCurve } from '../analysis/curve.js';
import { curveSummary, curveTable, curveVariants } from './percentile-curves.js';

/** @typedef {import('./plot.js').Plot} Plot */
/** @typedef {import('./percentile-curves.js').Curve} Curve */

const NAMES = Object.freeze({ lock: 'Test 1', count: 'Test 2' });

/** @type {import('./plot.js').PlotDefinition} */
export default {
  name: 'mutex-waits',
  summary: 'how long a lock is waited for',
  build: ({ result }) =>
    Object.entries(NAMES).flatMap(([test, name]) => {
      const rows = toLockRows(result, test);
      const keys = rows.map((row) => row.keys);
      const ends = new Set([Math.min(...keys), Math.max(...keys)]);
      return rows.length === 0 ? [] : [...ends].flatMap((n) => toPlots(rows, { test, name, n }));
    }),
};

/**
 * @param {import('../../workloads/mutex/analysis.js').LockRow[]} rows
 * @param {{ test: string, name: string, n: number }} which n: of the names
 * @returns {Plot[]} one, or none where no wait is known
 */
function toPlots(rows, { test, name, n }) {
  // The number of a kind is its colour, in every plot of locks the same.
  const curves = byLabel(rows).flatMap(({ label, rows: ofKind }, series) => {
    const row = ofKind.find(({ keys }) => keys === n);
    return row === undefined ? [] : toCurves(row.cell, plainText(label), series);
  });
  if (curves.length === 0) return [];
  const names = `${n}/${2 * n - 1} ${n === 1 ? 'key' : 'keys'}`;
  return [
    {
      id: `mutex-${test}-waits-${n}`,
      title: `Mutex, ${name}: waits for a lock, ${names}`,
      summary: curveSummary(curves, 'Wait for a lock'),
      note:
        'From asking for the lock to having it. Left: the shorter half; right: the longest, one in ' +
        'a hundred, one in a thousand. Lower is better. All rounds together, drawn as far as ten ' +
        'waits lie above.',
      group: null,
      variants: curveVariants(curves, { value: 'wait', of: 'the locks' }),
      table: curveTable(curves, 'lock'),
    },
  ];
}

/**
 * @param {import('../../lib/result.js').Cell} cell
 * @param {string} label
 * @param {number} series
 * @returns {Curve[]}
 */
function toCurves(cell, label, series) {
  const histogram = waitsOf(cell);
  const points = histogram === null ? [] : percentileCurve(histogram);
  if (histogram === null || points.length < 2) return [];
  return [{ name: label, plain: label, series, points, histogram }];
}
