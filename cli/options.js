/**
 * Options of commands that are not workloads, and options that exist only on the command line, for
 * the parser, the help and docs/options.md. Options of runs are declared in engine/options.js.
 */

import { LIMIT_DEFAULTS } from '../engine/limit-options.js';
import { OPERATIONS_MAX } from '../engine/load-bounds.js';
import { LOAD_OPTIONS } from '../engine/load-options.js';
import { RUN_OPTIONS } from '../engine/options.js';
import { usageError } from '../lib/errors.js';
import { choice, count, duration, text } from '../lib/options.js';
import { OPERATIONS_MAX as TRACE_OPERATIONS_MAX } from '../lib/trace.js';
import { AGENT_OPTIONS, AGENTS_OPTIONS } from './fleet-options.js';
import { declared, rowsOf } from './option-rows.js';

/**
 * @typedef {object} OptionRow
 * @property {string} flags in commander's syntax
 * @property {string} help one line
 * @property {(text: string, flag: string) => unknown} [parse] absent: the value is the text
 * @property {(text: string) => unknown} [check] throws E_USAGE; absent: `parse` checks
 * @property {boolean} [isList] may be repeated; the value is a list of texts
 * @property {string} [shown] default shown in the help; the command applies it
 * @property {boolean} [hidden] not in the help: an alias of an option
 * @property {string} [aliasOf] the flag of which this is an alias
 * @property {string} [server] server of an address
 */

const { storages, rounds, timeoutMs, rows, valueSize, seed, allowTargets } = RUN_OPTIONS;
const { inFlight } = LOAD_OPTIONS;
const ops = count(1, OPERATIONS_MAX, undefined, {
  help: 'operations per benchmark; suffixes k and M are accepted (50k, 1M)',
});

