/**
 * Options of loads, and the loads or the search of the highest rate that they request. Invalid
 * combinations are refused here with one line, before anything is opened.
 */

import { usageError } from '../lib/errors.js';
import { choice, count, counts, duration, flag, reading } from '../lib/options.js';
import { MAX_IN_FLIGHT } from '../load/rate.js';
import {
  CONNECTIONS_MAX,
  IN_FLIGHT_MAX,
  OPERATIONS_DEFAULT,
  OPERATIONS_MAX,
  PROCESSES_MAX,
} from './load-bounds.js';
import { parseRamp, parseRate } from './rates.js';

/** @typedef {import('../lib/types.js').LoadOption} LoadOption */
/** @typedef {import('../lib/types.js').UsualLoads} UsualLoads */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */
/**
 * @typedef {Record<string, any>} Values parsed values by name in LOAD_OPTIONS; absent: not given
 */

/** Options of every workload whose loads are not fixed. */
/** @type {import('../lib/options.js').OptionTable} */
export const LOAD_OPTIONS = Object.freeze({
  ops: counts(1, OPERATIONS_MAX, undefined, {
    also: ['-n'],
    value: '<n>',
    help: 'operations per benchmark (50k, 1M); several (50k,500k): each number in turn',
    shown: `${OPERATIONS_DEFAULT}`,
  }),
  duration: duration(undefined, {
    also: ['-d'],
    help: 'duration of each benchmark, instead of --ops: 10s, 500ms',
  }),
  inFlight: counts(1, IN_FLIGHT_MAX, undefined, {
    also: ['-c'],
    value: '<k>',
    help: 'keep k requests in flight; several (1,8,64): each number in turn',
  }),
  connections: counts(1, CONNECTIONS_MAX, undefined, {
    help: 'spread a window over n connections; several (1,4,16): each number in turn',
    shown: '1',
  }),
  load: choice(['sync', 'window', 'burst', 'rate'], undefined, {
    value: '<kind>',
    help: 'sync (one in flight), window, burst (all at once) or rate (an open loop)',
  }),
  rate: reading(parseRate, {
    value: '<r>',
    help: 'open loop: start r operations per second, independent of replies (10k, 2.5k, 0.5)',
  }),
  arrivals: choice(['constant', 'poisson'], undefined, {
    value: '<distribution>',
    help: 'open loop: constant or poisson',
    shown: 'constant',
  }),
  maxInFlight: count(1, IN_FLIGHT_MAX, undefined, {
    value: '<k>',
    help: 'open loop: maximum requests in flight; arrivals beyond it are dropped and counted',
    shown: `${MAX_IN_FLIGHT}`,
  }),
  onOutage: choice(['stop', 'continue'], undefined, {
    value: '<action>',
    help: 'open loop, if the server is lost: stop, or reconnect and continue',
    shown: 'stop',
  }),
  ramp: reading(parseRamp, {
    value: '<from:to:step>',
    help: 'open loop at each of these rates: 1k:10k:1k, or a list: 1k,2k,5k',
  }),
  search: flag({
    flag: 'find-max',
    help: 'find the highest rate whose p99 is within --p99; --rate is the first rate tried',
  }),
  p99: duration(undefined, {
    help: '--find-max: limit of the 99th percentile of response times, 5ms or 500us',
  }),
  processes: counts(1, PROCESSES_MAX, undefined, {
    value: '<n>',
    help: 'split each load over n processes; several (1,2): each number in turn, compared',
    shown: '1',
  }),
});

/** @type {UsualLoads} */
const WINDOW = ({ inFlight }) => windowsOf(inFlight ?? [undefined]);

/**
 * @param {Pick<WorkloadDefinition, 'loads' | 'plan' | 'contenders'> | null} workload
 * @returns {UsualLoads | null} its default loads; null: its own plan creates them
 */
export function usualLoadsOf(workload) {
  if (typeof workload?.loads === 'function') return workload.loads;
  if (workload?.loads === true) return WINDOW;
  return workload?.plan === undefined && workload?.contenders === undefined ? WINDOW : null;
}

/**
 * @param {readonly (number | undefined)[]} inFlight
 * @returns {LoadOption[]} one window per value
 */
function windowsOf(inFlight) {
  return inFlight.map((k) => ({ kind: 'window', ...(k !== undefined && { inFlight: k }) }));
}

