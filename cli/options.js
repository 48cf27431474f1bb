/**
 * The options of the commands that are no workload, and those that only the command line has: they
 * feed the parser, the help and the README. Those of runs are declared in engine/options.js.
 */

import { LIMIT_DEFAULTS } from '../engine/limit-options.js';
import { OPERATIONS_MAX } from '../engine/load-bounds.js';
import { LOAD_OPTIONS } from '../engine/load-options.js';
import { RUN_OPTIONS } from '../engine/options.js';
import { usageError } from '../lib/errors.js';
import { choice, count, duration, text } from '../lib/options.js';
import { OPERATIONS_MAX as TRACE_OPERATIONS_MAX } from '../lib/trace.js';
import { AGENT_OPTIONS, AGENTS_OPTIONS } from './fleet-options.js';
import { collect, declared, rowsOf } from './option-rows.js';

/**
 * @typedef {object} OptionRow
 * @property {string} flags as commander takes them
 * @property {string} help one line
 * @property {(text: string, flag: string, previous?: any) => unknown} [parse] absent: the text
 * @property {string} [shown] the default, for the help; what applies it is the command
 * @property {boolean} [hidden] it is not in the help: another name of an option
 * @property {string} [server] of an address
 */

const { storages, rounds, timeoutMs, rows, valueSize, seed, allowTargets } = RUN_OPTIONS;
const { inFlight } = LOAD_OPTIONS;
const ops = count(1, OPERATIONS_MAX, undefined, {
  help: 'operations per benchmark; suffixes k and M are accepted (50k, 1M)',
});

/** Addresses of servers: whose, and what each is. */
const ADDRESSES = Object.freeze({
  redis: [
    'redis',
    'Redis: host:port, unix:/path, or both with a comma; or a URL, rediss:// for TLS',
  ],
  redisCluster: ['redis-cluster', 'a node of a Redis Cluster, which names the others'],
  mysql: ['mariadb', 'MariaDB’s SQL port'],
  handlersocket: ['mariadb', 'HandlerSocket’s read port'],
  handlersocketWrite: ['mariadb', 'HandlerSocket’s write port'],
  tarantool: ['tarantool', 'Tarantool'],
  cassandra: ['cassandra', 'Cassandra'],
});

const addressRows = Object.fromEntries(
  Object.entries(ADDRESSES).map(([name, [server, help]]) => {
    const [row] = rowsOf({ [name]: text({ value: '<address>', help }) });
    return [name, { ...row, server }];
  }),
);

