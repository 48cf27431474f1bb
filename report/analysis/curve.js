/**
 * A source's latencies as a curve: how long the slowest 1 %, 0.1 % … took. Pure.
 *
 * Goals: points that lie evenly on an axis of orders of magnitude, none beyond what the count of
 * values bears. Non-goals: single percentiles of tables (rows.js).
 */

import { DragstripError } from '../../lib/errors.js';
import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';

/** @typedef {import('../../lib/result.js').Latency} Latency */
/** @typedef {import('../../lib/result.js').Round} Round */

/** Points for each factor of ten in the share that is slower. */
const POINTS_A_DECADE = 8;
const DECADES_MAX = 7;

/**
 * @typedef {object} CurvePoint
 * @property {number} oneIn of so many operations one is slower: 100 at the 99th percentile
 * @property {number} latencyNs
 */

/**
 * @param {Pick<import('../../lib/result.js').Benchmark, 'id' | 'rounds'>} source
 * @param {(round: Round) => Latency | null | undefined} [of] absent: of all operations of measured
 *   rounds
 * @returns {Histogram | null} of the rounds together; null: no latency is known
 * @throws {DragstripError} E_USAGE where a histogram is damaged
 */
export function mergedHistogram({ id, rounds }, of = measuredLatency) {
  const merged = new Histogram();
  let any = false;
  for (const one of rounds) {
    const latency = of(one);
    if (!latency) continue;
    any = true;
    try {
      merged.merge(decode(latency.histogram, { count: latency.count }));
    } catch (error) {
      const message = `benchmark ${id}, round ${one.round}: ${error.message}`;
      throw new DragstripError('E_USAGE', message, { hint: error.hint, cause: error });
    }
  }
  return any ? merged : null;
}

/** @param {Round} round */
function measuredLatency({ state, latency }) {
  return state === 'measured' ? latency : null;
}

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
