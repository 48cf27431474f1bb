/**
 * The loads of a run: accepted values, defaults and names. Pure; load/ runs them.
 */

import { z } from 'zod';
import { TAG_LENGTH, VALUE_SIZE_MAX } from '../lib/dataset.js';
import { usageError } from '../lib/errors.js';
import { loadName } from '../lib/load-name.js';
import { MAX_IN_FLIGHT } from '../load/rate.js';
import {
  BURST_MAX,
  CONNECTIONS_MAX,
  IN_FLIGHT_MAX,
  OPERATIONS_DEFAULT,
  OPERATIONS_MAX,
  PROCESSES_MAX,
  RATE_MAX,
} from './load-bounds.js';

/** An open loop without an amount. */
const RATE_DURATION_MS = 10_000;
const WINDOW = 100;

export const wholeNumber = (/** @type {number} */ min, /** @type {number} */ max) =>
  z.number().int().min(min).max(max);
const rate = z.number().positive().max(RATE_MAX);
const durationMs = z.number().positive().max(86_400_000);
const arrivals = z.enum(['constant', 'poisson', 'trace']);

export const loadOption = z.strictObject({
  kind: z.enum(['sync', 'window', 'burst', 'rate']),
  inFlight: wholeNumber(1, IN_FLIGHT_MAX).optional(),
  operations: wholeNumber(1, OPERATIONS_MAX).optional(),
  durationMs: durationMs.optional(),
  rate: rate.optional(),
  arrivals: arrivals.optional(),
  maxInFlight: wholeNumber(1, IN_FLIGHT_MAX).optional(),
  onOutage: z.enum(['stop', 'continue']).optional(),
  processes: wholeNumber(1, PROCESSES_MAX).optional(),
  connections: wholeNumber(1, CONNECTIONS_MAX).optional(),
  valueSize: wholeNumber(TAG_LENGTH, VALUE_SIZE_MAX).optional(),
});

export const searchOption = z.strictObject({
  percentile: z.number().min(0.5).max(0.9999),
  limitMs: z.number().positive().max(3_600_000),
  start: rate.optional(),
  durationMs: durationMs.optional(),
  arrivals: arrivals.optional(),
  maxInFlight: wholeNumber(1, IN_FLIGHT_MAX).optional(),
  processes: wholeNumber(1, PROCESSES_MAX).optional(),
});

/** @typedef {z.infer<typeof loadOption>} LoadOption */
/** @typedef {z.infer<typeof searchOption>} SearchOption */

/**
 * @typedef {object} SearchPlan search for the highest rate within a latency limit
 * @property {number} percentile for example 0.99
 * @property {number} limitNs
 * @property {number} start first rate
 * @property {number} durationMs minimum duration of a trial; longer if a percentile needs more
 *   values
 * @property {'constant' | 'poisson' | 'trace'} arrivals
 * @property {number} maxInFlight
 * @property {number} [processes] absent: one
 */

/** @typedef {{ load: string, reason: string }} SkippedLoad load: its name */

/**
 * @param {LoadOption} load
 * @returns {import('../lib/result.js').Load}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: a process or a connection would be
 *   idle
 */
export function completeLoad(load) {
  const problem = whyImpossible(load);
  if (problem !== null) throw usageError(problem.message, problem.hint);
  return completed(load);
}

/**
 * Valid combinations of several lists, `--in-flight 1,8 --connections 1,4`.
 * @template {LoadOption} T
 * @param {readonly T[]} loads
 * @returns {{ possible: T[], skipped: SkippedLoad[] }}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: no combination is valid
 */
export function splitPossible(loads) {
  const possible = loads.filter((load) => whyImpossible(load) === null);
  if (possible.length === 0) loads.slice(-1).forEach(completeLoad);
  const skipped = loads.flatMap((load) => {
    const problem = whyImpossible(load);
    return problem === null ? [] : [{ load: loadName(completed(load)), reason: problem.message }];
  });
  return { possible, skipped };
}

/**
 * @param {LoadOption} load
 * @returns {import('../lib/result.js').Load}
 */
function completed(load) {
  const { kind, operations } = load;
  if (kind === 'rate') return completeRate(load);
  const timed = load.durationMs !== undefined;
  return {
    kind,
    inFlight: kind === 'burst' ? null : kind === 'sync' ? 1 : (load.inFlight ?? WINDOW),
    operations: operations ?? (timed ? null : OPERATIONS_DEFAULT),
    durationNs: load.durationMs === undefined ? null : load.durationMs * 1e6,
    ...sharedBy(load),
  };
}

/** Options that only open loops have. */
const OF_RATE = Object.freeze({
  rate: '--rate',
  arrivals: '--arrivals',
  maxInFlight: '--max-in-flight',
  onOutage: '--on-outage',
});

/**
 * @param {LoadOption} load
 * @returns {{ message: string, hint?: string } | null} null: its kind has all of its options
 */
