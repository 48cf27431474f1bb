/**
 * Admission of a contender by an agent: one guard for all of its endpoints, with the credentials
 * and TLS files of this machine's configuration. An order contains a storage and addresses, but no
 * variables or files.
 */

import { resolveAddress } from '../../engine/addresses.js';
import { productsOf } from '../../engine/server-axis.js';
import { formatEndpoint, formatPlace } from '../../lib/address.js';
import { refusedError } from '../../lib/errors.js';
import { loadProtocol } from '../../limits/wire/protocol.js';
import { loadServer } from '../../servers/registry.js';
import { loadStorage } from '../../storages/index.js';
import { requireNames, requireTarget } from './allowed-targets.js';

/** The only storage without a server: it measures the harness itself. */
const OVERHEAD = 'memory';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {import('../../engine/contender.js').ContenderSpec} ContenderSpec */

/**
 * @param {ContenderSpec} spec spec of an order
 * @param {{ allowTargets: readonly string[], sameMachine: boolean, home: string }} agent
 *   configuration of this agent
 * @returns {Promise<ContenderSpec>} with checked addresses
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED
 */
export async function admit(spec, agent) {
  requireNames(spec);
  const { storage, wire } = spec;
  const server = await serverOf(spec);
  if (server === null) return spec;
  const endpoints = wire === undefined ? storage.address : { [server.endpoint]: wire.endpoint };
  const others = storage.others ?? [];
  const checked = await requireTarget({ address: endpoints, others }, agent);
  const { address, credentialVariables } = await withOwnFiles(server.name, checked, agent.home);
  const admitted = { ...storage, credentialVariables };
  if (wire === undefined) return { ...spec, storage: { ...admitted, address } };
  const endpoint = address[server.endpoint];
  return { ...spec, storage: { ...admitted, address: {} }, wire: { ...wire, endpoint } };
}

/**
 * @param {ContenderSpec} spec
 * @returns {Promise<{ name: string, endpoint: string } | null>} endpoint: server of a wire loop;
 *   null: none
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED: an embedded store, or no
 *   address
 */
async function serverOf({ storage, wire }) {
  if (wire !== undefined) {
    const { server, endpoint } = await loadProtocol(wire.protocol);
    return { name: server, endpoint };
  }
  const { server } = await loadStorage(storage.storage);
  const hasAddress = Object.keys(storage.address).length > 0;
  if (server !== null && hasAddress) return { name: server, endpoint: 'main' };
  if (storage.storage === OVERHEAD && !hasAddress) return null;
  throw refusedError(
    `the storage ${storage.storage} of an order has ${server === null ? 'no server' : 'no address'}`,
    'name storages with a server',
  );
}

/**
 * @param {string} kind name of a server
 * @param {Address} address
 * @param {string} home
 */
async function withOwnFiles(kind, address, home) {
  const { address: own, credentialVariables } = await findOwn(kind, address, home);
  const [files] = Object.values(own).flatMap(({ tls }) => tls ?? []);
  const endpoints = Object.entries(address).map(([name, endpoint]) => {
    if (endpoint.tls === undefined) return [name, endpoint];
    return [name, { ...endpoint, tls: { ...files, ...endpoint.tls } }];
  });
  return { address: /** @type {Address} */ (Object.fromEntries(endpoints)), credentialVariables };
}

/**
 * Like a command on this machine: a URL of the environment with this address, or the address alone.
 * @param {string} kind
 * @param {Address} address
 * @param {string} home
 */
async function findOwn(kind, address, home) {
  const places = Object.values(address).map(formatPlace);
  for (const product of productsOf(kind)) {
    const found = await resolveAddress(product, { home });
    const known = Object.values(found.address).map(formatPlace);
    const isIt = places.every((place) => known.includes(place));
    if (isIt && found.source !== 'default') return found;
  }
  const { endpoints } = await loadServer(kind);
  const named = Object.entries(endpoints).filter(([name]) => address[name] !== undefined);
  const flags = named.map(([name, { flag }]) => [flag, formatEndpoint(address[name])]);
  return resolveAddress(kind, { flags: Object.fromEntries(flags), home });
}
