/**
 * What a run of the command list is asked for beside its variants, and the variants of a list of
 * tests. Pure; what a test is, is workloads/commands/tests.js.
 */

import { count, text } from '../../lib/options.js';

/** Requests of a test: enough for some tenths of a second. */
export const REQUESTS_DEFAULT = Object.freeze({
  kept: 20_000,
  /** replies of some hundred elements take ten times as long */
  keptLong: 4000,
  own: 2000,
});
export const REQUESTS_MAX = 1_000_000;
export const CLIENTS_MAX = 5000;
export const KEYSPACE_MAX = 100_000;
export const DATA_SIZE_MAX = 65_536;

/** @type {import('../../lib/options.js').OptionTable} */
export const options = Object.freeze({
  clients: count(1, CLIENTS_MAX, 50, { help: 'connections, each with one request in flight' }),
  keyspace: count(1, KEYSPACE_MAX, 50, {
    help: 'keys, counters and members that are drawn from',
  }),
  dataSize: count(1, DATA_SIZE_MAX, 3, { help: 'characters of a value' }),
  redisBenchmark: text({
    help: 'version of the redis-benchmark that runs beside; which one, says the environment',
  }),
});

/** @type {NonNullable<import('../../lib/types.js').WorkloadDefinition['plan']>} */
export function plan({ clients, keyspace, dataSize, redisBenchmark }) {
  const commands = { clients, keyspace, dataSize, ...(redisBenchmark && { redisBenchmark }) };
  return { workload: { workloadOptions: { commands } } };
}

/**
 * @typedef {object} CommandList
 * @property {readonly string[]} tests
 * @property {readonly ('direct' | 'proxied')[]} ways
 * @property {readonly ('tcp' | 'unix')[]} transports
 * @property {readonly boolean[]} keepAlive
 * @property {number} clients
 * @property {number} [requests] of every test; absent: REQUESTS_DEFAULT
 */

/**
 * @param {CommandList} list
 * @returns {{ parameters: import('../../lib/types.js').Parameters,
 *   loads: { kind: 'window', inFlight: number, operations: number }[] }[]} in the order in which
 *   they are run: those that are compared follow each other
 */
export function commandVariants({ tests, ways, transports, keepAlive, clients, requests }) {
  return keepAlive.flatMap((kept) =>
    tests.flatMap((test) =>
      transports.flatMap((transport) =>
        ways.map((way) => ({
          parameters: { test, way, transport, keepAlive: kept },
          loads: [
            {
              kind: /** @type {const} */ ('window'),
              inFlight: clients,
              operations: requests ?? requestsOf(test, kept),
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
function requestsOf(test, kept) {
  if (!kept) return REQUESTS_DEFAULT.own;
  return test.startsWith('LRANGE') ? REQUESTS_DEFAULT.keptLong : REQUESTS_DEFAULT.kept;
}
