/**
 * A source's latencies as a curve: how long the slowest 1 %, 0.1 % … took. Pure.
 *
 * Goals: points that lie evenly on an axis of orders of magnitude, none beyond what the count of
 * values bears. Non-goals: single percentiles of tables (rows.js).
 */

/** @typedef {import('../../measure/histogram.js').Histogram} Histogram */

/** Points for each factor of ten in the share that is slower. */
const POINTS_A_DECADE = 8;
const DECADES_MAX = 7;

/**
 * @typedef {object} CurvePoint
 * @property {number} oneIn of so many operations one is slower: 100 at the 99th percentile
 * @property {number} latencyNs
 */

/**
 * @param {Histogram} histogram
 * @returns {CurvePoint[]} from the first quarter on, as far as 10 values lie above
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
