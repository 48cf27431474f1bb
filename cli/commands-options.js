/**
 * The options of `dragstrip commands`: a table as that of all commands, of which it takes what is
 * common.
 */

import { usageError } from '../lib/errors.js';
import { takeOption } from '../lib/options.js';
import {
  CLIENTS_MAX,
  DATA_SIZE_MAX,
  KEYSPACE_MAX,
  REQUESTS_DEFAULT,
  REQUESTS_MAX,
} from '../workloads/commands/variants.js';
import { OPTIONS, STORE_OPTIONS } from './options.js';

/** @typedef {import('./options.js').OptionRow} OptionRow */

/**
 * @param {string} flags
 * @param {string} help
 * @param {number} max
 * @param {string} shown
 * @returns {OptionRow}
 */
function count(flags, help, max, shown) {
  const option = /** @type {const} */ ({ kind: 'count', help, min: 1, max });
  const parse = (/** @type {string} */ text, /** @type {string} */ flag) =>
    takeOption(flag.slice(2), option, text, { asText: true });
  return { flags, help, shown, parse };
}

/**
 * @param {string} flags
 * @param {string} help
 * @param {Record<string, readonly unknown[]>} choices and what each stands for
 * @param {string} shown
 * @returns {OptionRow}
 */
function choice(flags, help, choices, shown) {
  return {
    flags,
    help,
    shown,
    parse(text, flag) {
      if (Object.hasOwn(choices, text)) return choices[text];
      const names = Object.keys(choices);
      throw usageError(`${flag} ${JSON.stringify(text)}: not known`, `one of ${names.join(', ')}`);
    },
  };
}

/** @param {string[]} names of OPTIONS */
function common(...names) {
  return names.map((name) => OPTIONS[name]);
}

const { kept, keptLong, own } = REQUESTS_DEFAULT;

/** @type {readonly OptionRow[]} */
export const COMMANDS_OPTIONS = Object.freeze([
  count(
    '--requests <n>',
    'requests of each test',
    REQUESTS_MAX,
    `${kept}, of LRANGE ${keptLong}; with a connection for each ${own}`,
  ),
  count('--clients <n>', 'connections, each with one request in flight', CLIENTS_MAX, '50'),
  count('--keyspace <n>', 'keys, counters and members that are drawn from', KEYSPACE_MAX, '50'),
  count('--data-size <n>', 'characters of a value', DATA_SIZE_MAX, '3'),
  choice(
    '--keep-alive <which>',
    'connections that are kept (on), one for each request (off), or both',
    { on: [true], off: [false], both: [true, false] },
    'both',
  ),
  choice(
    '--way <which>',
    'to Redis itself (direct), through the proxy (proxied), or both',
    { direct: ['direct'], proxied: ['proxied'], both: ['direct', 'proxied'] },
    'both',
  ),
  choice(
    '--transport <which>',
    'tcp, unix (sockets), or both',
    { tcp: ['tcp'], unix: ['unix'], both: ['tcp', 'unix'] },
    'both',
  ),
  {
    flags: '--tests <list>',
    help: 'names of redis-benchmark’s list, with commas between: SET,GET,LRANGE_100',
    parse: (text) => text.split(',').filter((name) => name.trim() !== ''),
    shown: 'all',
  },
  {
    ...OPTIONS['storages'],
    help: 'drivers: ioredis, redis, hiredis, each with :profile, or ./file.js; with commas',
    shown: 'ioredis',
  },
  ...common('storage'),
  {
    flags: '--proxy <address>',
    help: 'the proxy, whichever it is: host:port, unix:/path, or both with a comma between',
    shown: 'the nutcracker of `dragstrip servers start redis nutcracker`',
  },
  {
    flags: '--proxy-binary <command>',
    help: 'a proxy to start for this run: a nutcracker, or a command with {port}, {socket}, {redis} …',
  },
  { flags: '--no-redis-benchmark', help: 'without redis-benchmark beside each test' },
  { ...OPTIONS['setup'], help: 'first fetch and start Redis and nutcracker; stop them afterwards' },
  { ...OPTIONS['rounds'], shown: '1' },
  { ...OPTIONS['warmupOperations'], shown: '500' },
  ...common('timeoutMs', 'seed'),
  ...common('svgFolder', ...STORE_OPTIONS),
  { ...OPTIONS['redis'], help: 'Redis: host:port, unix:/path, or both with a comma between' },
  ...common('allowTargets'),
]);
