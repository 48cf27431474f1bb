/** What `dragstrip mutex` and `mutex stress` measure, and what they say of it. */

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
    help: `lock implementations: ${HANDLERS.join(', ')}, or a file`,
    shown: 'all; stress: script',
    defaultOf: { stress: ['script'] },
  }),
  tests: choices(TESTS, Object.values(TESTS), {
    ...USUAL,
    help: '1 (lock/unlock), 2 (a counted section), killed (crash recovery)',
    shown: Object.keys(TESTS).join(','),
  }),
  keys: counts(1, 100, [1, 2, 3, 5, 10], {
    also: ['-k'],
    help: 'names per lock, the n of n/m; stress: keys per process',
    defaultOf: { stress: [5] },
  }),
  ops: count(1, 1e7, 1000, { ...USUAL, help: 'Test 1: critical sections' }),
  inFlight: count(1, 10_000, undefined, {
    also: ['--tasks'],
    help: 'concurrent tasks; stress: per process',
    shown: `${TASKS.lock}; Test 2: ${TASKS.count}; stress: ${TASKS.stress}`,
  }),
  duration: duration(5000, { ...USUAL, help: 'Test 2: duration' }),
  kills: count(1, 1000, 3, { ...USUAL, help: 'killed: holders killed per round' }),
  expiry: duration(undefined, {
    help: 'expiry of a lock',
    shown: `30s; killed: ${KILLED_EXPIRY_MS / 1000}s; stress: 2 sleeps + 1s`,
  }),
  retry: duration(undefined, {
    help: 'redlock, redis-semaphore: interval between attempts',
    shown: 'their defaults: 200ms, 10ms',
  }),
  processes: count(1, 1000, 30, { ...STRESS, also: ['-f', '--forks'], help: 'how many' }),
  tries: count(1, 1e6, 10, { ...STRESS, also: ['-t'], help: 'attempts per key and process' }),
  sleep: seconds(2000, { ...STRESS, also: ['-s'], help: 'how long a process holds each key' }),
  repeat: count(1, 1e7, 1, { ...STRESS, help: 'passes of a process over all keys' }),
  kill: count(0, 10_000, 0, { ...STRESS, help: 'additional processes, killed at random' }),
  block: duration(undefined, {
    ...STRESS,
    help: 'timeout of an attempt',
    shown: `4 sleeps, at least ${BLOCK_MS_MIN / 1000}s`,
  }),
});

export const shared = Object.freeze({
  storages: {
    help: 'drivers: ioredis, redis, mysql2, tarantool, name:profile, ./file.js, comma-separated',
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

/**
 * @param {Record<string, any>} given
 * @param {import('../../lib/types.js').PlanContext} context
 * @returns {WorkloadPlan}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function plan(given, { test }) {
  const { handlers, storages } = given;
  const unknown = handlers.find((/** @type {string} */ one) => !HANDLERS.includes(one));
  const isOfFile = storages?.some((/** @type {string} */ one) => one.includes('/'));
  if (unknown !== undefined && !isOfFile) {
    throw usageError(`--handlers ${unknown}: there is none of that name`, WHO_HAS_WHAT);
  }
  return test === 'stress' ? planStress(given) : { variants: variantsOf(given) };
}

/**
 * @param {Record<string, any>} given
 * @returns {Variant[]}
 */
function variantsOf(given) {
  const { handlers, keys, tests: wanted, duration: durationMs, ops, kills, expiry, retry } = given;
  const tasks = (/** @type {keyof typeof TASKS} */ test) => given['inFlight'] ?? TASKS[test];
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
 * @param {Record<string, any>} given
 * @returns {WorkloadPlan}
 */
function planStress(given) {
  const { processes, tries, sleep, keys, repeat, kill, handlers, retry, timeoutMs } = given;
  const { expiry = 2 * sleep + 1000, block = Math.max(BLOCK_MS_MIN, 4 * sleep) } = given;
  const { inFlight: tasks = TASKS.stress } = given;
  if (keys.length > 1) throw usageError('--keys: stress takes one number', 'such as --keys 5');
  if (expiry <= sleep) {
    throw usageError(
      `--expiry ${expiry}ms: shorter than the ${sleep} ms for which a lock is held`,
      'make it longer than --sleep',
    );
  }
  const own = { keys: keys[0], tries, repeat, tasks, kill, holdMs: sleep, blockMs: block };
  const variants = handlers.map((/** @type {string} */ handler) => ({
    parameters: parametersOf({ test: 'stress', handler, expireMs: expiry, retry, ...own }),
    loads: [{ kind: 'window', inFlight: processes, operations: processes }],
  }));
  // Every process could wait for every other at every key; no reply before is no fault.
  const patienceMs = Math.min(86_400_000, 120_000 + tries * block * keys[0] * repeat);
  return { variants, shared: { timeoutMs: timeoutMs ?? patienceMs } };
}

/**
 * @param {Record<string, any>} given
 * @returns {import('../../lib/types.js').Parameters} without what is not said
 */
function parametersOf({ retry, ...given }) {
  const polls = given['handler'] === 'redlock' || given['handler'] === 'redis-semaphore';
  const all = Object.entries({ ...given, retryMs: polls ? retry : undefined });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}
