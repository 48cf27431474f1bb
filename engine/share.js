/**
 * Division of one load among several processes, so that a single Node thread is not the limit.
 * Pure. Process p of N issues the operations p, p + N, p + 2N …: together exactly those of one
 * process, with the same keys.
 */

import { usageError } from '../lib/errors.js';
import { countArrivals } from '../load/arrivals.js';
import { MAX_IN_FLIGHT } from '../load/rate.js';

/** @typedef {import('../lib/result.js').Load} Load */
/** @typedef {import('./opening.js').BenchmarkSpec} BenchmarkSpec */
/** @typedef {{ index: number, count: number }} Share process `index` of `count` */

/**
 * @template T
 * @param {T} whole
 * @param {Share} share
 * @returns {number | T} its part; parts differ by at most one
 */
function partOf(whole, { index, count }) {
  if (typeof whole !== 'number') return whole;
  return Math.floor(whole / count) + (index < whole % count ? 1 : 0);
}

/**
 * The load of one process. One in flight stays one, so the total in flight is the number of
 * processes.
 * @param {Load} load load of all processes
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
 * @returns {import('../lib/types.js').BoundWorkload} call whose operation i is operation i · N + p
 *   of the total
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
 * @returns {import('../load/rate.js').RateOptions | undefined} load with its arrivals counted; this
 *   takes time, so call it before the processes agree on the start
 */
export function rateOf(spec, measured) {
  const { seed, share } = spec;
  const { rate, arrivals = 'constant' } = spec.load;
  if (rate === undefined) return undefined;
  const { maxInFlight = MAX_IN_FLIGHT, operations, durationNs } = ownLoad(spec);
  const { dueNs: timesNs } = measured;
  const bound = { ...(share && { share }), ...(timesNs && { timesNs }) };
  const options = { perSecond: rate, arrivals, maxInFlight, seed, ...bound };
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
 * @returns {number} approximate number of operations; Infinity if unknown
 */
export function operationsOf({ operations, durationNs, rate }) {
  if (operations !== null) return operations;
  if (rate === undefined || durationNs === null) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil((rate * durationNs) / 1e9));
}

/**
 * @param {Load} load
 * @returns {Share[] | undefined} shares of its processes; undefined: one has all
 */
export function sharesOf({ processes = 1 }) {
  if (processes === 1) return undefined;
  return Array.from({ length: processes }, (_, index) => ({ index, count: processes }));
}

/** @param {string} name metric whose value in one process could be mistaken for the total */
export function noMetricRule(name) {
  return usageError(
    `several processes share the load, and metricRules has no rule for "${name}"`,
    'leave out --processes',
  );
}
