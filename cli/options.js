/**
 * The one table of options: it feeds the parser, the help and the README. What a text means is
 * decided here, so that a wrong one is refused before anything else happens.
 */

import { OPERATIONS_DEFAULT } from '../engine/loads.js';
import { RUN_OPTIONS as EVERY_RUN } from '../engine/options.js';
import { usageError } from '../lib/errors.js';
import { takeOption } from '../lib/options.js';
import { rowsOf } from './option-rows.js';
import { parseRamp, parseRate } from './rates.js';

/**
 * @typedef {object} OptionRow
 * @property {string} flags as commander takes them
 * @property {string} help one line
 * @property {(text: string, flag: string, previous?: any) => unknown} [parse] absent: the text
 * @property {string} [shown] the default, for the help; what applies it is the command
 * @property {boolean} [hidden] another name of an option, which is not in the help
 */

/**
 * The race is short enough that `npm start` ends within three minutes, with its first set-up.
 * @type {Readonly<Record<string, number>>}
 */
export const RACE_DEFAULTS = Object.freeze({
  rounds: 5,
  warmupOperations: 2000,
  syncOperations: 2000,
  burstOperations: 10_000,
});

/**
 * An option that every run has, see engine/options.js.
 * @param {string} name
 * @param {Readonly<Record<string, number>>} [defaults] others, by name
 * @returns {OptionRow}
 */
function shared(name, defaults = {}) {
  const option = { ...EVERY_RUN[name] };
  if (Object.hasOwn(defaults, name)) option.default = defaults[name];
  const [row] = rowsOf({ [name]: option });
  const parse = (/** @type {string} */ text) => takeOption(name, option, text, { asText: true });
  return option.kind === 'flag' || option.kind === 'texts' ? row : { ...row, parse };
}

