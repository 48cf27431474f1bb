/**
 * What `dragstrip commands` measures: its options, and the variants of a list of tests. Pure; what
 * a test is, is workloads/commands/tests.js.
 */

import { readEphemeralPorts } from '../../lib/ephemeral-ports.js';
import { usageError } from '../../lib/errors.js';
import { choice, choices, count, flag, reading, takeOption, text } from '../../lib/options.js';
import { TEST_NAMES } from './tests.js';

/** Requests of a test: enough for some tenths of a second. */
export const REQUESTS_DEFAULT = Object.freeze({
  kept: 20_000,
  /** replies of some hundred elements take ten times as long */
  keptLong: 4000,
  own: 2000,
});
const { kept, keptLong, own } = REQUESTS_DEFAULT;
const WAYS = Object.freeze({
  direct: ['direct'],
  proxied: ['proxied'],
  both: ['direct', 'proxied'],
});
const TRANSPORTS = Object.freeze({ tcp: ['tcp'], unix: ['unix'], both: ['tcp', 'unix'] });
/** 1 and 0 are those of redis-benchmark. */
const KEEP_ALIVE = Object.freeze({
  on: [true],
  off: [false],
  both: [true, false],
  1: [true],
  0: [false],
});
const PIPELINE_MAX = 1000;
/** What redis-benchmark's own -t names. */
const TEST_ALIASES = Object.freeze({
  PING: ['PING_INLINE', 'PING_BULK'],
  PING_MBULK: ['PING_BULK'],
  LRANGE: TEST_NAMES.filter((name) => name.includes('LRANGE')),
});

const tests = choices(TEST_NAMES, TEST_NAMES, {
  help: 'names from redis-benchmark’s list, comma-separated: SET,GET,LRANGE_100',
  shown: 'all',
});

/** @type {import('../../lib/options.js').OptionTable} */
export const options = Object.freeze({
  tests: reading(
    (given) => takeOption('tests', tests, namedTests(String(given)), { asText: true }),
    { ...tests, kind: 'read', also: ['-t'] },
  ),
  requests: count(1, 1_000_000, undefined, {
    also: ['-n'],
    help: 'requests of each test',
    shown: `${kept}; LRANGE: ${keptLong}; without keep-alive: ${own}`,
  }),
  inFlight: count(1, 5000, 50, {
    also: ['-c', '--clients'],
    help: 'connections, each with one request in flight',
  }),
  pipeline: count(1, PIPELINE_MAX, 1, {
    also: ['-P'],
    help: 'requests in flight per connection, with --keep-alive on',
  }),
  keyspace: count(1, 100_000, 50, {
    also: ['-r'],
    help: 'number of keys, counters and members to draw from',
  }),
  dataSize: count(1, 65_536, 3, { also: ['-d'], help: 'characters per value' }),
  keepAlive: choice(KEEP_ALIVE, KEEP_ALIVE.both, {
    also: ['-k'],
    value: '<which>',
    help: 'connections that are kept (on or 1), one for each request (off or 0), or both',
  }),
  way: choice(WAYS, WAYS.both, {
    value: '<which>',
    help: 'to Redis itself (direct), through the proxy (proxied), or both',
  }),
  transport: choice(TRANSPORTS, TRANSPORTS.both, {
    value: '<which>',
    help: 'tcp, unix (sockets), or both',
  }),
  proxy: text({
    value: '<address>',
    help: 'address of the proxy: host:port, unix:/path, or both, comma-separated',
    shown: 'the nutcracker of `npx dragstrip servers start redis nutcracker`',
  }),
  proxyBinary: text({
    value: '<command>',
    help: 'a proxy for this run: haproxy, a nutcracker, or a command with {port}, {socket}, {redis} …',
  }),
  noRedisBenchmark: flag({ help: 'do not run redis-benchmark for comparison' }),
  benchmark: choice({ redis: 'redis', valkey: 'valkey' }, 'redis', {
    value: '<which>',
    help: 'for comparison: redis (redis-benchmark) or valkey (valkey-benchmark)',
  }),
  redisBenchmark: text({
    isFlag: false,
    help: 'version of the redis-benchmark that runs beside; which one, says the environment',
  }),
  lines: flag({
    also: ['-q'],
    help: 'print one line per test, as redis-benchmark -q does, and no tables',
  }),
  csv: flag({ help: 'print the columns of redis-benchmark --csv, and no tables' }),
  setup: flag({ help: 'first fetch and start Redis and nutcracker; stop them afterwards' }),
});

export const shared = Object.freeze({
  storages: {
    help: 'drivers: ioredis, redis, hiredis, each with :profile, or ./file.js; comma-separated',
    default: ['ioredis'],
  },
  warmupOperations: 500,
  budget: { default: 300_000, shown: '5m' },
  rows: null,
  valueSize: null,
  against: null,
  pin: null,
});

