/**
 * The latencies of a source as a curve: durations of the slowest 1 %, 0.1 % … Pure.
 *
 * Goals: points evenly spaced on a logarithmic axis, none beyond the resolution of the number of
 * values. Non-goals: single percentiles of tables (rows.js).
 */

/** @typedef {import('../../measure/histogram.js').Histogram} Histogram */

/** Points per decade of the slower fraction. */
const POINTS_A_DECADE = 8;
const DECADES_MAX = 7;

/**
 * @typedef {object} CurvePoint
 * @property {number} oneIn one of this many operations is slower: 100 at the 99th percentile
 * @property {number} latencyNs
 */

/**
 * @param {Histogram} histogram
 * @returns {CurvePoint[]} from the first quartile on, while at least 10 values lie above
 */
export function percentileCurve(histogram) {
  /** @type {CurvePoint[]} */
  const points = [];
  for (let k = 1; k <= DECADES_MAX * POINTS_A_DECADE; k += 1) {
    const oneIn = 10 ** (k / POINTS_A_DECADE);
    const q = 1 - 1 / oneIn;
    if (!histogram.printable(q)) break;
    points.push({ oneIn, latencyNs: Math.max(1, histogram.percentile(q)) });
  }
  return points;
}