/** @type {Readonly<Record<string, OptionRow>>} */
export const OPTIONS = Object.freeze({
  storages: { ...shared('storages'), parse: parseList },
  storage: {
    flags: '--storage <one>',
    help: 'one more storage, such as ./my-driver.js; may be repeated',
    parse: (text, _flag, previous = []) => [...previous, text],
  },
  ops: {
    flags: '--ops <n>',
    help: 'operations in each test (50k and 1M are understood)',
    parse: (text, flag) => parseCount(text, flag, 1, 1e9),
    shown: `${OPERATIONS_DEFAULT}`,
  },
  duration: {
    flags: '--duration <time>',
    help: 'how long each test issues operations, instead of a number: 10s, 500ms, 2m',
    parse: parseDurationMs,
  },
  inFlight: {
    flags: '--in-flight <k>',
    help: 'a window of k requests in flight, instead of all at once',
    parse: (text, flag) => parseCount(text, flag, 1, 1e6),
  },
  load: {
    flags: '--load <kind>',
    help: 'sync (one in flight), window, burst (all at once) or rate (an open loop)',
    parse: (text, flag) => parseChoice(text, flag, ['sync', 'window', 'burst', 'rate']),
  },
  rate: {
    flags: '--rate <r>',
    help: 'an open loop: r operations a second are due, whatever the replies do (10k, 2.5k, 0.5)',
    parse: parseRate,
  },
  arrivals: {
    flags: '--arrivals <distribution>',
    help: 'of an open loop: constant or poisson',
    parse: (text, flag) => parseChoice(text, flag, ['constant', 'poisson']),
    shown: 'constant',
  },
  maxInFlight: {
    flags: '--max-in-flight <k>',
    help: 'of an open loop: what would be more is dropped, and counted',
    parse: (text, flag) => parseCount(text, flag, 1, 1e6),
    shown: '10000',
  },
  ramp: {
    flags: '--ramp <from:to:step>',
    help: 'an open loop at each of these rates: 1k:10k:1k, or a list, 1k,2k,5k',
    parse: parseRamp,
  },
  findMax: {
    flags: '--find-max',
    help: 'search the greatest rate within the limit that --p99 gives; --rate is where it begins',
  },
  p99: {
    flags: '--p99 <time>',
    help: 'of --find-max: what 99 % of the response times must be within, 5ms or 500us',
    parse: parseDurationMs,
  },
  keys: {
    flags: '--keys <distribution>',
    help: 'which rows: uniform, sequential, zipf:0.99, hotspot:0.1:0.9 (keys : operations)',
    shown: 'uniform',
  },
  mix: {
    flags: '--mix <weights>',
    help: 'reads and writes, such as get:95,set:5; a write writes the value that the row has',
  },
  processes: {
    flags: '--processes <n>',
    help: 'share each load among n processes; with commas (1,2): each number in turn, compared',
    parse: (text, flag) => parseList(text, flag).map((item) => parseCount(item, flag, 1, 256)),
    shown: '1',
  },
  against: shared('against'),
  pin: shared('pin'),
  rounds: shared('rounds'),
  warmup: shared('warmupOperations'),
  timeout: shared('timeoutMs'),
  rows: shared('rows'),
  valueSize: shared('valueSize'),
  seed: shared('seed'),
  json: { flags: '--json <file>', help: 'write the result there, after each test' },
  out: {
    flags: '--out <folder>',
    help: 'write the result into that folder, under a name of its own',
  },
  force: { flags: '--force', help: 'overwrite the file that --json names' },
  quiet: { flags: '--quiet', help: 'only the result, no progress' },
  redis: { flags: '--redis <address>', help: 'Redis: host:port or unix:/path' },
  mysql: { flags: '--mysql <address>', help: 'MariaDB’s SQL port' },
  handlersocket: { flags: '--handlersocket <address>', help: 'HandlerSocket’s read port' },
  handlersocketWrite: {
    flags: '--handlersocket-write <address>',
    help: 'HandlerSocket’s write port',
  },
  tarantool: { flags: '--tarantool <address>', help: 'Tarantool' },
  cassandra: { flags: '--cassandra <address>', help: 'Cassandra' },
  allowTarget: shared('allowTargets'),
  setup: {
    flags: '--setup',
    help: 'first fetch, start and fill the servers that this needs; stop them afterwards',
  },
  limits: {
    flags: '--limits [file]',
    help: 'hold the figures against the limits: those of a stored result, or measured before the race',
  },
  failIfSlower: {
    flags: '--fail-if-slower <share>',
    help: 'exit with 6 where a test is shown to be slower by more than that: 5%',
    parse: parsePercent,
  },
  anyway: {
    flags: '--anyway',
    help: 'compare also what was measured differently; the report says what differs',
  },
  format: {
    flags: '--format <name>',
    help: 'console, markdown, csv, json or html, on the standard output',
    shown: 'console',
  },
  html: { flags: '--html <file>', help: 'write one page with plots and tables, for a browser' },
  noHtml: { flags: '--no-html', help: 'write no page beside the result' },
  svg: { flags: '--svg <file>', help: 'write the plot as an SVG picture' },
  svgFolder: { flags: '--svg <folder>', help: 'write each plot as an SVG picture' },
  pngFolder: { flags: '--png <folder>', help: 'write each plot as a PNG picture' },
  theme: {
    flags: '--theme <name>',
    help: 'colours of the pictures: light or dark',
    parse: (text, flag) => parseChoice(text, flag, ['light', 'dark']),
    shown: 'light',
  },
  markdown: { flags: '--markdown <file>', help: 'write the tables as GitHub markdown' },
  csv: { flags: '--csv <file>', help: 'write one row for each test and round' },
  overwrite: { flags: '--force', help: 'overwrite files that are there' },
  benchmark: {
    flags: '--benchmark <text>',
    help: 'only tests whose id holds that text: ioredis, get/burst; may be repeated',
    parse: (text, _flag, previous = []) => [...previous, text],
  },
  metric: {
    flags: '--metric <name>',
    help: 'throughput, p50, p99 or cpu (of the client, for each operation)',
    parse: (text, flag) => parseChoice(text, flag, ['throughput', 'p50', 'p99', 'cpu']),
    shown: 'throughput',
  },
});

/** @typedef {keyof typeof OPTIONS & string} OptionName */

