/**
 * Plan of `dragstrip commands`: its options, and the variants of a list of tests. Pure; the tests
 * are defined in workloads/commands/tests.js.
 */

import { readEphemeralPorts } from '../../lib/ephemeral-ports.js';
import { usageError } from '../../lib/errors.js';
import { choice, choices, count, flag, reading, takeOption, text } from '../../lib/options.js';
import { addressOptions, redisAddress } from '../redis-address.js';
import { TEST_NAMES } from './tests.js';

/** Requests of a test: enough for some tenths of a second. */
export const REQUESTS_DEFAULT = Object.freeze({
  kept: 20_000,
  /** replies with some hundred elements take ten times as long */
  keptLong: 4000,
  own: 2000,
});
const { kept, keptLong, own: perRequest } = REQUESTS_DEFAULT;
const ROUTES = Object.freeze({
  direct: ['direct'],
  proxied: ['proxied'],
  both: ['direct', 'proxied'],
});
const TRANSPORTS = Object.freeze({ tcp: ['tcp'], unix: ['unix'], both: ['tcp', 'unix'] });
/** 1 and 0 are redis-benchmark's values. */
const KEEP_ALIVE = Object.freeze({
  on: [true],
  off: [false],
  both: [true, false],
  1: [true],
  0: [false],
});
const PIPELINE_MAX = 1000;
/** Aliases of redis-benchmark's own -t. */
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
    flag: 'ops',
    also: ['-n', '--requests'],
    help: 'requests of each test',
    shown: `${kept}; LRANGE: ${keptLong}; without keep-alive: ${perRequest}`,
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
    value: '<mode>',
    help: 'persistent connections (on, 1), one per request (off, 0), or both',
  }),
  route: choice(ROUTES, ROUTES.both, {
    value: '<route>',
    help: 'direct, proxied, or both',
  }),
  transport: choice(TRANSPORTS, TRANSPORTS.both, {
    value: '<transport>',
    help: 'tcp, unix (sockets), or both',
  }),
  ...addressOptions,
  socket: text({
    also: ['-s'],
    value: '<path>',
    help: 'Redis’ unix socket; without host and port only it is used, as by redis-benchmark',
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
  tool: choice(['redis', 'valkey', 'none'], 'redis', {
    help: 'compare with redis-benchmark (redis), valkey-benchmark (valkey) or none',
  }),
  redisBenchmark: text({
    isFlag: false,
    help: 'version of redis-benchmark, detected from the environment',
  }),
  lines: flag({
    also: ['-q'],
    help: 'print one line per test, as redis-benchmark -q does, and no tables',
  }),
  redisCsv: flag({ help: 'print the columns of redis-benchmark --csv, and no tables' }),
  setup: flag({ help: 'fetch, start and fill the required servers first; stop them afterwards' }),
});

export const shared = Object.freeze({
  storages: {
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
 * @param {Record<string, any>} planOptions
 * @param {import('../../lib/types.js').PlanContext} context
 * @returns {import('../../lib/types.js').WorkloadPlan}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function plan(planOptions, { addresses: named = {} }) {
  const { requests, inFlight: clients, keyspace, dataSize, redisBenchmark, proxy } = planOptions;
  const addresses = redisAddress(planOptions, named);
  requireTogether(planOptions, addresses);
  requirePipeline(planOptions);
  if (requests !== undefined && requests < clients) {
    throw usageError(`${requests} requests for ${clients} clients`, 'use at least one per client');
  }
  const list = /** @type {CommandList} */ (planOptions);
  return {
    variants: commandVariants(list).map(({ parameters, loads }) => {
      const whole = requests ? '--ops fixes the amount' : whyWhole(parameters);
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
 * @returns {string | undefined} reason why a variant is not run in blocks
 */
function whyWhole({ keepAlive, transport }) {
  if (keepAlive || transport !== 'tcp' || readEphemeralPorts().reused) return undefined;
  return 'one TCP connection per request would exhaust the ephemeral ports';
}

/**
 * @param {Record<string, any>} given
 * @param {Record<string, string>} addresses
 */
function requireTogether({ proxy, proxyBinary, setup, route: routes }, { redis }) {
  if (proxy !== undefined && proxyBinary !== undefined) {
    throw usageError('--proxy and --proxy-binary cannot be combined', 'leave one out');
  }
  const named = proxy !== undefined ? '--proxy' : '--proxy-binary';
  if (!routes.includes('proxied') && (proxy ?? proxyBinary) !== undefined) {
    throw usageError(`${named} and --route direct cannot be combined`, 'leave out --route');
  }
  if (setup && (redis ?? proxy) !== undefined) {
    throw usageError(
      '--setup cannot be combined with --redis, --host, --port, --socket or --proxy',
      'leave one out',
    );
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
      `${requests} requests for ${clients} clients with ${pipeline} in flight each`,
      `use at least ${clients * pipeline}`,
    );
  }
}

/**
 * @param {string} given comma-separated names
 * @returns {string} the same tests with the names of this list
 */
function namedTests(given) {
  const names = given.toUpperCase().split(',');
  const known = /** @type {Readonly<Record<string, readonly string[]>>} */ (TEST_ALIASES);
  return names.flatMap((name) => known[name.trim()] ?? [name]).join();
}

/**
 * @typedef {object} CommandList
 * @property {readonly string[]} tests
 * @property {readonly ('direct' | 'proxied')[]} route
 * @property {readonly ('tcp' | 'unix')[]} transport
 * @property {readonly boolean[]} keepAlive
 * @property {number} inFlight clients
 * @property {number} [pipeline] requests in flight per connection
 * @property {number} [requests] requests of every test; absent: REQUESTS_DEFAULT
 */

/**
 * @param {CommandList} list
 * @returns {{ parameters: import('../../lib/types.js').Parameters, loads: { kind: 'window',
 *   inFlight: number, operations: number }[] }[]} in the order of execution: compared variants are
 *   adjacent
 */
export function commandVariants(list) {
  const { tests, route: routes, transport: transports, keepAlive: kinds, requests } = list;
  const { inFlight: clients, pipeline = 1 } = list;
  const more = pipeline > 1 && { pipeline };
  return kinds.flatMap((keepAlive) =>
    tests.flatMap((test) =>
      transports.flatMap((transport) =>
        routes.map((way) => ({
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
