/**
 * Options of every run, and the option table of a workload: these, the options of loads and of
 * slices that it supports, with the workload's defaults, and its own.
 */

import { DATASET_DEFAULTS } from '../lib/dataset.js';
import { usageError } from '../lib/errors.js';
import { choice, count, duration, flag, names, reading, text, texts } from '../lib/options.js';
import { readValueSize, readValueSizes } from '../lib/value-sizes.js';
import { LOAD_OPTIONS, usualLoadsOf } from './load-options.js';

/** @typedef {import('../lib/options.js').OptionTable} OptionTable */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/** @type {OptionTable} */
export const RUN_OPTIONS = Object.freeze({
  storages: names(undefined, {
    help: 'storages: name, name:profile, name:all, all, ./file.js',
    shown: 'all available except alternatives',
    hint: 'npx dragstrip list shows the names',
  }),
  servers: names(undefined, {
    help: 'race these servers with the same drivers: redis,valkey; new=redis@host:port',
    hint: 'write for example --servers redis,valkey',
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
  valueSize: reading(readValueSize, {
    value: '<n>',
    default: DATASET_DEFAULTS.valueSize,
    help: 'characters per value; or a distribution: uniform:16-1k, zipf:16-64k, hist:FILE',
  }),
  seed: count(0, 2 ** 32 - 1, DATASET_DEFAULTS.seed, { help: 'seed of rows, keys and order' }),
  pin: flag({
    help: 'pin client and server (if started by Dragstrip) to separate processors (taskset)',
  }),
  tls: choice(['off', 'on', 'both'], 'off', {
    help: 'off: by the addresses; on: TLS only; both: race each driver with and without it',
  }),
  against: texts({
    value: '<driver>',
    help: 'race another driver version (repeatable): ioredis@5, ioredis@4,5, ./my-fork, fork.tgz',
  }),
  runtimes: names(undefined, {
    flag: 'runtime',
    help: 'race each storage also under these: node@20,node@24,bun,deno',
  }),
  failIf: texts({
    value: '<gate>',
    help: 'exit with status 6 if shown (repeatable): "throughput<0.95", "writes>2", "p99>5ms"',
  }),
  reference: text({
    value: '<driver>',
    help: 'baseline driver of the ratios in --fail-if, one of --against',
    shown: 'the installed driver',
  }),
  allowTargets: texts({
    flag: 'allow-target',
    value: '<host:port>',
    help: 'allow a server on another machine; may be repeated',
  }),
});

/** Options of workloads whose loads can be swept, on shared rows. */
const ROWS_OF_SIZES = Object.freeze({
  valueSize: reading(readValueSizes, {
    value: '<n>',
    default: [DATASET_DEFAULTS.valueSize],
    help:
      'characters per value; several (16,1k,64k): each in turn, in rows made for the run; ' +
      'a distribution: uniform:16-1k, zipf:16-64k, hist:FILE',
  }),
  rows: {
    ...RUN_OPTIONS['rows'],
    shown: `${DATASET_DEFAULTS.rows}; with several value sizes as many as take 128 MiB`,
  },
});

/**
 * @param {any} given `3%`, `0.5 %`; or a share
 * @param {string} label
 * @returns {number} the value as a share
 */
function readPercent(given, label) {
  const match = /^(\d+(?:\.\d+)?)\s*%$/.exec(String(given).trim());
  const share = match === null ? given : Number(match[1]) / 100;
  if (typeof share === 'number' && share > 0 && share <= 1) return share;
  throw usageError(
    `${label} ${JSON.stringify(given)}: not a percentage above 0% and up to 100%`,
    `write for example ${label} 3%`,
  );
}

/** Options of workloads that can be measured in blocks, see schedule/blocks.js. */
export const SLICE_OPTIONS = Object.freeze({
  precision: reading(readPercent, {
    value: '<percent>',
    help: 'measure until the ratios to the fastest are known to ± this',
  }),
  budget: duration(undefined, { help: 'stop after this time at the latest' }),
  anyway: flag({
    help: 'do not wait for idle processors',
  }),
  placement: choice(['auto', 'one-cpu', 'two-cpus', 'free'], 'auto', {
    help: 'processors of client and server; auto: one for sync, separate ones for a window',
  }),
});

/**
 * @param {Partial<WorkloadDefinition> | null} workload
 * @param {{ all?: boolean }} [how] all: include options without effect in this workload
 * @returns {OptionTable}
 */
export function optionsOf(workload, { all = true } = {}) {
  const { shared = {}, options = {}, slices = false } = workload ?? {};
  const takesLoads = workload !== null && usualLoadsOf(workload) !== null;
  const takesSizes = takesLoads && workload.namespace === undefined;
  const common = {
    ...(takesLoads && LOAD_OPTIONS),
    ...(slices && SLICE_OPTIONS),
    ...RUN_OPTIONS,
    ...(takesSizes && ROWS_OF_SIZES),
  };
  const offered = Object.entries(common).flatMap(([name, option]) => {
    const own = shared[name];
    if (Object.hasOwn(options, name)) return [];
    if (own === null) return all ? [[name, option]] : [];
    const more = own === undefined || isPartial(own) ? own : { default: own };
    return [[name, { ...option, ...(own !== undefined && { shown: undefined }), ...more }]];
  });
  return Object.freeze({ ...options, ...Object.fromEntries(offered) });
}

/**
 * @param {unknown} own
 * @returns {own is Partial<import('../lib/options.js').Option>}
 */
function isPartial(own) {
  return typeof own === 'object' && own !== null && !Array.isArray(own);
}