/** @type {Readonly<Record<string, OptionRow>>} */
export const OPTIONS = Object.freeze({
  ...declared({ storages, timeoutMs, rows, valueSize, seed, allowTargets }),
  storage: {
    flags: '--storage <one>',
    help: 'add a storage, such as ./my-driver.js; may be repeated',
    parse: collect,
  },
  json: { flags: '--json <file>', help: 'write the result to this file after each benchmark' },
  out: {
    flags: '--out <folder>',
    help: 'write the result to this folder under a generated name',
  },
  force: { flags: '--force', help: 'overwrite the file of --json' },
  metrics: {
    flags: '--metrics <port>',
    help: 'live figures for Prometheus at http://127.0.0.1:PORT/metrics, such as 9464',
  },
  hlog: {
    flags: '--hlog <file>',
    help: 'write histograms of every second to a log that HdrHistogram tools read',
  },
  quiet: { flags: '--quiet', help: 'print only the result, no progress' },
  ...addressRows,
  tlsCa: {
    flags: '--tls-ca <file>',
    help: 'certificates of authorities that servers with TLS are verified by (PEM)',
  },
  tlsCert: { flags: '--tls-cert <file>', help: 'certificate of this client (PEM)' },
  tlsKey: { flags: '--tls-key <file>', help: 'its private key (PEM)' },
  tlsServerName: {
    flags: '--tls-server-name <name>',
    help: 'name in the certificate of the server, if it is not its host',
  },
  setup: {
    flags: '--setup',
    help: 'fetch, start and fill the required servers first; stop them afterwards',
  },
  startTls: {
    flags: '--tls',
    help: 'start: also take TLS, with certificates made for it (redis, redis-cluster, mariadb)',
  },
  asRoot: {
    flags: '--as-root',
    help: 'start servers as root, if root calls (DRAGSTRIP_AS_ROOT=yes); otherwise as a user without rights',
  },
  limits: {
    flags: '--limits [file]',
    help: 'compare with server and client ceilings, of a stored result or measured before the race',
  },
  saveBaseline: {
    flags: '--save-baseline <name>',
    help: 'keep the result under this name, for --baseline',
  },
  baseline: {
    flags: '--baseline <name>',
    help: 'compare with a kept result; ratios of --fail-if refer to it',
  },
  failIfSlower: {
    flags: '--fail-if-slower <share>',
    help: 'exit with 6 if a benchmark is significantly slower by more than this: 5%',
    parse: parsePercent,
  },
  explain: {
    flags: '--explain',
    help: 'explain every column and mark below the tables, with the sources of the formulas',
  },
  trust: {
    flags: '--trust',
    help: 'also read results that were changed after they were written; the report says so',
  },
  anyway: {
    flags: '--anyway',
    help: 'with --fail-if-slower: also judge results measured under different conditions',
  },
  format: {
    flags: '--format <name>',
    help: 'console, markdown, pr, csv, json or html, on the standard output',
    shown: 'console',
  },
  html: { flags: '--html <file>', help: 'write an HTML page with plots and tables' },
  noHtml: { flags: '--no-html', help: 'do not write the HTML page' },
  svg: {
    flags: '--svg <path>',
    help: 'write the plot to a file, plot.svg, or every plot into a folder',
  },
  svgFolder: { flags: '--svg <folder>', help: 'write each plot as an SVG picture' },
  pngFolder: { flags: '--png <folder>', help: 'write each plot as a PNG picture' },
  ...declared({
    theme: choice(['light', 'dark'], 'light', { help: 'colours of the pictures: light or dark' }),
    metric: choice(['throughput', 'p50', 'p99', 'cpu'], 'throughput', {
      help: 'throughput, p50, p99 or cpu (client CPU time per operation)',
    }),
  }),
  markdown: { flags: '--markdown <file>', help: 'write the tables as GitHub markdown' },
  csv: { flags: '--csv <file>', help: 'write one row per benchmark and round, or result' },
  overwrite: { flags: '--force', help: 'overwrite existing files' },
  benchmark: {
    flags: '--benchmark <text>',
    help: 'only benchmarks whose id contains this text: ioredis, get/burst; may be repeated',
    parse: collect,
  },
});

/** @typedef {keyof typeof OPTIONS & string} OptionName */

const DATASET_OPTIONS = ['rows', 'valueSize', 'seed'];
const TLS_OPTIONS = ['tlsCa', 'tlsCert', 'tlsKey', 'tlsServerName'];
/** Those of servers that do not hold the dataset. */
export const FURTHER_ADDRESSES = ['cassandra'];
export const ADDRESS_OPTIONS = [
  ...Object.keys(ADDRESSES).filter((name) => !FURTHER_ADDRESSES.includes(name)),
  ...TLS_OPTIONS,
  'allowTargets',
];
/** Files that a report is written to. */
export const OUTPUT_OPTIONS = ['html', 'svgFolder', 'pngFolder', 'theme', 'overwrite'];
export const STORE_OPTIONS = ['json', 'out', 'force', 'quiet'];
/** Options whose defaults in `limit` are others. */
const LIMIT_OWN = declared({
  rounds: { ...rounds, default: LIMIT_DEFAULTS.rounds },
  ops: { ...ops, shown: `as many as time allows; all at once: ${LIMIT_DEFAULTS.burst}` },
  inFlight: { ...inFlight, shown: `${LIMIT_DEFAULTS.inFlight.join()}, and all at once` },
});
const LIMIT_OPTIONS = [
  'setup',
  'storages',
  'storage',
  'ops',
  'inFlight',
  'rounds',
  'timeoutMs',
  ...DATASET_OPTIONS,
  ...STORE_OPTIONS,
  ...ADDRESS_OPTIONS,
];
/** Of `bisect`; `releases` has a range in place of two versions. */
const BISECT_OPTIONS = {
  metric: choice(['throughput', 'client-cpu', 'server-cpu', 'p50', 'p99'], undefined, {
    help: 'what is compared: throughput, client-cpu, server-cpu, p50 or p99',
    shown: 'releases: throughput; bisect: client-cpu',
  }),
  inFlight: count(1, 10_000, 100, { help: 'requests in flight' }),
  budget: duration(60_000, { help: 'longest duration of each run' }),
};
const RELEASES_OPTIONS = {
  from: text({ value: '<version>', help: 'oldest version: 5, 5.3 or 5.3.1' }),
  to: text({ value: '<version>', help: 'newest version' }),
  every: choice(['patch', 'minor', 'major'], 'minor', {
    help: 'the last version of each patch, minor or major',
  }),
};
const RELEASES_COMMON = [
  ...Object.values(declared({ storages: { ...storages, shown: 'those that use the package' } })),
  ...rowsNamed(['setup', 'storage', 'out', 'quiet', ...DATASET_OPTIONS, ...ADDRESS_OPTIONS]),
];

