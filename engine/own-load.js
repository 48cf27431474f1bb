/**
 * The load of one benchmark's process, which may be a part of a load that several share: what is in
 * flight, when operations are due, what records them.
 */

import { countArrivals } from '../load/arrivals.js';
import { MAX_IN_FLIGHT } from '../load/rate.js';
import { SecondsRecorder } from '../load/seconds-recorder.js';
import { shareLoad } from './share.js';

/** @typedef {import('./benchmark.js').BenchmarkSpec} BenchmarkSpec */

/**
 * @param {BenchmarkSpec} spec
 * @param {Pick<import('../lib/types.js').BoundWorkload, 'dueNs'>} measured
 * @returns {import('../load/rate.js').RateOptions | undefined} with its arrivals counted, which
 *   takes time: call it before the processes agree when to begin
 */
export function rateOf(spec, measured) {
  const { seed, share } = spec;
  const { rate, arrivals = 'constant' } = spec.load;
  if (rate === undefined) return undefined;
  const { maxInFlight = MAX_IN_FLIGHT, operations, durationNs } = ownLoad(spec);
  const { dueNs: timesNs } = measured;
  const own = { ...(share && { share }), ...(timesNs && { timesNs }) };
  const options = { perSecond: rate, arrivals, maxInFlight, seed, ...own };
  const bounds = {
    durationNs: durationNs ?? Number.POSITIVE_INFINITY,
    operations: operations ?? Number.POSITIVE_INFINITY,
  };
  return { ...options, count: countArrivals(options, bounds) };
}

/**
 * @param {BenchmarkSpec} spec
 * @param {import('../lib/types.js').BoundWorkload} measured
 */
export function recorderOf({ perSecond, load }, { kinds, series }) {
  if (!perSecond || series !== undefined) return undefined;
  const what = { service: load.rate !== undefined, kinds: kinds ?? null };
  return (/** @type {number} */ startNs) => new SecondsRecorder(startNs, what);
}

/** @param {BenchmarkSpec} spec */
export function ownLoad({ load, share }) {
  return share === undefined ? load : shareLoad(load, share);
}

/**
 * @param {import('./benchmark.js').BenchmarkSpec['load']} load
 * @returns {number} how many operations there will be, about; Infinity where that is not known
 */
export function operationsOf({ operations, durationNs, rate }) {
  if (operations !== null) return operations;
  if (rate === undefined || durationNs === null) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil((rate * durationNs) / 1e9));
}
