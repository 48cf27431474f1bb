/**
 * What cluster clients share: the nodes that they begin with, the guard over those that they are
 * sent to, and the count of redirections. Not for anything on the way of an operation.
 */

import { requireAnnounced } from '../lib/safety.js';
import { requireEndpoint } from './connection.js';

/** @typedef {import('../lib/types.js').Address} Address */

/**
 * @param {Address} address
 * @param {string} storage for the message
 * @returns {{ host: string, port: number }[]} every known node, so that any of them may be down;
 *   over TLS only the one with TLS: the others announce themselves
 */
export function knownNodes(address, storage) {
  const main = requireEndpoint(address, 'main', storage);
  const alike = Object.entries(address).filter(
    ([name, { tls }]) => name !== 'tls' && (tls === undefined) === (main.tls === undefined),
  );
  return alike.flatMap(([, { host, port }]) => (host === undefined ? [] : [{ host, port }]));
}

/**
 * A cluster tells its clients where the slots are, also in the middle of a run. Only addresses that
 * passed the target guard, and those of loopback, are dialled.
 * @param {Address} address
 * @param {string} storage
 * @returns {(place: string) => void} throws E_REFUSED for another
 */
export function nodeGuard(address, storage) {
  const allowed = Object.values(address);
  return (place) => {
    const colon = place.lastIndexOf(':');
    const host = place.slice(0, colon).replace(/^\[|\]$/g, '');
    requireAnnounced({ host, port: Number(place.slice(colon + 1)) }, allowed, storage);
  };
}

/** Errors by which a cluster sends a client elsewhere, or makes it wait. */
const KINDS = Object.freeze({
  MOVED: 'moved',
  ASK: 'ask',
  TRYAGAIN: 'tryAgain',
  CLUSTERDOWN: 'clusterDown',
});

/**
 * @returns {{ counts: Record<string, number>, see(message: string): void }} see: takes the text of
 *   each error that the driver handled itself
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
