/**
 * One load shared by several processes, so that a single Node thread is not the limit: which part
 * is whose. Pure. Process p of N issues the operations p, p + N, p + 2N …: together exactly those
 * of one process, with the same keys.
 */

import { countArrivals } from '../load/arrivals.js';
import { MAX_IN_FLIGHT } from '../load/rate.js';

/** @typedef {import('../lib/result.js').Load} Load */
/** @typedef {import('./opening.js').BenchmarkSpec} BenchmarkSpec */
/** @typedef {{ index: number, count: number }} Share process `index` of `count` */

/**
 * @template T
 * @param {T} whole
 * @param {Share} share
 * @returns {number | T} its part; parts differ by one at most
 */
function partOf(whole, { index, count }) {
  if (typeof whole !== 'number') return whole;
  return Math.floor(whole / count) + (index < whole % count ? 1 : 0);
}

/**
 * The load of one process. One in flight stays one: then there are as many in flight as processes.
 * @param {Load} load of all
 * @param {Share} share
 * @returns {Load}
 */
export function shareLoad(load, share) {
  const { kind, inFlight, operations, maxInFlight } = load;
  return {
    ...load,
    operations: partOf(operations, share),
    inFlight: kind === 'sync' ? inFlight : partOf(inFlight, share),
    ...(maxInFlight !== undefined && { maxInFlight: Math.max(1, partOf(maxInFlight, share)) }),
  };
}

/**
 * @param {import('../lib/types.js').BoundWorkload} bound
 * @param {Share} share
 * @returns {import('../lib/types.js').BoundWorkload} its operation i is that of all, i · N + p
 */
export function shareWorkload({ op, verify, kinds, ...rest }, { index: p, count: n }) {
  return {
    ...rest,
    op: (index, done) => op(index * n + p, done),
    verify: (index, reply, whole) => verify(index * n + p, reply, whole),
    ...(kinds && { kinds: { names: kinds.names, of: (i) => kinds.of(i * n + p) } }),
  };
}

/**
 * @param {Pick<BenchmarkSpec, 'seed' | 'share' | 'load'>} spec
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

/** @param {Pick<BenchmarkSpec, 'load' | 'share'>} spec @returns {Load} */
export function ownLoad({ load, share }) {
  return share === undefined ? load : shareLoad(load, share);
}

/**
 * @param {Load} load
 * @returns {number} how many operations there will be, about; Infinity where that is not known
 */
export function operationsOf({ operations, durationNs, rate }) {
  if (operations !== null) return operations;
  if (rate === undefined || durationNs === null) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil((rate * durationNs) / 1e9));
}

/**
 * @param {Load} load
 * @returns {Share[] | undefined} of its processes; undefined: one has all
 */
export function sharesOf({ processes = 1 }) {
  if (processes === 1) return undefined;
  return Array.from({ length: processes }, (_, index) => ({ index, count: processes }));
}
