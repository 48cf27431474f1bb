/**
 * The options of loads, and the loads that they ask for, or the search of the greatest rate. What
 * cannot go together is refused here in one line, before anything is opened.
 */

import { usageError } from '../lib/errors.js';
import { choice, count, counts, duration, flag, reading } from '../lib/options.js';
import { MAX_IN_FLIGHT } from '../load/rate.js';
import {
  BURST_MAX,
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
/** @typedef {Record<string, any>} Values taken, by their names in LOAD_OPTIONS; absent: not given */

/** Of every workload whose loads are not fixed by what it measures. */
/** @type {import('../lib/options.js').OptionTable} */
export const LOAD_OPTIONS = Object.freeze({
  ops: counts(1, OPERATIONS_MAX, undefined, {
    value: '<n>',
    help: 'operations per benchmark (50k, 1M); several (50k,500k): each number in turn',
    shown: `${OPERATIONS_DEFAULT}`,
  }),
  duration: duration(undefined, {
    help: 'duration of each benchmark, instead of --ops: 10s, 500ms, 2m',
  }),
  inFlight: counts(1, IN_FLIGHT_MAX, undefined, {
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
    help: 'open loop: most requests in flight; arrivals beyond it are dropped and counted',
    shown: `${MAX_IN_FLIGHT}`,
  }),
  onOutage: choice(['stop', 'continue'], undefined, {
    value: '<what>',
    help: 'open loop, when the server is lost: stop, or continue: connect again and go on',
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
    needsUnit: true,
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
 * @returns {UsualLoads | null} its loads where no option says which; null: its own plan makes them
 */
export function usualLoadsOf(workload) {
  if (typeof workload?.loads === 'function') return workload.loads;
  if (workload?.loads === true) return WINDOW;
  return workload?.plan === undefined && workload?.contenders === undefined ? WINDOW : null;
}

/**
 * @param {readonly (number | undefined)[]} inFlight
 * @returns {LoadOption[]} a window of each
 */
function windowsOf(inFlight) {
  return inFlight.map((k) => ({ kind: 'window', ...(k !== undefined && { inFlight: k }) }));
}

/**
 * @param {Values} values
 * @param {UsualLoads} usual
 * @param {{ sliced: boolean, rounds?: unknown }} how sliced: an amount is not needed; rounds: where
 *   they are given
 * @returns {{ loads?: LoadOption[], findMax?: import('./loads.js').SearchOption }}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function loadsOf(values, usual, { sliced, rounds }) {
  const { search, p99, ramp, rate, load } = values;
  if (search || p99 !== undefined) return { findMax: toSearch({ ...values, rounds }) };
  if (load === 'sync' && values['connections'] !== undefined) {
    throw usageError('--connections: one in flight uses one of them', 'use --load window');
  }
  if (ramp !== undefined) return { loads: shared(toRamp(values), values) };
  if (rate !== undefined || load === 'rate') {
    return { loads: shared(amounts(values).map(toRate), values) };
  }
  for (const [name, flagName] of Object.entries(BELONGS)) {
    if (values[name] !== undefined) {
      throw usageError(`${flagName}: it belongs to an open loop`, 'add --rate 10k, or a --ramp');
    }
  }
  const kinds = load === undefined ? usual(values, { sliced }) : toKind(values, usual);
  return {
    loads: shared(
      amounts(values).flatMap((one) => kinds.map(withAmount(one))),
      values,
    ),
  };
}

/**
 * @param {Values} values
 * @returns {Values[]} one for each number of operations, where there are several
 */
function amounts({ ops, ...values }) {
  return ops === undefined
    ? [values]
    : ops.map((/** @type {number} */ n) => ({ ...values, ops: n }));
}

/** Options of an open loop alone, and their flags. */
const BELONGS = Object.freeze({
  arrivals: '--arrivals',
  maxInFlight: '--max-in-flight',
  onOutage: '--on-outage',
});

/**
 * @param {Values} values
 * @returns {import('./loads.js').SearchOption}
 */
function toSearch({ search, p99, rate, load, ramp, inFlight, ops, rounds, processes, ...given }) {
  refuseBeside('--find-max', { '--connections': given['connections'] });
  if (!search) throw usageError('--p99 requires --find-max', 'add --find-max');
  if (p99 === undefined) throw usageError('--find-max requires a limit', 'add --p99 5ms');
  const { onOutage } = given;
  const others = { '--ramp': ramp, '--in-flight': inFlight, '--on-outage': onOutage };
  refuseBeside('--find-max', { ...others, '--rounds': rounds });
  if (ops !== undefined) {
    throw usageError('--find-max and --ops: its trials last for a time', 'use --duration 3s');
  }
  refuseOtherLoad('--find-max', load);
  if (processes?.length > 1) {
    throw usageError('--find-max and --processes: one number', 'write for example --processes 2');
  }
  return {
    percentile: 0.99,
    limitMs: p99,
    start: rate,
    durationMs: given['duration'],
    arrivals: given['arrivals'],
    maxInFlight: given['maxInFlight'],
    ...(processes && { processes: processes[0] }),
  };
}

/**
 * @param {Values} values
 * @returns {LoadOption[]}
 */
function toRamp({ ramp, rate, load, inFlight, ...given }) {
  refuseBeside('--ramp', { '--rate': rate, '--in-flight': inFlight });
  refuseOtherLoad('--ramp', load);
  return amounts(given).flatMap((one) =>
    ramp.map((/** @type {number} */ step) => toRate({ ...one, rate: step })),
  );
}

/**
 * @param {Values} values
 * @returns {LoadOption}
 */
function toRate({ rate, load, inFlight, ops, duration: durationMs, ...given }) {
  if (rate === undefined) {
    throw usageError('--load rate: how many a second?', 'add --rate 10k, or use --ramp');
  }
  refuseOtherLoad('--rate', load);
  if (inFlight !== undefined) {
    throw usageError(
      '--in-flight cannot be used with an open loop',
      'use --max-in-flight, or omit --rate',
    );
  }
  const { arrivals, maxInFlight, onOutage } = given;
  return { kind: 'rate', rate, arrivals, maxInFlight, onOutage, operations: ops, durationMs };
}

/**
 * @param {Values} values
 * @param {UsualLoads} usual gives a burst its default amount
 * @returns {LoadOption[]}
 */
function toKind({ load, inFlight, ...given }, usual) {
  if (load === 'window') return windowsOf(inFlight ?? [undefined]);
  if (inFlight !== undefined) {
    throw usageError(`--in-flight: it belongs to a window, not to ${load}`, 'use --load window');
  }
  const alike = usual(given, { sliced: false }).find(({ kind }) => kind === load);
  return [load === 'burst' && alike !== undefined ? alike : { kind: load }];
}

/**
 * @param {Values} values
 * @returns {(load: LoadOption) => LoadOption} as long as --ops and --duration say
 */
function withAmount({ ops, duration: durationMs }) {
  return (load) => {
    if (load.kind === 'burst') requireBurst(ops, durationMs);
    if (ops === undefined && durationMs === undefined) return load;
    return { ...load, operations: ops, durationMs };
  };
}

/**
 * @param {number | undefined} ops
 * @param {number | undefined} durationMs
 */
function requireBurst(ops, durationMs) {
  if (durationMs !== undefined) {
    throw usageError(
      '--duration cannot be used with a burst, which has a fixed number of requests',
      'add --in-flight 100 for a window, or use --ops',
    );
  }
  if (ops !== undefined && ops > BURST_MAX) {
    throw usageError(
      `--ops ${ops}: a burst has at most ${BURST_MAX} requests`,
      'add --in-flight 100 for a window',
    );
  }
}

/**
 * @param {LoadOption[]} loads
 * @param {Values} values
 * @returns {LoadOption[]} each shared by each number of processes, on each number of connections
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
 * @param {string} flagName
 * @param {Record<string, unknown>} others by flag
 */
function refuseBeside(flagName, others) {
  for (const [other, value] of Object.entries(others)) {
    if (value !== undefined) throw usageError(`${flagName} and ${other} do not go together`);
  }
}

/**
 * @param {string} flagName
 * @param {string | undefined} load
 */
function refuseOtherLoad(flagName, load) {
  if (load === undefined || load === 'rate') return;
  throw usageError(`${flagName} is an open loop, --load ${load} is not`, 'leave out one of them');
}
