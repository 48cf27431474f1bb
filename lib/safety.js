/**
 * What must not happen by accident: rows written to a server that somebody else uses. Not a
 * firewall: it judges the address that the user gave, before anything connects to it.
 */

import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import { formatEndpoint, parseEndpoint } from './address.js';
import { refusedError, targetError } from './errors.js';

/** @typedef {import('./types.js').Endpoint} Endpoint */

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Passes an endpoint on this machine's loopback (a unix socket, an address, or a name all of whose
 * addresses are loopback), and one that the user allowed by name.
 * @param {Endpoint} endpoint
 * @param {readonly string[]} [allowTargets] `host:port` as the user wrote them in --allow-target
 * @param {string} [what] the server, for the message
 * @returns {Promise<void>}
 * @throws {import('./errors.js').DragstripError} E_REFUSED if it is elsewhere and not allowed,
 *   E_TARGET if its name has no address, E_USAGE if an allowed target is not an address
 */
export async function requireLoopback(endpoint, allowTargets = [], what = 'the server') {
  if (endpoint.path !== undefined) return;
  const name = formatEndpoint(endpoint).toLowerCase();
  for (const text of allowTargets) {
    if (formatEndpoint(parseEndpoint(text, '--allow-target')).toLowerCase() === name) return;
  }
  if (endpoint.host === 'localhost') return; // also where no hosts file says so
  const addresses = await resolve(endpoint.host, what, name);
  if (addresses.length > 0 && addresses.every(isLoopbackAddress)) return;
  throw refusedError(
    `${what} at ${name} is not on this machine's loopback: nothing is written there`,
    `if it is yours to fill, name it: --allow-target ${name}`,
  );
}

/** @param {string} host @param {string} what @param {string} name */
async function resolve(host, what, name) {
  try {
    const found = await lookup(host, { all: true });
    return found.map(({ address }) => address);
  } catch (error) {
    throw targetError(
      `${what} at ${name}: the name ${host} has no address (${error.code})`,
      'check the address',
      error,
    );
  }
}

/** @param {string} address an IP address; IPv4 mapped into IPv6 counts as what it maps */
function isLoopbackAddress(address) {
  return LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
