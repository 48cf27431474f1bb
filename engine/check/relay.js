/**
 * A relay in front of a server, whose connections can be cut or frozen: how a storage takes the
 * loss of its server, without touching the server itself. On loopback only.
 */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */

export class Relay {
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set();
  /** Of these, those of clients. @type {WeakSet<import('node:net').Socket>} */
  #near = new WeakSet();

  /** @param {Endpoint} endpoint of the server */
  constructor({ host, port, path }) {
    this.server = createServer((near) => {
      const far = path === undefined ? connect(Number(port), host) : connect(path);
      this.#near.add(near);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ]) {
        this.#sockets.add(one);
        one.on('data', (chunk) => other.write(chunk));
        one.on('end', () => other.end());
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      }
    });
  }

  /** @returns {Promise<{ host: string, port: number }>} where it listens */
  async listen() {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    return { host: '127.0.0.1', port };
  }

  /** As a server that is killed and up again at once: a driver that reconnects shows. */
  cut() {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /**
   * As a server that is stopped: nothing is passed on, and nothing read but what a buffer holds.
   * @returns {Promise<void>} resolves once a client has sent something since
   */
  freeze() {
    for (const socket of this.#sockets) socket.pause().removeAllListeners('data');
    return new Promise((resolve) => {
      for (const socket of this.#sockets) {
        if (this.#near.has(socket)) socket.once('readable', () => resolve());
      }
    });
  }

  close() {
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/**
 * @param {import('../../lib/types.js').Address} address
 * @returns {Promise<{ address: import('../../lib/types.js').Address, cut: () => void,
 *   freeze: () => Promise<void>, close: () => void }>} the same endpoints, each behind a relay;
 *   freeze: resolves once a client has sent something since
 */
export async function relayTo(address) {
  /** @type {import('../../lib/types.js').Address} */
  const near = {};
  /** @type {Relay[]} */
  const relays = [];
  for (const [name, endpoint] of Object.entries(address)) {
    const relay = new Relay(endpoint);
    relays.push(relay);
    const { db, tls } = endpoint;
    near[name] = { ...(await relay.listen()), ...(db && { db }), ...(tls && { tls }) };
  }
  const all = (/** @type {'cut' | 'close'} */ action) => () => {
    for (const relay of relays) relay[action]();
  };
  const freeze = () => Promise.race(relays.map((relay) => relay.freeze()));
  return { address: near, cut: all('cut'), freeze, close: all('close') };
}
