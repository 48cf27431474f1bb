/**
 * `dragstrip mutex`: Test 1 and Test 2 in the seed's lines for every kind of lock, then waits,
 * fairness and a holder that is killed. `dragstrip mutex stress`: processes, and one verdict.
 */

import { usageError } from '../../lib/errors.js';
import { stressVerdict } from '../../report/analysis/mutex.js';
import { seedLines } from '../../report/mutex.js';
import { conductRun, tablesFor } from '../conduct.js';
import { HANDLERS } from '../mutex-options.js';
import { addressesOf } from '../options.js';
import { dropUndefined } from '../setup.js';
import { statusOf } from '../status.js';

/** @typedef {import('../../index.js').RunOptions} RunOptions */
/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {NonNullable<RunOptions['variants']>[number]} Variant */

const KEYS = Object.freeze([1, 2, 3, 5, 10]);
const TESTS = Object.freeze(['lock', 'count', 'killed']);
const WARMUP = 100;
const WHO_HAS_WHAT =
  'script and pure are on ioredis and redis, redlock and redis-semaphore on ioredis, get-lock on ' +
  'mysql2, fiber on tarantool';
/** Options of one of the two, and their flags. */
const BELONGS = Object.freeze({
  tests: { tests: '--tests', ops: '--ops', duration: '--duration', kills: '--kills' },
  stress: {
    forks: '--forks',
    tries: '--tries',
    sleep: '--sleep',
    repeat: '--repeat',
    kill: '--kill',
    block: '--block',
  },
});

/**
 * @param {import('../main.js').CommandContext} context
 * @returns {Promise<number>} exit status
 */
export async function execute({ args: [action], options, stdout, stderr }) {
  const stress = action === 'stress';
  if (action !== undefined && !stress) {
    throw usageError(`mutex ${JSON.stringify(action)}: not known`, 'mutex, or mutex stress');
  }
  const runOptions = stress ? toStressOptions(options) : toMutexOptions(options);
  return conductRun(
    { options, stdout, stderr },
    {
      begin: () => runOptions,
      show:
        ({ progress }) =>
        (event) => {
          if (event.type === 'waiting') progress.update(`waiting for ${event.what}`);
          if (event.type === 'progress') progress.update(event.cell.id);
        },
      tell: (result) => tell(result, { stress, quiet: options.quiet, stdout }),
      draw: drawPlot,
      judge: (result) => statusAfter(result, stress),
    },
  );
}

/**
 * @param {Result} result
 * @param {{ stress: boolean, quiet: boolean, stdout: NodeJS.WriteStream }} how
 */
async function tell(result, { stress, quiet, stdout }) {
  if (result.cells.length === 0) {
    throw usageError('none of these storages has any of these locks', WHO_HAS_WHAT);
  }
  if (!stress) {
    for (const test of /** @type {const} */ (['lock', 'count'])) {
      const lines = seedLines(result, test);
      if (lines.length > 0) stdout.write(`${lines.join('\n')}\n\n`);
    }
  }
  if (!quiet) {
    stdout.write(await tablesFor(result, stdout));
  }
  if (stress) stdout.write(`${quiet ? '' : '\n'}verdict: ${stressVerdict(result).text}\n`);
}

/** @param {Result} result */
async function drawPlot(result) {
  const { mutexPicture } = await import('../../report/mutex-plot.js');
  return mutexPicture(result);
}

/**
 * @param {Record<string, any>} options parsed
 * @returns {RunOptions}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function toMutexOptions(options) {
  requireOptionsOf('tests', options);
  const { handlers = HANDLERS, keys = KEYS, tests = TESTS, duration = 5000 } = options;
  const { ops = 1000, tasks, kills = 3, expiry, retry } = options;
  /** @type {Record<string, (handler: string) => Variant[]>} */
  const make = {
    lock: (handler) =>
      keys.map((/** @type {number} */ n) => ({
        parameters: parametersOf({ test: 'lock', handler, keys: n, expireMs: expiry, retry }),
        loads: [{ kind: 'window', inFlight: tasks ?? 10, operations: ops }],
      })),
    count: (handler) =>
      keys.map((/** @type {number} */ n) => ({
        parameters: parametersOf({ test: 'count', handler, keys: n, expireMs: expiry, retry }),
        loads: [{ kind: 'window', inFlight: tasks ?? 100, durationMs: duration }],
      })),
    killed: (handler) => {
      const own = { tasks: tasks ?? 10, expireMs: expiry ?? 1000, retry };
      const parameters = parametersOf({ test: 'killed', handler, keys: 1, ...own });
      return [{ parameters, loads: [{ kind: 'sync', operations: kills }] }];
    },
  };
  const variants = tests.flatMap((/** @type {string} */ test) =>
    handlers.flatMap((/** @type {string} */ handler) => make[test](handler)),
  );
  return commonOptions(options, { command: 'mutex', variants, warmup: WARMUP, timeoutMs: 60_000 });
}

