/**
 * The options that every run has, and the table of a workload: these with the defaults that the
 * workload gives them, and its own.
 */

import { DATASET_DEFAULTS } from '../lib/dataset.js';
import { count, duration, flag, names, texts } from '../lib/options.js';

/** @typedef {import('../lib/options.js').OptionTable} OptionTable */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/** @type {OptionTable} */
export const RUN_OPTIONS = Object.freeze({
  storages: names(undefined, {
    help: 'storages: name, name:profile, name:all, all, ./file.js, with commas between',
    shown: 'all that can run, with their default profile',
  }),
  rounds: count(1, 1000, 1, {
    help: 'repetitions of each benchmark, each in a fresh process',
  }),
  warmupOperations: count(0, 1e9, 5000, {
    flag: 'warmup',
    help: 'operations before the clock starts, not counted',
  }),
  timeoutMs: duration(10_000, {
    flag: 'timeout',
    help: 'fail all outstanding requests after this long without a reply',
  }),
  rows: count(1, 2 ** 30 - 1, DATASET_DEFAULTS.rows, { help: 'rows of the dataset' }),
  valueSize: count(8, 2 ** 24, DATASET_DEFAULTS.valueSize, { help: 'characters of a value' }),
  seed: count(0, 2 ** 32 - 1, DATASET_DEFAULTS.seed, { help: 'seed of rows, keys and order' }),
  pin: flag({
    help: 'keep client and server (if Dragstrip started it) on processors of their own (taskset)',
  }),
  against: texts({
    value: '<package@version>',
    help: 'race another version of a driver, such as ioredis@5, beside the installed one',
  }),
  allowTargets: texts({
    flag: 'allow-target',
    value: '<host:port>',
    help: 'allow a server on another machine; may be repeated',
  }),
});

/**
 * @param {Pick<WorkloadDefinition, 'options' | 'shared'> | null} workload
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
  return Object.freeze({ ...options, ...Object.fromEntries(common) });
}

/**
 * @param {unknown} own
 * @returns {own is Partial<import('../lib/options.js').Option>}
 */
function isPartial(own) {
  return typeof own === 'object' && own !== null && !Array.isArray(own);
}
