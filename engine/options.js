/**
 * The options that every run has, those of a load, and the table of a workload: the first with the
 * defaults that the workload gives them, and its own.
 */

import { DATASET_DEFAULTS } from '../lib/dataset.js';
import { usageError } from '../lib/errors.js';
import { choice, count, counts, duration, flag, names, reading, texts } from '../lib/options.js';
import { MAX_IN_FLIGHT } from '../load/rate.js';
import { IN_FLIGHT_MAX, OPERATIONS_DEFAULT, OPERATIONS_MAX, PROCESSES_MAX } from './load-bounds.js';
import { parseRamp, parseRate } from './rates.js';

/** @typedef {import('../lib/options.js').OptionTable} OptionTable */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/** @type {OptionTable} */
export const RUN_OPTIONS = Object.freeze({
  storages: names(undefined, {
    help: 'storages: name, name:profile, name:all, all, ./file.js, comma-separated',
    shown: 'available ones but alternatives (see list)',
    hint: 'npx dragstrip list shows the names',
  }),
  rounds: count(1, 1000, 1, {
    help: 'repetitions of each benchmark, each in a fresh process',
  }),
  warmupOperations: count(0, 1e9, 5000, {
    flag: 'warmup',
    help: 'warm-up operations, not counted',
  }),
  timeoutMs: duration(10_000, {
    flag: 'timeout',
    help: 'fail all outstanding requests after this long without a reply',
  }),
  rows: count(1, 2 ** 30 - 1, DATASET_DEFAULTS.rows, { help: 'rows of the dataset' }),
  valueSize: count(8, 2 ** 24, DATASET_DEFAULTS.valueSize, { help: 'characters per value' }),
  seed: count(0, 2 ** 32 - 1, DATASET_DEFAULTS.seed, { help: 'seed of rows, keys and order' }),
  pin: flag({
    help: 'pin client and server (if started by Dragstrip) to separate processors (taskset)',
  }),
  against: texts({
    value: '<driver>',
    help: 'race a driver beside the installed one: ioredis@5, ioredis@4,5, ./my-fork, fork.tgz; repeatable',
  }),
  allowTargets: texts({
    flag: 'allow-target',
    value: '<host:port>',
    help: 'allow a server on another machine; may be repeated',
  }),
});

/** Loads where the workload has none of its own; engine/loads.js makes loads of them. */
/** @type {OptionTable} */
export const LOAD_OPTIONS = Object.freeze({
  ops: count(1, OPERATIONS_MAX, undefined, {
    help: 'operations per benchmark; suffixes k and M are accepted (50k, 1M)',
    shown: `${OPERATIONS_DEFAULT}`,
  }),
  duration: duration(undefined, {
    help: 'duration of each benchmark, instead of --ops: 10s, 500ms, 2m',
  }),
  inFlight: count(1, IN_FLIGHT_MAX, undefined, {
    value: '<k>',
    help: 'keep k requests in flight instead of sending all at once',
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
  ramp: reading(parseRamp, {
    value: '<from:to:step>',
    help: 'open loop at each of these rates: 1k:10k:1k, or a list: 1k,2k,5k',
  }),
  findMax: flag({
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

/**
 * @param {any} given `3%`, `0.5 %`; or a share
 * @param {string} label
 * @returns {number} as a share
 */
function readPercent(given, label) {
  const match = /^(\d+(?:\.\d+)?)\s*%$/.exec(String(given).trim());
  const share = match === null ? given : Number(match[1]) / 100;
  if (typeof share === 'number' && share > 0 && share <= 1) return share;
  throw usageError(`${label} ${JSON.stringify(given)}: not a percentage`, `write ${label} 3%`);
}

/** Of workloads that can be measured by short slices in turn, see engine/slices. */
export const SLICE_OPTIONS = Object.freeze({
  precision: reading(readPercent, {
    value: '<percent>',
    help: 'measure until the ratios to the fastest are known to ± this',
  }),
  budget: duration(undefined, { help: 'with --precision: stop after this time at the latest' }),
  placement: choice(['auto', 'one-cpu', 'two-cpus', 'free'], 'auto', {
    help: 'processors of client and server; auto: one for sync, separate ones for a window',
  }),
});

/**
 * @param {Pick<WorkloadDefinition, 'options' | 'shared' | 'slices'> | null} workload
 * @param {{ all?: boolean }} [how] all: also those of every run that the workload has no use for
 * @returns {OptionTable}
 */
export function optionsOf(workload, { all = true } = {}) {
  const { shared = {}, options = {} } = workload ?? {};
  const common = Object.entries(RUN_OPTIONS).flatMap(([name, option]) => {
    const own = shared[name];
    if (own === null) return all ? [[name, option]] : [];
    const more = own === undefined || isPartial(own) ? own : { default: own };
    return [[name, { ...option, ...(own !== undefined && { shown: undefined }), ...more }]];
  });
  return Object.freeze({
    ...options,
    ...(workload?.slices && SLICE_OPTIONS),
    ...Object.fromEntries(common),
  });
}

/**
 * @param {unknown} own
 * @returns {own is Partial<import('../lib/options.js').Option>}
 */
function isPartial(own) {
  return typeof own === 'object' && own !== null && !Array.isArray(own);
}
