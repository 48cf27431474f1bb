/**
 * Allowed targets of a run on several machines: checked by the controller, and again by each agent
 * against its own list. The coordinator is never allowed.
 */

import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { formatEndpoint, formatPlace, isLoopback } from '../../lib/address.js';
import { readCredentials } from '../../lib/credentials.js';
import { refusedError } from '../../lib/errors.js';
import { requireLoopback } from '../../lib/safety.js';
import { tlsOptions } from '../../lib/tls.js';
import { monotonicNs } from './coordinator-clock.js';

const CONNECTS = 5;
const CONNECT_MS = 2000;

/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */

/**
 * An order contains names and options; anything that would load a file or start a program is
 * refused.
 * @param {import('../../engine/contender.js').ContenderSpec} spec
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED
 */
export function requireNames(spec) {
  const { opener, storage, wire, tasks } = spec;
  const names = [
    { what: 'storage', name: opener === 'wire' ? wire?.protocol : storage.storage },
    ...tasks.flatMap((task) => (task === null ? [] : { what: 'workload', name: task.workload })),
  ];
  const invalid = names.find(({ name }) => !/^[a-z0-9-]+$/i.test(String(name)));
  if (invalid !== undefined) {
    throw refusedError(
      `an order contains an invalid name of a ${invalid.what}`,
      'npx dragstrip list shows the names',
    );
  }
  const fields = /** @type {Record<string, unknown>} */ ({ ...storage, ...spec });
  const refused = ['driver', 'runtime', 'cpus'].find((name) => fields[name] !== undefined);
  const isKnown = opener === (wire === undefined ? 'storage' : 'wire');
  if (refused === undefined && isKnown) return;
  throw refusedError(
    `an order contains a ${refused ?? opener} of another machine`,
    'leave out the option',
  );
}

/**
 * Checks every endpoint of an order.
 * @param {Pick<import('./portable.js').Target, 'address' | 'others'>} target
 * @param {{ allowTargets: readonly string[], sameMachine: boolean }} own configuration of this
 *   agent
 * @returns {Promise<import('../../lib/types.js').Address>} the checked address, since a name may
 *   resolve differently later
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED: this server is not allowed
 */
export async function requireTarget({ address, others = [] }, { allowTargets, sameMachine }) {
  /** @type {import('../../lib/types.js').Address} */
  const checked = {};
  const further = others.flatMap((one) => Object.entries(one.address));
  for (const [key, endpoint] of [...further, ...Object.entries(address)]) {
    const name = formatPlace(endpoint);
    if (isLoopback(endpoint) && !sameMachine) {
      throw refusedError(
        `${name} is a loopback address, but this is not the machine of the controller`,
        'use an address of the server that all agents can reach',
      );
    }
    try {
      checked[key] = await requireLoopback(endpoint, allowTargets, 'the server');
    } catch (error) {
      if (error.code !== 'E_REFUSED') throw error;
      throw refusedError(
        `the server at ${name} is not among the targets of this agent`,
        `add a line ${name} to its --targets-file`,
      );
    }
  }
  const endpoints = Object.keys(address).map((key) => [key, checked[key]]);
  return Object.fromEntries(endpoints);
}

/** @param {Pick<import('./portable.js').Target, 'address' | 'others'>} target */
export function endpointsOf({ address, others = [] }) {
  return [address, ...others.map((one) => one.address)].flatMap((one) => Object.values(one));
}

/**
 * @param {Iterable<Endpoint>} endpoints endpoints of a server to measure
 * @param {Endpoint} coordinator
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED: it is the coordinator
 */
export function requireOther(endpoints, coordinator) {
  for (const endpoint of endpoints) {
    if (formatPlace(endpoint) === formatPlace(coordinator)) throw isCoordinator(endpoint);
  }
}

/** @param {Endpoint} endpoint */
function isCoordinator(endpoint) {
  return refusedError(
    `${formatEndpoint(endpoint)} is the coordinator, which cannot be measured`,
    'start a separate coordinator: npx dragstrip servers start coordinator',
  );
}

/**
 * A server may have several addresses; Redis reports its process.
 * @param {import('./portable.js').Target} target
 * @param {import('ioredis').Redis} coordinator
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED
 */
export async function requireOtherProcess({ address, credentialVariables }, coordinator) {
  const endpoint = address['main'];
  if (endpoint === undefined) return;
  const credentials = await readCredentials(credentialVariables);
  const client = new Redis({
    ...endpoint,
    tls: tlsOptions(endpoint) ?? undefined,
    username: credentials.user,
    password: credentials.password,
    lazyConnect: true,
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    connectTimeout: CONNECT_MS,
    commandTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const [own, other] = await Promise.all([runId(coordinator), runId(client)]);
    if (own !== null && own === other) throw isCoordinator(endpoint);
  } catch (error) {
    if (error.code === 'E_REFUSED') throw error;
    // A different protocol, or INFO is not permitted: not a coordinator, which replies to it.
  } finally {
    client.disconnect();
  }
}

/** @param {import('ioredis').Redis} client */
async function runId(client) {
  return /^run_id:(\S+)/m.exec(await client.info('server'))?.[1] ?? null;
}

/**
 * The network between this machine and a server: connecting takes one round trip.
 * @param {Endpoint} endpoint
 * @returns {Promise<number | null>} ns, the minimum of five; null: no reply
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