/** @type {Readonly<Record<string, number>>} */
const DURATION_UNITS_MS = { us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export const DATASET_OPTIONS = ['rows', 'valueSize', 'seed'];
export const ADDRESS_OPTIONS = [
  'redis',
  'mysql',
  'handlersocket',
  'handlersocketWrite',
  'tarantool',
  'allowTarget',
];
/** Those of servers that only some commands know. */
const FURTHER_ADDRESSES = ['cassandra'];
/** Files that a report is written to. */
export const OUTPUT_OPTIONS = ['html', 'svgFolder', 'pngFolder', 'theme', 'overwrite'];
export const STORE_OPTIONS = ['json', 'out', 'force', 'quiet'];
export const LOAD_OPTIONS = [
  'inFlight',
  'load',
  'rate',
  'arrivals',
  'maxInFlight',
  'ramp',
  'findMax',
  'p99',
];
export const LIMIT_OPTIONS = [
  'setup',
  'storages',
  'storage',
  'ops',
  'inFlight',
  'rounds',
  'timeout',
  ...DATASET_OPTIONS,
  ...STORE_OPTIONS,
  ...ADDRESS_OPTIONS,
];
export const RUN_OPTIONS = [
  'keys',
  'mix',
  'storages',
  'storage',
  'ops',
  'duration',
  'processes',
  'against',
  'pin',
  'rounds',
  'warmup',
  'timeout',
  ...DATASET_OPTIONS,
  ...STORE_OPTIONS,
  ...ADDRESS_OPTIONS,
];

/**
 * Those of `race`, whose defaults are its own.
 * @param {readonly string[]} names
 * @returns {(string | OptionRow)[]}
 */
export function ofRace(names) {
  const { syncOperations, burstOperations } = RACE_DEFAULTS;
  const ops = `${syncOperations} one in flight, ${burstOperations} at once`;
  /** @type {Record<string, OptionRow>} */
  const own = {
    rounds: shared('rounds', RACE_DEFAULTS),
    warmup: shared('warmupOperations', RACE_DEFAULTS),
    ops: { ...OPTIONS['ops'], shown: ops },
  };
  return names.map((name) => own[name] ?? name);
}

/**
 * @param {string} text digits, `_` between them, `k` or `M` behind them
 * @param {string} flag
 * @param {number} min
 * @param {number} max
 * @returns {number} a whole number from min to max
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parseCount(text, flag, min, max) {
  const match = /^(\d[\d_]*)([kM]?)$/.exec(text.trim());
  const unit = match === null ? 1 : { '': 1, k: 1e3, M: 1e6 }[match[2]];
  const value = match === null ? Number.NaN : Number(match[1].replaceAll('_', '')) * (unit ?? 1);
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw usageError(
    `${flag} ${JSON.stringify(text)}: not a whole number from ${min} to ${max}`,
    `write for example ${flag} ${Math.max(min, Math.min(max, 50_000))}`,
  );
}

/**
 * @param {string} text
 * @param {string} flag
 * @param {readonly string[]} choices
 */
function parseChoice(text, flag, choices) {
  if (choices.includes(text)) return text;
  throw usageError(`${flag} ${JSON.stringify(text)}: not one of ${choices.join(', ')}`);
}

/**
 * @param {string} text `5%`; the sign is required, so that nobody takes 0.05 for five
 * @param {string} flag
 * @returns {number} a share, 0.05, from 0 to below 1
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parsePercent(text, flag) {
  const match = /^(\d+(?:\.\d+)?)\s*%$/.exec(text.trim());
  const value = match === null ? Number.NaN : Number(match[1]) / 100;
  if (value >= 0 && value < 1) return value;
  throw usageError(
    `${flag} ${JSON.stringify(text)}: not a share from 0% to below 100%`,
    `write for example ${flag} 5%`,
  );
}

/**
 * @param {string} text `10s`, `500ms`, `2m`; a bare number is seconds
 * @param {string} flag
 * @returns {number} milliseconds, more than 0 and at most a day
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parseDurationMs(text, flag) {
  const match = /^(\d+(?:\.\d+)?)(us|µs|ms|s|m|h)?$/.exec(text.trim());
  const unit = DURATION_UNITS_MS[match?.[2] ?? 's'];
  const value = match === null ? Number.NaN : Number(match[1]) * unit;
  if (value > 0 && value <= 86_400_000) return value;
  throw usageError(
    `${flag} ${JSON.stringify(text)}: not a time up to 24 h`,
    `write for example ${flag} 10s or ${flag} 500ms`,
  );
}

/**
 * @param {string} text
 * @param {string} flag
 * @returns {string[]}
 */
function parseList(text, flag) {
  const items = text.split(',').map((item) => item.trim());
  if (items.every((item) => item !== '')) return items;
  throw usageError(
    `${flag} ${JSON.stringify(text)}: an empty name in the list`,
    'dragstrip list shows the names',
  );
}

/**
 * @param {Record<string, any>} given parsed options
 * @returns {Record<string, string>} addresses by flag name
 */
export function addressesOf(given) {
  /** @type {Record<string, string>} */
  const addresses = {};
  for (const name of [...ADDRESS_OPTIONS, ...FURTHER_ADDRESSES]) {
    if (name !== 'allowTarget' && given[name] !== undefined) {
      addresses[OPTIONS[name].flags.split(' ')[0].slice(2)] = given[name];
    }
  }
  return addresses;
}
