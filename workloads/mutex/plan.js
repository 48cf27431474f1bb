/** Plans of `dragstrip mutex` and `mutex stress`: options, variants and loads. */

import { usageError } from '../../lib/errors.js';
import { choices, count, counts, duration, names, seconds } from '../../lib/options.js';

/** @typedef {import('../../lib/types.js').WorkloadPlan} WorkloadPlan */
/** @typedef {NonNullable<WorkloadPlan['variants']>[number]} Variant */

const HANDLERS = Object.freeze([
  ...['script', 'pure', 'redlock', 'redis-semaphore', 'get-lock', 'fiber'],
]);
export const WHO_HAS_WHAT =
  'script and pure use ioredis and redis, redlock and redis-semaphore ioredis, get-lock ' +
  'mysql2, fiber tarantool; a cluster has no pure';
/** Tasks of each test. */
const TASKS = Object.freeze({ lock: 10, count: 100, killed: 10, stress: 1 });
const KILLED_EXPIRY_MS = 1000;
const BLOCK_MS_MIN = 2000;
const TESTS = Object.freeze({ 1: 'lock', 2: 'count', killed: 'killed' });
/** An option of the three tests, or of stress. */
const USUAL = Object.freeze({ tests: [''] });
const STRESS = Object.freeze({ tests: ['stress'] });

export const tests = Object.freeze({
  '': 'Test 1 (lock, unlock), Test 2 (a counted section), crash recovery',
  stress: 'processes that check mutual exclusion, and one verdict',
});

/** @type {import('../../lib/options.js').OptionTable} */
export const options = Object.freeze({
  handlers: names(HANDLERS, {
    help: `lock implementations: ${HANDLERS.join(', ')}, or all of a ./file.js`,
    shown: 'all; stress: script',
    defaultOf: { stress: ['script'] },
  }),
  tests: choices(TESTS, Object.values(TESTS), {
    ...USUAL,
    help: 'tests: 1 (lock and unlock), 2 (a counted section), killed (crash recovery)',
    shown: Object.keys(TESTS).join(','),
  }),
  keys: counts(1, 100, [1, 2, 3, 5, 10], {
    flag: 'lock-keys',
    also: ['-k', '--keys'],
    help: 'keys per lock, the n of n/m; stress: keys per process',
    defaultOf: { stress: [5] },
  }),
  ops: count(1, 1e7, 1000, { ...USUAL, help: 'Test 1: critical sections' }),
  inFlight: count(1, 10_000, undefined, {
    also: ['--tasks'],
    help: 'concurrent tasks; stress: per process',
    shown: `${TASKS.lock}; Test 2: ${TASKS.count}; stress: ${TASKS.stress}`,
  }),
  duration: duration(5000, { ...USUAL, help: 'Test 2: duration' }),
  kills: count(0, 10_000, 3, {
    help: 'killed: lock holders killed per round; stress: additional processes, killed at random',
    defaultOf: { stress: 0 },
  }),
  expiry: duration(undefined, {
    help: 'expiry of a lock',
    shown: `30s; killed: ${KILLED_EXPIRY_MS / 1000}s; stress: 2 sleeps + 1s`,
  }),
  retry: duration(undefined, {
    help: 'redlock, redis-semaphore: interval between attempts',
    shown: 'their defaults: 200ms, 10ms',
  }),
  processes: count(1, 1000, 30, {
    ...STRESS,
    also: ['-f', '--forks'],
    help: 'number of processes',
  }),
  tries: count(1, 1e6, 10, { ...STRESS, also: ['-t'], help: 'attempts per key and process' }),
  sleep: seconds(2000, { ...STRESS, also: ['-s'], help: 'how long a process holds each key' }),
  repeat: count(1, 1e7, 1, { ...STRESS, help: 'passes of a process over all keys' }),
  block: duration(undefined, {
    ...STRESS,
    help: 'timeout of an attempt',
    shown: `4 sleeps, at least ${BLOCK_MS_MIN / 1000}s`,
  }),
});

export const shared = Object.freeze({
  storages: {
    shown: 'all available; stress: ioredis',
    defaultOf: { stress: ['ioredis'] },
  },
  warmupOperations: { default: 100, defaultOf: { stress: 0 } },
  timeoutMs: {
    default: 60_000,
    defaultOf: { stress: undefined },
    shown: '1m; stress: the sum of all possible waits',
  },
  rows: null,
  valueSize: null,
  against: null,
});

/** @param {string} handler @returns {boolean} whether it is a user's storage with its own locks */
const isFile = (handler) => /[/\\]|\.[cm]?js$/.test(handler);

/** @type {NonNullable<import('../../lib/types.js').WorkloadDefinition['filesIn']>} */
export const filesIn = ({ handlers }) => handlers.filter(isFile);

