/**
 * The options of `dragstrip mget`, the seed's names among them. A table as that of all commands, of
 * which it takes what is common; apart, because -h is a host here.
 */

import { usageError } from '../lib/errors.js';
import { ADDRESS_OPTIONS, OPTIONS, parseCount, STORE_OPTIONS } from './options.js';

/** @typedef {import('./options.js').OptionRow} OptionRow */

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

/** @param {string[]} names of OPTIONS */
function common(...names) {
  return names.map((name) => OPTIONS[name]);
}

const SIZES = /** @type {[number, number]} */ ([1, 10_000]);

/** @type {readonly OptionRow[]} */
export const MGET_OPTIONS = Object.freeze([
  { flags: '-h, --host <value>', help: 'Redis’ host', shown: '127.0.0.1' },
  count(
    '-p, --port <value>',
    'Redis’ port',
    [1, 65_535],
    '6379; with neither host nor port: where it is known to be, see --redis',
  ),
  {
    flags: '-a, --password <value>',
    help: 'refused: others can read it; see --password-from-env',
    parse: (_text, flag) => refusePassword(flag),
  },
  {
    flags: '--password-from-env <name>',
    help: 'the variable of the environment that has Redis’ password',
    shown: 'DRAGSTRIP_REDIS_PASSWORD',
  },
  count('-n, --db <value>', 'Redis’ database', [0, 2 ** 31 - 1], '0'),
  count('--cycles <value>', 'fetches of each number of keys', [1, 1e6], '100'),
  count('--data-size <value>', 'bytes of a value', [8, 2 ** 24], '2048'),
  count('--min-conc <value>', 'concurrency: fetches in flight, at least', SIZES, '1'),
  count('--max-conc <value>', 'concurrency: fetches in flight, doubled up to this', SIZES, '16'),
  count('--concurrency <value>', 'scatter: fetches in flight', SIZES, '1'),
  count('--min-keys <value>', 'scatter: keys of a fetch, at least', SIZES, '1'),
  count('--max-keys <value>', 'scatter: keys of a fetch, at most', SIZES, '100'),
  { flags: '--gnuplot', help: 'scatter: a script for gnuplot that makes a PNG' },
  {
    flags: '--gnuplot-extra <line>',
    help: 'scatter: a line of your own in that script, as it is; may be repeated',
    parse: (text, _flag, previous = []) => [...previous, text],
  },
  { flags: '--svg <file>', help: 'a plot as SVG, without gnuplot' },
  {
    flags: '--pipelined',
    help: 'beside each, the same keys as single reads that are sent at once',
  },
  {
    ...OPTIONS['storages'],
    help: 'storages that read many keys at once: name, name:profile, all, ./file.js, with commas',
    shown: 'ioredis',
  },
  ...common('storage'),
  count('--rows <n>', 'keys that are held', [1, 2 ** 30 - 1], '50000'),
  ...common('rounds'),
  { ...OPTIONS['warmup'], shown: '500' },
  ...common('timeout', 'seed', ...STORE_OPTIONS, ...ADDRESS_OPTIONS),
]);

/**
 * Arguments are for everybody on the machine to read.
 * @param {string} flag
 * @returns {never}
 */
function refusePassword(flag) {
  throw usageError(
    `${flag}: a password is not taken from the command line, where others can read it`,
    'set DRAGSTRIP_REDIS_PASSWORD or DRAGSTRIP_REDIS_PASSWORD_FILE, or name a variable: ' +
      '--password-from-env NAME',
  );
}