const RECORD_OPTIONS = declared({
  for: duration(undefined, { help: 'how long: 30s, 5m' }),
  out: text({ value: '<file>', help: 'file of the trace' }),
  maxOps: count(1, TRACE_OPERATIONS_MAX, TRACE_OPERATIONS_MAX, {
    help: 'most operations; the recording ends with them',
  }),
});
const REDIS_ADDRESS = ['redis', ...TLS_OPTIONS, 'allowTargets'];

const HISTORY_OPTIONS = ['benchmark', 'trust', 'metric', 'format', 'markdown', 'csv'];

/**
 * The options of each command that is no workload.
 * @type {Readonly<Record<string, OptionRow[]>>}
 */
export const COMMAND_OPTIONS = Object.freeze({
  limit: LIMIT_OPTIONS.map((name) => LIMIT_OWN[name] ?? OPTIONS[name]),
  seed: rowsNamed([...DATASET_OPTIONS, 'quiet', ...ADDRESS_OPTIONS]),
  servers: rowsNamed(['startTls', 'asRoot', 'quiet']),
  agent: [...AGENT_OPTIONS, OPTIONS['quiet']],
  agents: AGENTS_OPTIONS,
  record: [
    ...Object.values(RECORD_OPTIONS),
    ...rowsNamed(['overwrite', 'quiet', ...REDIS_ADDRESS]),
  ],
  report: rowsNamed(['format', 'explain', 'trust', 'markdown', 'csv', ...OUTPUT_OPTIONS]),
  history: rowsNamed([...HISTORY_OPTIONS, ...OUTPUT_OPTIONS]),
  compare: rowsNamed(['failIfSlower', 'anyway', 'trust', 'format', 'json', 'force']),
  releases: [
    ...Object.values(declared({ ...RELEASES_OPTIONS, ...BISECT_OPTIONS })),
    ...RELEASES_COMMON,
  ],
  bisect: [...Object.values(declared(BISECT_OPTIONS)), ...RELEASES_COMMON],
  check: rowsNamed(['setup', ...DATASET_OPTIONS, 'quiet', ...ADDRESS_OPTIONS]),
  list: [],
  doctor: rowsNamed(ADDRESS_OPTIONS),
});

/** @param {readonly string[]} names */
function rowsNamed(names) {
  return names.map((name) => OPTIONS[name]);
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
 * @param {Record<string, any>} given parsed options
 * @returns {Record<string, string>} addresses by flag name
 */
export function addressesOf(given) {
  /** @type {Record<string, string>} */
  const addresses = {};
  for (const name of [...ADDRESS_OPTIONS, ...FURTHER_ADDRESSES]) {
    if (name !== 'allowTargets' && given[name] !== undefined) {
      addresses[OPTIONS[name].flags.split(' ')[0].slice(2)] = given[name];
    }
  }
  return addresses;
}

/**
 * @param {Record<string, any>} given parsed options of a command with a dataset
 * @returns {{ rows?: number, valueSize?: number | string, seed?: number, allowTargets?: string[],
 *   addresses: Record<string, string> }}
 */
export function datasetIn(given) {
  const { rows, valueSize, seed, allowTarget: allowTargets } = given;
  return { rows, valueSize, seed, allowTargets, addresses: addressesOf(given) };
}
