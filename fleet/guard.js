/**
 * Which servers a run of several machines may load: decided where it is started, and once more by
 * each agent, from a list of its own. The coordinator is never among them.
 */

import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { formatEndpoint, formatPlace, isLoopback } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { refusedError } from '../lib/errors.js';
import { requireLoopback } from '../lib/safety.js';
import { tlsOptions } from '../lib/tls.js';
import { monotonicNs } from './clock.js';

const CONNECTS = 5;
const CONNECT_MS = 2000;

/** @typedef {import('../lib/types.js').Endpoint} Endpoint */
/** @typedef {import('../engine/benchmark.js').BenchmarkSpec} BenchmarkSpec */

/**
 * An order has names and options: what would have this machine load a file, or start another
 * program, is refused.
 * @param {{ storage?: unknown, workload?: unknown, driver?: unknown, runtime?: unknown,
 *   cpus?: unknown }} spec
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED
 */
export function requireNames({ storage, workload, ...programs }) {
  for (const [what, name] of Object.entries({ storage, workload })) {
    if (name === undefined || /^[a-z0-9-]+$/i.test(String(name))) continue;
    throw refusedError(
      `the ${what} of an order is no name of an installed one`,
      'npx dragstrip list names them',
    );
  }
  const found = ['driver', 'runtime', 'cpus'].find(
    (name) => /** @type {Record<string, unknown>} */ (programs)[name] !== undefined,
  );
  if (found === undefined) return;
  throw refusedError(`an order has a ${found} of another machine`, 'leave out the option');
}

/**
 * @param {Pick<BenchmarkSpec, 'address'>} spec
 * @param {{ allowTargets: readonly string[], sameMachine: boolean }} own of this agent
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: it does not load this server
 */
export async function requireTarget({ address }, { allowTargets, sameMachine }) {
  for (const endpoint of Object.values(address)) {
    const name = formatPlace(endpoint);
    if (isLoopback(endpoint) && !sameMachine) {
      throw refusedError(
        `${name} is this machine only where the race was started`,
        'name the server by an address that all agents reach',
      );
    }
    try {
      await requireLoopback(endpoint, allowTargets, 'the server');
    } catch (error) {
      if (error.code !== 'E_REFUSED') throw error;
      throw refusedError(
        `the server at ${name} is not among the targets of this agent`,
        `add a line ${name} to its --targets-file`,
      );
    }
  }
}

/**
 * @param {Iterable<Endpoint>} endpoints of a server that is to be measured
 * @param {Endpoint} coordinator
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: it is the coordinator
 */
export function requireOther(endpoints, coordinator) {
  for (const endpoint of endpoints) {
    if (formatPlace(endpoint) === formatPlace(coordinator)) throw isCoordinator(endpoint);
  }
}

/** @param {Endpoint} endpoint */
function isCoordinator(endpoint) {
  return refusedError(
    `${formatEndpoint(endpoint)} is the coordinator: it is never measured`,
    'start a coordinator of its own: npx dragstrip servers start coordinator',
  );
}

/**
 * The same server may be reached by two addresses: a Redis tells which process it is.
 * @param {Pick<BenchmarkSpec, 'address' | 'credentialVariables'>} spec
 * @param {import('ioredis').Redis} coordinator
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED
 */
export async function requireOtherProcess({ address, credentialVariables }, coordinator) {
  const endpoint = address['main'];
  if (endpoint === undefined) return;
  const credentials = await readCredentials(credentialVariables);
  const client = new Redis({
    ...endpoint,
    tls: tlsOptions(endpoint) ?? undefined,
    ...{ username: credentials.user, password: credentials.password, lazyConnect: true },
    ...{ protocol: 2, disableClientInfo: true, enableReadyCheck: false, retryStrategy: () => null },
    ...{ connectTimeout: CONNECT_MS, commandTimeout: CONNECT_MS, maxRetriesPerRequest: 0 },
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const [own, other] = await Promise.all([runId(coordinator), runId(client)]);
    if (own !== null && own === other) throw isCoordinator(endpoint);
  } catch (error) {
    if (error.code === 'E_REFUSED') throw error;
    // Another protocol, or INFO is not allowed: a coordinator answers it.
  } finally {
    client.disconnect();
  }
}

/** @param {import('ioredis').Redis} client */
async function runId(client) {
  return /^run_id:(\S+)/m.exec(await client.info('server'))?.[1] ?? null;
}

/**
 * The network between this machine and a server: opening a connection takes one round trip.
 * @param {Endpoint} endpoint
 * @returns {Promise<number | null>} ns, the smallest of five; null: it does not answer
 */
export async function roundTripOf(endpoint) {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < CONNECTS; i += 1) {
    const ns = await connectOnce(endpoint);
    if (ns !== null && ns < best) best = ns;
  }
  return Number.isFinite(best) ? best : null;
}

/** @param {Endpoint} endpoint @returns {Promise<number | null>} */
function connectOnce(endpoint) {
  return new Promise((resolve) => {
    const startNs = monotonicNs();
    const socket = connect(/** @type {any} */ (endpoint));
    const end = (/** @type {number | null} */ value) => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(CONNECT_MS, () => end(null));
    socket.on('error', () => end(null));
    socket.on('connect', () => end(monotonicNs() - startNs));
  });
}