/**
 * @param {Record<string, any>} given
 * @param {import('../../lib/types.js').PlanContext} context
 * @returns {import('../../lib/types.js').WorkloadPlan}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function plan(given, { addresses = {} }) {
  const { requests, inFlight: clients, keyspace, dataSize, redisBenchmark, proxy } = given;
  requireTogether(given, addresses);
  requirePipeline(given);
  if (given.noRedisBenchmark && given.benchmark !== 'redis') {
    throw usageError('--benchmark and --no-redis-benchmark: one of them', 'leave one out');
  }
  if (requests !== undefined && requests < clients) {
    throw usageError(`${requests} requests of ${clients} clients`, 'at least one of each client');
  }
  const list = /** @type {CommandList} */ (given);
  return {
    variants: commandVariants(list).map(({ parameters, loads }) => {
      const whole = requests ? '--requests fixes the amount' : whyWhole(parameters);
      return { parameters, loads: loads.map((load) => ({ ...load, ...(whole && { whole }) })) };
    }),
    shared: { addresses: { ...addresses, ...(proxy && { proxy }) } },
    workload: {
      workloadOptions: {
        commands: { clients, keyspace, dataSize, ...(redisBenchmark && { redisBenchmark }) },
      },
    },
  };
}

/**
 * @param {import('../../lib/types.js').Parameters} parameters
 * @returns {string | undefined} why a variant is not sliced
 */
function whyWhole({ keepAlive, transport }) {
  if (keepAlive || transport !== 'tcp' || readEphemeralPorts().reused) return undefined;
  return 'one TCP connection per request would exhaust the ephemeral ports';
}

/**
 * @param {Record<string, any>} given
 * @param {Record<string, string>} addresses
 */
function requireTogether({ proxy, proxyBinary, setup, way: ways }, { redis }) {
  if (proxy !== undefined && proxyBinary !== undefined) {
    throw usageError('--proxy and --proxy-binary: one of them', 'the one is there, the other not');
  }
  const named = proxy !== undefined ? '--proxy' : '--proxy-binary';
  if (!ways.includes('proxied') && (proxy ?? proxyBinary) !== undefined) {
    throw usageError(`${named} and --way direct: nothing goes through it`, 'leave one of them out');
  }
  if (setup && (redis ?? proxy) !== undefined) {
    throw usageError('--setup starts servers, and --redis and --proxy name some', 'leave one out');
  }
}

/**
 * @param {Record<string, any>} given
 */
function requirePipeline({ pipeline, keepAlive, inFlight: clients, requests = Infinity }) {
  if (pipeline === 1) return;
  if (keepAlive.includes(false)) {
    throw usageError(
      `--pipeline ${pipeline}: one connection per request has one request in flight`,
      'add --keep-alive on (-k 1)',
    );
  }
  if (clients * pipeline > requests) {
    throw usageError(
      `${requests} requests of ${clients} clients, ${pipeline} in flight each`,
      `at least ${clients * pipeline}`,
    );
  }
}

/**
 * @param {string} given with commas between
 * @returns {string} the same in names of this list
 */
function namedTests(given) {
  const names = given.toUpperCase().split(',');
  const known = /** @type {Readonly<Record<string, readonly string[]>>} */ (TEST_ALIASES);
  return names.flatMap((name) => known[name.trim()] ?? [name]).join();
}

/**
 * @typedef {object} CommandList
 * @property {readonly string[]} tests
 * @property {readonly ('direct' | 'proxied')[]} way
 * @property {readonly ('tcp' | 'unix')[]} transport
 * @property {readonly boolean[]} keepAlive
 * @property {number} inFlight clients
 * @property {number} [pipeline] requests in flight per connection
 * @property {number} [requests] of every test; absent: REQUESTS_DEFAULT
 */

/**
 * @param {CommandList} list
 * @returns {{ parameters: import('../../lib/types.js').Parameters,
 *   loads: { kind: 'window', inFlight: number, operations: number }[] }[]} in the order in which
 *   they are run: those that are compared follow each other
 */
export function commandVariants(list) {
  const { tests, way: ways, transport: transports, keepAlive: kinds, requests } = list;
  const { inFlight: clients, pipeline = 1 } = list;
  const more = pipeline > 1 && { pipeline };
  return kinds.flatMap((keepAlive) =>
    tests.flatMap((test) =>
      transports.flatMap((transport) =>
        ways.map((way) => ({
          parameters: { test, way, transport, keepAlive, ...more },
          loads: [
            {
              kind: /** @type {const} */ ('window'),
              inFlight: clients * pipeline,
              operations: requests ?? requestsOf(test, keepAlive),
            },
          ],
        })),
      ),
    ),
  );
}

/**
 * @param {string} test
 * @param {boolean} kept
 */
export function requestsOf(test, kept) {
  if (!kept) return REQUESTS_DEFAULT.own;
  return test.startsWith('LRANGE') ? REQUESTS_DEFAULT.keptLong : REQUESTS_DEFAULT.kept;
}
