/** The options of `dragstrip mutex` and `mutex stress`, the seed's names and letters among them. */

import { usageError } from '../lib/errors.js';
import { ADDRESS_OPTIONS, OPTIONS, parseCount, parseDurationMs, STORE_OPTIONS } from './options.js';

/** @typedef {import('./options.js').OptionRow} OptionRow */

export const HANDLERS = Object.freeze([
  ...['script', 'pure', 'redlock', 'redis-semaphore', 'get-lock', 'fiber'],
]);
const KEYS_MAX = 100;

/**
 * @param {string} flags
 * @param {string} help
 * @param {[number, number]} range
 * @param {string} shown
 * @returns {OptionRow}
 */
function count(flags, help, [min, max], shown) {
  return { flags, help, shown, parse: (text, flag) => parseCount(text, flag, min, max) };
}

/**
 * @param {string} flags
 * @param {string} help
 * @param {string} shown
 * @returns {OptionRow}
 */
function time(flags, help, shown) {
  return { flags, help, shown, parse: parseDurationMs };
}

/** @param {string[]} names of OPTIONS */
function common(...names) {
  return names.map((name) => OPTIONS[name]);
}

/** @type {readonly OptionRow[]} */
export const MUTEX_OPTIONS = Object.freeze([
  {
    ...OPTIONS['storages'],
    help: 'drivers: ioredis, redis, mysql2, tarantool, name:profile, ./file.js, with commas',
    shown: 'all that can run; stress: ioredis',
  },
  ...common('storage'),
  {
    flags: '--handlers <list>',
    help: `kinds of lock: ${HANDLERS.join(', ')}, or of a file`,
    shown: 'all; stress: script',
    parse: parseWords,
  },
  {
    flags: '--tests <list>',
    help: '1 (lock/unlock), 2 (a counted section), killed (a holder dies)',
    shown: '1,2,killed',
    parse: parseTests,
  },
  {
    flags: '-k, --keys <list>',
    help: 'names locked at once, n of n/m; stress: how many keys a process runs through',
    shown: '1,2,3,5,10; stress: 5',
    parse: parseKeyCounts,
  },
  count('--ops <n>', 'Test 1: sections', [1, 1e7], '1000'),
  count('--tasks <n>', 'tasks; stress: in each process', [1, 10_000], '10; Test 2: 100; stress: 1'),
  time('--duration <time>', 'Test 2: how long sections are begun', '5s'),
  count('--kills <n>', 'killed: holders that die in a round', [1, 1000], '3'),
  time('--expiry <time>', 'when a lock ends by itself', '30s; killed: 1s; stress: 2 sleeps + 1s'),
  time(
    '--retry <time>',
    'redlock, redis-semaphore: asks again after that',
    'their own 200ms, 10ms',
  ),
  count('-f, --forks <n>', 'stress: processes', [1, 1000], '30'),
  count('-t, --tries <n>', 'stress: attempts of a process at each key', [1, 1e6], '10'),
  {
    flags: '-s, --sleep <seconds>',
    help: 'stress: how long a process holds a key',
    shown: '2',
    parse: parseSeconds,
  },
  count('--repeat <n>', 'stress: how many times a process goes through all keys', [1, 1e7], '1'),
  count('--kill <n>', 'stress: further processes, killed at random', [0, 10_000], '0'),
  time('--block <time>', 'stress: how long an attempt waits', '4 sleeps, at least 2s'),
  { flags: '--svg <file>', help: 'a plot as SVG' },
  ...common('rounds'),
  { ...OPTIONS['warmup'], shown: '100' },
  ...common('timeout', 'seed', ...STORE_OPTIONS, ...ADDRESS_OPTIONS),
]);

/**
 * @param {string} text
 * @param {string} flag
 * @returns {string[]}
 */
function parseWords(text, flag) {
  const words = text.split(',').map((word) => word.trim());
  const wrong = words.find((word) => !/^[a-z][a-z0-9-]*$/.test(word));
  if (wrong === undefined) return [...new Set(words)];
  throw usageError(
    `${flag} ${JSON.stringify(text)}: a name is missing or wrong`,
    'for example script,pure',
  );
}

const TESTS = Object.freeze({ 1: 'lock', 2: 'count', killed: 'killed' });

/**
 * @param {string} text
 * @param {string} flag
 * @returns {string[]} as the workload calls them
 */
function parseTests(text, flag) {
  return text.split(',').map((word) => {
    const name = /** @type {Record<string, string>} */ (TESTS)[word.trim()];
    if (name !== undefined) return name;
    throw usageError(
      `${flag} ${JSON.stringify(text)}: ${JSON.stringify(word)} is none`,
      `of ${Object.keys(TESTS).join(', ')}`,
    );
  });
}

/**
 * @param {string} text
 * @param {string} flag
 * @returns {number[]}
 */
function parseKeyCounts(text, flag) {
  const counts = text.split(',').map((word) => parseCount(word, flag, 1, KEYS_MAX));
  return [...new Set(counts)];
}

/**
 * @param {string} text
 * @param {string} flag
 * @returns {number} ms
 */
function parseSeconds(text, flag) {
  if (/^(\d+\.?\d*|\.\d+)$/.test(text.trim()) && Number(text) <= 86_400) return Number(text) * 1000;
  throw usageError(`${flag} ${JSON.stringify(text)}: not a number of seconds`, 'such as 2 or 0.5');
}