/**
 * @param {Values} values
 * @param {UsualLoads} usual
 * @param {unknown} [rounds] number of rounds, if given
 * @returns {{ loads?: LoadOption[], findMax?: import('./loads.js').SearchOption }}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function loadsOf(values, usual, rounds) {
  const { search, p99, ramp, rate, ops = [undefined], duration: durationMs } = values;
  if (search || p99 !== undefined) return { findMax: toSearch({ ...values, rounds }) };
  if (ramp !== undefined) refuseBeside('--ramp', { '--rate': rate });
  if (values['ops'] !== undefined && durationMs !== undefined) {
    throw usageError(
      '--ops and --duration cannot be combined',
      '--ops fixes the number of operations, --duration the time; leave out one',
    );
  }
  const { arrivals, maxInFlight, onOutage } = values;
  const loads = kindsOf(values, usual).map((load) => ({
    ...load,
    ...(arrivals && { arrivals }),
    ...(maxInFlight && { maxInFlight }),
    ...(onOutage && { onOutage }),
  }));
  const isFixed = (ops[0] ?? durationMs) !== undefined;
  const all = ops.flatMap((/** @type {number | undefined} */ operations) =>
    loads.map((load) => (isFixed ? { ...load, operations, durationMs } : load)),
  );
  return { loads: shared(all, values) };
}

/**
 * @param {Values} values
 * @param {UsualLoads} usual function that gives a load its default amount
 * @returns {LoadOption[]} including impossible combinations, which loads.js skips
 */
function kindsOf(values, usual) {
  const { load, inFlight, rate, ramp = rate === undefined ? undefined : [rate] } = values;
  if (load === 'window' && ramp === undefined) return windowsOf(inFlight ?? [undefined]);
  if (load === undefined && ramp === undefined) return usual(values);
  const known = load && usual(values).find(({ kind }) => kind === load);
  const first = {
    ...(known ?? { kind: load ?? 'rate' }),
    ...(inFlight && { inFlight: inFlight[0] }),
  };
  return (ramp ?? [undefined]).map((/** @type {number | undefined} */ step) => ({
    ...first,
    ...(step !== undefined && { rate: step }),
  }));
}

/**
 * @param {Values} values
 * @returns {import('./loads.js').SearchOption}
 */
function toSearch({ search, p99, rate, load, ramp, inFlight, ops, rounds, processes, ...others }) {
  if (!search) throw usageError('--p99 requires --find-max', 'add --find-max');
  if (p99 === undefined) throw usageError('--find-max requires a limit', 'add --p99 5ms');
  refuseBeside('--find-max', {
    '--connections': others['connections'],
    '--ramp': ramp,
    '--in-flight': inFlight,
    '--on-outage': others['onOutage'],
    '--rounds': rounds,
  });
  if (ops !== undefined) {
    throw usageError('--find-max and --ops: trials have a duration', 'use --duration 3s');
  }
  if (load !== undefined && load !== 'rate') {
    throw usageError(`--find-max needs an open loop, not --load ${load}`, 'leave out one');
  }
  if (processes?.length > 1) {
    throw usageError(
      '--find-max needs a single value of --processes',
      'write for example --processes 2',
    );
  }
  return {
    percentile: 0.99,
    limitMs: p99,
    start: rate,
    durationMs: others['duration'],
    arrivals: others['arrivals'],
    maxInFlight: others['maxInFlight'],
    ...(processes && { processes: processes[0] }),
  };
}

/**
 * @param {LoadOption[]} loads
 * @param {Values} values
 * @returns {LoadOption[]} each load for each number of processes and of connections
 */
function shared(loads, values) {
  const axes = /** @type {const} */ (['processes', 'connections']);
  return axes.reduce((all, axis) => {
    const { [axis]: numbers } = values;
    if (numbers === undefined) return all;
    return all.flatMap((load) =>
      numbers.map((/** @type {number} */ n) => ({ ...load, [axis]: n })),
    );
  }, loads);
}

/**
 * @param {string} flag
 * @param {Record<string, unknown>} others other options by name; not given: undefined or false
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function refuseBeside(flag, others) {
  const isGiven = (/** @type {unknown} */ value) => value !== undefined && value !== false;
  const other = Object.keys(others).find((name) => isGiven(others[name]));
  if (other === undefined) return;
  throw usageError(`${flag} and ${other} cannot be combined`, 'leave out one');
}