function whyNotOfKind(load) {
  const { kind, operations = 0 } = load;
  if (kind !== 'window' && load.inFlight !== undefined) {
    const hint = kind === 'rate' ? 'use --max-in-flight' : 'use --load window';
    return { message: '--in-flight needs a window', hint };
  }
  const names = /** @type {(keyof typeof OF_RATE)[]} */ (Object.keys(OF_RATE));
  const ofRate = names.find((name) => load[name] !== undefined);
  if (kind !== 'rate' && ofRate !== undefined) {
    return { message: `${OF_RATE[ofRate]} needs an open loop`, hint: 'add --rate 1k' };
  }
  if (kind === 'rate' && load.rate === undefined) {
    return { message: '--load rate needs --rate', hint: 'add --rate 1k, or use --ramp' };
  }
  if (kind !== 'burst') return null;
  const hint = 'add --in-flight 100 for a window';
  if (load.durationMs !== undefined) {
    return { message: 'a burst has a number of requests and no duration', hint };
  }
  if (operations <= BURST_MAX) return null;
  return { message: `a burst of ${operations}: the maximum is ${BURST_MAX} requests`, hint };
}

/**
 * @param {LoadOption} load
 * @returns {{ message: string, hint?: string } | null} null: each process and connection has work
 */
function whyImpossible(load) {
  const { kind, inFlight = WINDOW, operations, connections = 1, processes = 1 } = load;
  const problem = whyNotOfKind(load);
  if (problem !== null) return problem;
  if ((operations ?? processes) < processes) return { message: 'fewer operations than processes' };
  if (kind === 'window' && inFlight < processes) {
    return { message: 'fewer requests in flight than processes' };
  }
  if (connections === 1) return null;
  if (processes > 1) {
    const message = '--connections and --processes cannot be combined';
    return { message, hint: 'each process has its own' };
  }
  const most = kind === 'sync' ? 1 : kind === 'window' ? inFlight : connections;
  return most >= connections
    ? null
    : {
        message: `--connections ${connections} needs as many requests in flight, not ${most}`,
        hint: `write for example --in-flight ${Math.max(connections, WINDOW)}`,
      };
}

/**
 * @param {{ processes?: number, connections?: number, valueSize?: number }} load
 * @returns {Partial<import('../lib/result.js').Load>} only fields that differ from one process,
 *   one connection and the dataset's value size, as in results of earlier versions
 */
function sharedBy({ processes = 1, connections = 1, valueSize }) {
  return {
    ...(processes > 1 && { processes }),
    ...(connections > 1 && { connections }),
    ...(valueSize !== undefined && { valueSize }),
  };
}

/**
 * @param {LoadOption} load
 * @returns {import('../lib/result.js').Load}
 */
function completeRate(load) {
  const { operations, durationMs: ms, rate: perSecond, arrivals: distribution, maxInFlight } = load;
  const time = ms ?? (operations === undefined ? RATE_DURATION_MS : null);
  return {
    kind: 'rate',
    inFlight: null,
    operations: operations ?? null,
    durationNs: time === null ? null : time * 1e6,
    rate: perSecond,
    arrivals: distribution ?? 'constant',
    maxInFlight: maxInFlight ?? MAX_IN_FLIGHT,
    ...(load.onOutage === 'continue' && { onOutage: load.onOutage }),
    ...sharedBy(load),
  };
}

/**
 * @param {SearchOption} search
 * @returns {SearchPlan}
 */
export function completeSearch(search) {
  return {
    percentile: search.percentile,
    limitNs: search.limitMs * 1e6,
    start: Number((search.start ?? 1000).toPrecision(4)), // as the rates after it
    durationMs: search.durationMs ?? 3000,
    arrivals: search.arrivals ?? 'constant',
    maxInFlight: search.maxInFlight ?? MAX_IN_FLIGHT,
    ...sharedBy(search),
  };
}

/**
 * The load of one trial: of the requested length, with 1.5 times as many values as the percentile
 * needs (10 above it).
 * @param {SearchPlan} search
 * @param {number} perSecond
 * @returns {import('../lib/result.js').Load}
 */
export function trialLoad(search, perSecond) {
  const { percentile, durationMs: ms, arrivals: distribution, maxInFlight, processes } = search;
  const values = Math.ceil(15 / (1 - percentile));
  const operations = Math.max(values, Math.round((perSecond * ms) / 1000));
  const own = { arrivals: distribution, maxInFlight, processes };
  return completeRate({ kind: 'rate', operations, rate: perSecond, ...own });
}

/**
 * @param {readonly import('../lib/result.js').Load[]} loads loads of one run
 * @returns {(load: import('../lib/result.js').Load) => string} its label, with the number of
 *   operations if only that distinguishes two loads
 */
export function loadLabels(loads) {
  const labels = loads.map(loadLabel);
  return (load) => {
    const label = loadLabel(load);
    const alike = labels.filter((one) => one === label).length > 1;
    return alike && load.operations !== null ? `${label}-of-${load.operations}` : label;
  };
}

/**
 * @param {import('../lib/result.js').Load} load
 * @returns {string} `sync`, `burst`, `window-100`, `rate-2000-poisson`, `window-100-by-2` for two
 *   processes, `window-100-over-4` for four connections: part of a benchmark's id
 */
export function loadLabel({ kind, inFlight, rate: perSecond, arrivals: distribution, ...more }) {
  const { processes, connections, valueSize } = more;
  const shared = [
    processes === undefined ? '' : `-by-${processes}`,
    connections === undefined ? '' : `-over-${connections}`,
    valueSize === undefined ? '' : `-value-${valueSize}`,
  ].join('');
  if (kind === 'rate') {
    const named = ['poisson', 'trace'].includes(distribution ?? '') ? `-${distribution}` : '';
    return `rate-${perSecond}${named}${shared}`;
  }
  return `${kind === 'window' ? `window-${inFlight}` : kind}${shared}`;
}