/** Addresses of servers, with the kind of each. */
const ADDRESSES = Object.freeze({
  redis: [
    'redis',
    'Redis: host:port, unix:/path, or both with a comma; or a URL, rediss:// for TLS',
  ],
  redisCluster: ['redis-cluster', 'any node of a Redis Cluster; the others are discovered'],
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

/** Metrics of `history`, by their names in `bisect`. */
const METRICS_OVER_TIME = {
  throughput: 'throughput',
  'client-cpu': 'cpu',
  p50: 'p50',
  p99: 'p99',
};

/** @type {Readonly<Record<string, OptionRow>>} */
export const OPTIONS = Object.freeze({
  ...declared({ storages, timeoutMs, rows, valueSize, seed, allowTargets }),
  config: {
    flags: '--config <file>',
    help: 'values of options, for all commands or one; the command line takes precedence',
    shown: 'dragstrip.config.js, if present',
  },
  json: { flags: '--json <file>', help: 'write the result to this file after each benchmark' },
  out: {
    flags: '--out <folder>',
    help: 'write the result to this folder under a generated name',
  },
  force: { flags: '--force', help: 'overwrite existing files' },
  prometheus: {
    flags: '--prometheus <port>',
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
    help: 'certificate authorities to verify servers with (PEM)',
  },
  tlsCert: { flags: '--tls-cert <file>', help: 'certificate of this client (PEM)' },
  tlsKey: { flags: '--tls-key <file>', help: 'private key of this client (PEM)' },
  tlsServerName: {
    flags: '--tls-server-name <name>',
    help: 'host name in the certificate of the server, if it differs from the address',
  },
  setup: {
    flags: '--setup',
    help: 'fetch, start and fill the required servers first; stop them afterwards',
  },
  withTls: {
    flags: '--with-tls',
    help: 'start: also accept TLS, with generated certificates (redis, redis-cluster, mariadb)',
  },
  asRoot: {
    flags: '--as-root',
    help: 'start servers as root instead of as an unprivileged user (also DRAGSTRIP_AS_ROOT=yes)',
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
    help: 'compare with a result kept by --save-baseline, also in --fail-if',
  },
  failIfSlower: {
    flags: '--fail-if-slower <share>',
    help: 'exit with status 6 if a benchmark is significantly slower by more than this: 5%',
    parse: parsePercent,
  },
  explain: {
    flags: '--explain',
    help: 'explain every column and mark below the tables, with the sources of the formulas',
  },
  trust: {
    flags: '--trust',
    help: 'also read results that were modified after the run; the report has a warning',
  },
  ignoreConditions: {
    flags: '--ignore-conditions',
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
    flags: '--svg <folder>',
    help: 'write the plots as SVG pictures into this folder',
  },
  png: { flags: '--png <folder>', help: 'write the plots as PNG pictures into this folder' },
  ...declared({
    theme: choice(['light', 'dark'], 'light', { help: 'colours of the pictures: light or dark' }),
    metric: choice(METRICS_OVER_TIME, 'throughput', {
      help: 'metric: throughput, client-cpu (per operation), p50 or p99',
    }),
  }),
  markdown: { flags: '--markdown <file>', help: 'write the tables as GitHub markdown' },
  csv: { flags: '--csv <file>', help: 'write one row per benchmark and round, or result' },
  benchmark: {
    flags: '--benchmark <text>',
    help: 'only benchmarks whose id contains this text: ioredis, get/burst; may be repeated',
    isList: true,
  },
});

/** @typedef {keyof typeof OPTIONS & string} OptionName */

const DATASET_OPTIONS = ['rows', 'valueSize', 'seed'];
const TLS_OPTIONS = ['tlsCa', 'tlsCert', 'tlsKey', 'tlsServerName'];
/** Addresses of servers that do not hold the dataset. */
export const FURTHER_ADDRESSES = ['cassandra'];
export const ADDRESS_OPTIONS = [
  ...Object.keys(ADDRESSES).filter((name) => !FURTHER_ADDRESSES.includes(name)),
  ...TLS_OPTIONS,
  'allowTargets',
];
/** Output files of a report. */
export const OUTPUT_OPTIONS = ['html', 'svg', 'png', 'theme', 'force'];
export const STORE_OPTIONS = ['json', 'out', 'force', 'quiet'];
/** Options with different defaults in `limit`. */
const LIMIT_OWN = declared({
  rounds: { ...rounds, default: LIMIT_DEFAULTS.rounds },
  ops: { ...ops, shown: `as many as time allows; all at once: ${LIMIT_DEFAULTS.burst}` },
  inFlight: { ...inFlight, shown: `${LIMIT_DEFAULTS.inFlight.join()}, and all at once` },
});
const LIMIT_OPTIONS = [
  'setup',
  'storages',
  'ops',
  'inFlight',
  'rounds',
  'timeoutMs',
  ...DATASET_OPTIONS,
  ...STORE_OPTIONS,
  ...ADDRESS_OPTIONS,
];
/** Options of `bisect`; `releases` has a range instead of two versions. */
const BISECT_OPTIONS = {
  metric: choice(['throughput', 'client-cpu', 'server-cpu', 'p50', 'p99'], undefined, {
    help: 'metric: throughput, client-cpu, server-cpu (per operation), p50 or p99',
    shown: 'client-cpu',
  }),
  inFlight: count(1, 10_000, 100, { help: 'requests in flight' }),
  budget: duration(60_000, { help: 'longest duration of each run' }),
};
const RELEASES_OPTIONS = {
  ...BISECT_OPTIONS,
  metric: { ...BISECT_OPTIONS.metric, shown: 'throughput' },
  from: text({ value: '<version>', help: 'oldest version: 5, 5.3 or 5.3.1' }),
  to: text({ value: '<version>', help: 'newest version' }),
  every: choice(['patch', 'minor', 'major'], 'minor', {
    help: 'the last version of each patch, minor or major',
  }),
};
const RELEASES_COMMON = [
  ...Object.values(declared({ storages: { ...storages, shown: 'those that use the package' } })),
  ...rowsNamed(['setup', 'out', 'quiet', ...DATASET_OPTIONS, ...ADDRESS_OPTIONS]),
];

const RECORD_OPTIONS = declared({
  duration: duration(undefined, { help: 'duration of the recording: 30s, 5m' }),
  maxOps: count(1, TRACE_OPERATIONS_MAX, TRACE_OPERATIONS_MAX, {
    help: 'most operations; the recording ends with them',
  }),
});
const REDIS_ADDRESS = ['redis', ...TLS_OPTIONS, 'allowTargets'];

const HISTORY_OPTIONS = ['benchmark', 'trust', 'metric', 'format', 'markdown', 'csv'];

/**
 * The options of each command that is not a workload.
 * @type {Readonly<Record<string, OptionRow[]>>}
 */
export const COMMAND_OPTIONS = Object.freeze({
  limit: LIMIT_OPTIONS.map((name) => LIMIT_OWN[name] ?? OPTIONS[name]),
  seed: rowsNamed([...DATASET_OPTIONS, 'quiet', ...ADDRESS_OPTIONS]),
  servers: rowsNamed(['withTls', 'asRoot', 'quiet']),
  agent: [...AGENT_OPTIONS, OPTIONS['quiet']],
  agents: AGENTS_OPTIONS,
  record: [...Object.values(RECORD_OPTIONS), ...rowsNamed(['force', 'quiet', ...REDIS_ADDRESS])],
  report: rowsNamed(['format', 'explain', 'trust', 'markdown', 'csv', ...OUTPUT_OPTIONS]),
  history: rowsNamed([...HISTORY_OPTIONS, ...OUTPUT_OPTIONS]),
  compare: rowsNamed(['failIfSlower', 'ignoreConditions', 'trust', 'format', 'json', 'force']),
  releases: [...Object.values(declared(RELEASES_OPTIONS)), ...RELEASES_COMMON],
  bisect: [...Object.values(declared(BISECT_OPTIONS)), ...RELEASES_COMMON],
  check: rowsNamed(['setup', ...DATASET_OPTIONS, 'quiet', ...ADDRESS_OPTIONS]),
  list: [],
  doctor: rowsNamed(ADDRESS_OPTIONS),
});

/** @param {readonly OptionRow[]} rows rows of a command */
export function withConfig(rows) {
  return rows.length === 0 ? rows : [...rows, OPTIONS['config']];
}

/** @param {readonly string[]} names */
function rowsNamed(names) {
  return names.map((name) => OPTIONS[name]);
}

/**
 * @param {string} text `5%`; the sign is required, to avoid confusion with 0.05
 * @param {string} flag
 * @returns {number} fraction: 0.05; at least 0 and less than 1
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export function parsePercent(text, flag) {
  const match = /^(\d+(?:\.\d+)?)\s*%$/.exec(text.trim());
  const value = match === null ? Number.NaN : Number(match[1]) / 100;
  if (value >= 0 && value < 1) return value;
  throw usageError(
    `${flag} ${JSON.stringify(text)}: not a percentage from 0% to below 100%`,
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
