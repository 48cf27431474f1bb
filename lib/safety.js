/**
 * Prevents accidental writes to other people's servers. Not a firewall: it checks the address given
 * by the user before anything connects to it.
 */

import dns from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import { formatPlace, isLoopback, parseEndpoint } from './address.js';
import { refusedError, targetError } from './errors.js';

/** @typedef {import('./types.js').Endpoint} Endpoint */

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Accepts endpoints on loopback (a unix socket, an address, or a name that resolves to loopback
 * addresses only) and those that the user allowed.
 * @param {Endpoint} endpoint
 * @param {readonly string[]} [allowTargets] `host:port` as given by --allow-target
 * @param {string} [what] name of the server, for the message
 * @returns {Promise<Endpoint>} endpoint to connect to: a name is replaced by the checked address,
 *   since it may resolve differently later; an allowed name stays
 * @throws {import('./errors.js').DragstripError} E_REFUSED: neither local nor allowed; E_TARGET:
 *   its name does not resolve; E_USAGE: an allowed target is not an address
 */
export async function requireLoopback(endpoint, allowTargets = [], what = 'the server') {
  if (endpoint.path !== undefined) return endpoint;
  const name = formatPlace(endpoint).toLowerCase();
  for (const text of allowTargets) {
    if (formatPlace(parseEndpoint(text, '--allow-target')).toLowerCase() === name) return endpoint;
  }
  if (endpoint.host === 'localhost') return endpoint; // even without a hosts file
  const addresses = await resolve(endpoint.host, what, name);
  if (addresses.length > 0 && addresses.every(isLoopbackAddress)) {
    return { ...endpoint, host: addresses[0] };
  }
  throw refusedError(
    `${what} at ${name} is not on this machine, so Dragstrip does not write to it`,
    `to allow writing to it, use --allow-target ${name}`,
  );
}

/**
 * Accepts an address announced by a server, such as a node of a cluster, if it is on loopback or
 * allowed. A name that resolves to loopback now is not accepted, since a driver resolves it again.
 * @param {{ host: string, port: number }} node
 * @param {readonly Endpoint[]} allowed checked or allowed earlier
 * @param {string} what name of the server, for the message
 * @throws {import('./errors.js').DragstripError} E_REFUSED
 */
export function requireAnnounced(node, allowed, what) {
  const name = formatPlace(node).toLowerCase();
  if (isLoopback(node) || allowed.some((one) => formatPlace(one).toLowerCase() === name)) return;
  throw refusedError(
    `${what} announces a node at ${name}, which is not on this machine, so Dragstrip does not connect to it`,
    `to allow it, use --allow-target ${name}`,
  );
}

/** @param {string} host @param {string} what @param {string} name */
async function resolve(host, what, name) {
  try {
    const found = await dns.lookup(host, { all: true });
    return found.map(({ address }) => address);
  } catch (error) {
    throw targetError(
      `${what} at ${name}: the name ${host} does not resolve (${error.code})`,
      'check the address',
      error,
    );
  }
}

/** @param {string} address an IP address, possibly IPv4 mapped into IPv6 */
function isLoopbackAddress(address) {
  return LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
