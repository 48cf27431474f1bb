/**
 * A relay in front of a server whose connections can be cut or frozen, to check how a storage
 * handles the loss of its server without affecting the server. Loopback only.
 */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */

export class Relay {
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set();
  /** Client sockets among these. @type {WeakSet<import('node:net').Socket>} */
  #near = new WeakSet();

  /** @param {Endpoint} endpoint endpoint of the server */
  constructor({ host, port, path }) {
    this.server = createServer((near) => {
      const far = path === undefined ? connect(Number(port), host) : connect(path);
      this.#near.add(near);
      for (const [source, other] of [
        [near, far],
        [far, near],
      ]) {
        this.#sockets.add(source);
        source.on('data', (chunk) => other.write(chunk));
        source.on('end', () => other.end());
        source.on('error', () => other.destroy());
        source.on('close', () => {
          this.#sockets.delete(source);
          other.destroy();
        });
      }
    });
  }

  /** @returns {Promise<{ host: string, port: number }>} listening port */
  async listen() {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.server.address());
    return { host: '127.0.0.1', port };
  }

  /**
   * Simulates a server that is killed and restarted immediately, so that a driver that reconnects
   * is detected.
   */
  cut() {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /**
   * Simulates a stopped server: nothing is forwarded, and only one buffer is read.
   * @returns {Promise<void>} resolves once a client has sent data
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
 * @returns {Promise<{ address: import('../../lib/types.js').Address, cut: () => void, freeze: () =>
 *   Promise<void>, close: () => void }>} the same endpoints, each behind a relay; freeze: resolves
 *   once a client has sent data
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