/**
 * @param {Record<string, any>} options
 * @param {import('../../lib/types.js').PlanContext} context
 * @returns {WorkloadPlan}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function plan(options, { test, storages: chosen }) {
  const { storages } = options;
  const locksOf = (/** @type {string} */ text) =>
    Object.keys(chosen.find((one) => one.text === text)?.definition?.locks ?? {});
  const known = [...HANDLERS, ...chosen.flatMap(({ text }) => locksOf(text))];
  const handlers = options['handlers'].flatMap((/** @type {string} */ one) =>
    isFile(one) ? locksOf(one) : one,
  );
  const unknown = handlers.find((/** @type {string} */ one) => !known.includes(one));
  if (unknown !== undefined) {
    throw usageError(`--handlers ${unknown}: unknown lock implementation`, WHO_HAS_WHAT);
  }
  const planOptions = { ...options, handlers: [...new Set(handlers)] };
  const testPlan =
    test === 'stress' ? planStress(planOptions) : { variants: variantsOf(planOptions) };
  const files = filesIn(options);
  if (files.length === 0) return testPlan;
  const empty = files.find((one) => locksOf(one).length === 0);
  if (empty !== undefined) {
    throw usageError(
      `--handlers ${empty}: a storage without locks`,
      'docs/adding.md describes them',
    );
  }
  const others = options['handlers'].filter((/** @type {string} */ one) => !isFile(one));
  if (storages === undefined && others.length > 0) {
    throw usageError(`--handlers ${others} needs storages`, 'write for example --storages ioredis');
  }
  // The default storage of stress does not apply to locks of a file.
  const having = (storages ?? []).filter((/** @type {string} */ one) =>
    locksOf(one).some((name) => planOptions.handlers.includes(name)),
  );
  return { ...testPlan, shared: { ...testPlan.shared, storages: [...having, ...files] } };
}

/**
 * @param {Record<string, any>} planOptions
 * @returns {Variant[]}
 */
function variantsOf(planOptions) {
  const {
    handlers,
    keys,
    tests: wanted,
    duration: durationMs,
    ops,
    kills,
    expiry,
    retry,
  } = planOptions;
  const tasks = (/** @type {keyof typeof TASKS} */ test) => planOptions['inFlight'] ?? TASKS[test];
  const sections =
    (/** @type {'lock' | 'count'} */ test, /** @type {object} */ length) =>
    /** @param {string} handler */
    (handler) =>
      keys.map((/** @type {number} */ n) => ({
        parameters: parametersOf({ test, handler, keys: n, expireMs: expiry, retry }),
        loads: [{ kind: 'window', inFlight: tasks(test), ...length }],
      }));
  /** @type {Record<string, (handler: string) => Variant[]>} */
  const make = {
    lock: sections('lock', { operations: ops }),
    count: sections('count', { durationMs }),
    killed: (handler) => {
      if (kills === 0) throw usageError('--kills 0: must be 1 or more', 'write --tests 1,2');
      const own = { tasks: tasks('killed'), expireMs: expiry ?? KILLED_EXPIRY_MS, retry };
      const parameters = parametersOf({ test: 'killed', handler, keys: 1, ...own });
      return [{ parameters, loads: [{ kind: 'sync', operations: kills }] }];
    },
  };
  return wanted.flatMap((/** @type {string} */ test) =>
    handlers.flatMap((/** @type {string} */ handler) => make[test](handler)),
  );
}

/**
 * @param {Record<string, any>} planOptions
 * @returns {WorkloadPlan}
 */
function planStress(planOptions) {
  const { processes, tries, sleep, keys, repeat, kills, handlers, retry, timeoutMs } = planOptions;
  const { expiry = 2 * sleep + 1000, block = Math.max(BLOCK_MS_MIN, 4 * sleep) } = planOptions;
  const { inFlight: tasks = TASKS.stress } = planOptions;
  if (keys.length > 1)
    throw usageError('--lock-keys: stress accepts one number', 'such as --lock-keys 5');
  if (expiry <= sleep) {
    throw usageError(
      `--expiry ${expiry}ms: shorter than the ${sleep} ms for which a lock is held`,
      'make it longer than --sleep',
    );
  }
  const parametersOfTest = {
    keys: keys[0],
    tries,
    repeat,
    tasks,
    kill: kills,
    holdMs: sleep,
    blockMs: block,
  };
  const variants = handlers.map((/** @type {string} */ handler) => ({
    parameters: parametersOf({
      test: 'stress',
      handler,
      expireMs: expiry,
      retry,
      ...parametersOfTest,
    }),
    loads: [{ kind: 'window', inFlight: processes, operations: processes }],
  }));
  // Every process may wait for every other at every key, so late replies are expected.
  const patienceMs = Math.min(86_400_000, 120_000 + tries * block * keys[0] * repeat);
  return { variants, shared: { timeoutMs: timeoutMs ?? patienceMs } };
}

/**
 * @param {Record<string, any>} given
 * @returns {import('../../lib/types.js').Parameters} without undefined properties
 */
function parametersOf({ retry, ...given }) {
  const polls = given['handler'] === 'redlock' || given['handler'] === 'redis-semaphore';
  const all = Object.entries({ ...given, retryMs: polls ? retry : undefined });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}