/**
 * @param {Record<string, any>} options parsed
 * @returns {RunOptions}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function toStressOptions(options) {
  requireOptionsOf('stress', options);
  const { forks = 30, tries = 10, sleep = 2000, keys = [5], repeat = 1, kill = 0 } = options;
  const { tasks = 1, handlers = ['script'], storages, storage, retry } = options;
  const { expiry = 2 * sleep + 1000, block = Math.max(2000, 4 * sleep) } = options;
  if (keys.length > 1) throw usageError('--keys: stress takes one number', 'such as --keys 5');
  if (expiry <= sleep) {
    throw usageError(
      `--expiry ${expiry}ms: a lock that ends before the ${sleep} ms it is held locks nothing`,
      'make it longer than --sleep',
    );
  }
  const own = { keys: keys[0], tries, repeat, tasks, kill, holdMs: sleep, blockMs: block };
  const variants = handlers.map((/** @type {string} */ handler) => ({
    parameters: parametersOf({ test: 'stress', handler, expireMs: expiry, retry, ...own }),
    loads: [{ kind: 'window', inFlight: forks, operations: forks }],
  }));
  // Every process could wait for every other at every key; no reply before is no fault.
  const patienceMs = Math.min(86_400_000, 120_000 + tries * block * keys[0] * repeat);
  return commonOptions(
    {
      ...options,
      ...(storages === undefined && storage === undefined && { storages: ['ioredis'] }),
    },
    { command: 'mutex-stress', variants, warmup: 0, timeoutMs: patienceMs },
  );
}

/**
 * @param {Record<string, any>} given
 * @returns {Record<string, string | number | boolean>} without what is not said
 */
function parametersOf({ retry, ...given }) {
  const { handler } = given;
  const polls = handler === 'redlock' || handler === 'redis-semaphore';
  return /** @type {any} */ (dropUndefined({ ...given, retryMs: polls ? retry : undefined }));
}

/**
 * @param {Record<string, any>} options
 * @param {{ command: string, variants: Variant[], warmup: number, timeoutMs: number }} own
 * @returns {RunOptions}
 */
function commonOptions(options, { command, variants, warmup, timeoutMs }) {
  const { storages: listed, storage = [], handlers = [] } = options;
  const named =
    listed === undefined && storage.length === 0 ? undefined : [...(listed ?? []), ...storage];
  const unknown = handlers.find((/** @type {string} */ one) => !HANDLERS.includes(one));
  if (unknown !== undefined && !named?.some((one) => one.includes('/'))) {
    throw usageError(`--handlers ${unknown}: there is none of that name`, WHO_HAS_WHAT);
  }
  return /** @type {RunOptions} */ (
    dropUndefined({
      command,
      workload: 'mutex',
      storages: named,
      variants,
      rounds: options.rounds ?? 1,
      warmupOperations: options.warmup ?? warmup,
      timeoutMs: options.timeout ?? timeoutMs,
      seed: options.seed,
      addresses: addressesOf(options),
      allowTargets: options.allowTarget,
    })
  );
}

/**
 * @param {'tests' | 'stress'} wanted
 * @param {Record<string, any>} options
 */
function requireOptionsOf(wanted, options) {
  for (const [owner, flags] of Object.entries(BELONGS)) {
    if (owner === wanted) continue;
    for (const [name, flag] of Object.entries(flags)) {
      if (options[name] === undefined) continue;
      const command = owner === 'stress' ? 'mutex stress' : 'mutex';
      throw usageError(`${flag}: it belongs to ${command}`, 'leave it out');
    }
  }
}

/**
 * @param {Result} result
 * @param {boolean} stress
 * @returns {number}
 */
function statusAfter(result, stress) {
  if (result.warnings.some(({ code }) => code === 'ROWS_LEFT')) return 4;
  const status = statusOf(result);
  if (!stress || status !== 0) return status;
  return stressVerdict(result).verdict === 'held' ? 0 : 5;
}
