/**
 * Shared parts of cluster clients: the initial nodes, the guard of announced nodes, and the count
 * of redirections. Not for the path of an operation.
 */

import { requireAnnounced } from '../lib/safety.js';
import { requireEndpoint } from './connection.js';

/** @typedef {import('../lib/types.js').Address} Address */

/**
 * @param {Address} address
 * @param {string} storage for the message
 * @returns {{ host: string, port: number }[]} every known node, so that any of them may be down;
 *   with TLS only the one with TLS, since the others are announced
 */
export function knownNodes(address, storage) {
  const main = requireEndpoint(address, 'main', storage);
  const alike = Object.entries(address).filter(
    ([name, { tls }]) => name !== 'tls' && (tls === undefined) === (main.tls === undefined),
  );
  return alike.flatMap(([, { host, port }]) => (host === undefined ? [] : [{ host, port }]));
}

/**
 * A cluster announces the nodes of its slots to clients, also during a run. Connections are limited
 * to addresses that passed the target guard, and loopback.
 * @param {Address} address
 * @param {string} storage
 * @returns {(place: string) => void} function that throws E_REFUSED for other addresses
 */
export function nodeGuard(address, storage) {
  const allowed = Object.values(address);
  return (place) => {
    const colon = place.lastIndexOf(':');
    const host = place.slice(0, colon).replace(/^\[|\]$/g, '');
    requireAnnounced({ host, port: Number(place.slice(colon + 1)) }, allowed, storage);
  };
}

/** Errors of a cluster that redirect or delay a client. */
const KINDS = Object.freeze({
  MOVED: 'moved',
  ASK: 'ask',
  TRYAGAIN: 'tryAgain',
  CLUSTERDOWN: 'clusterDown',
});

/**
 * @returns {{ counts: Record<string, number>, see(message: string): void }} see: receives the text
 *   of each error handled by the driver
 */
export function countRedirects() {
  /** @type {Record<string, number>} */
  const counts = Object.fromEntries(Object.values(KINDS).map((name) => [name, 0]));
  return {
    counts,
    see(message) {
      const kind = KINDS[/** @type {keyof typeof KINDS} */ (message.split(' ', 1)[0])];
      if (kind !== undefined) counts[kind] += 1;
    },
  };
}
