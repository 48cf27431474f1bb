/** Percentiles as curves: points, axis, numbers. */

import { formatDuration } from '../../lib/format.js';
import { percentileCurve } from '../analysis/curve.js';
import { left, right } from './plot.js';

/** @typedef {import('./lines.js').Curve} Curve */
/** @typedef {import('../../measure/histogram.js').Histogram} Histogram */

/** Percentiles of the table. */
const QUANTILES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];
const TICKS = [2, 4, 10, 20, 100, 1000, 1e4, 1e5, 1e6];

/**
 * @param {readonly { name: string, plain: string, color: Curve['color'],
 *   row: import('./plot.js').TableRow, histogram: Histogram | null }[]} found
 * @returns {Curve[]} curves with enough points
 */
export function percentileCurves(found) {
  return found.flatMap(({ histogram, row, ...curve }) => {
    const points = (histogram === null ? [] : percentileCurve(histogram)).map(
      ({ oneIn, latencyNs }) => ({ x: oneIn, y: latencyNs, low: null, high: null, marked: false }),
    );
    return points.length < 2 ? [] : [{ ...curve, points, rows: [row], histogram }];
  });
}

/**
 * @param {Curve[]} curves
 * @param {{ value: string, of: string }} names names of the quantity and of its subject
 * @returns {import('./lines.js').Chart}
 */
export function percentileAxis(curves, { value, of }) {
  const xs = curves.flatMap(({ points }) => points.map(({ x }) => x));
  return {
    curves,
    x: {
      name: `percentile of ${of}`,
      kind: 'log',
      values: xs,
      labels: null,
      ticks: TICKS.filter((tick) => tick <= Math.max(...xs)),
      format: percentileText,
    },
    y: { name: value, format: formatDuration, fromZero: true },
    changes: [],
    levels: [],
    text: ({ name }, { x, y }) => `${name}: ${percentileText(x)} within ${formatDuration(y)}`,
  };
}

/**
 * @param {readonly Curve[]} curves
 * @param {string} head
 * @returns {import('./plot.js').PlotTable}
 */
export function percentileTable(curves, head) {
  return {
    columns: [
      ...[left(head), right('least')],
      ...QUANTILES.map((q) => right(`p${Number((q * 100).toFixed(2))}`)),
      right('greatest'),
    ],
    rows: curves.map(({ name, color, histogram }) => ({
      series: color.series,
      texts: [
        ...[name, formatDuration(histogram?.min ?? null)],
        ...QUANTILES.map((q) => formatDuration(histogram?.printablePercentile(q) ?? null)),
        formatDuration(histogram?.max ?? null),
      ],
    })),
  };
}

/**
 * @param {number} oneIn
 * @returns {string} `99.9 %`
 */
function percentileText(oneIn) {
  if (oneIn <= 1) return '0 %';
  const digits = Math.max(0, Math.ceil(Math.log10(oneIn) - 2));
  return `${(100 * (1 - 1 / oneIn)).toFixed(digits)} %`;
}
