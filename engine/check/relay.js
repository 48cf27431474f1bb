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

  /** @param {Endpoint} endpoint of the server */
  constructor({ host, port, path }) {
    this.server = createServer((near) => {
      const far = path === undefined ? connect(Number(port), host) : connect(path);
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

  /** As a server that is stopped: nothing is read any more. */
  freeze() {
    for (const socket of this.#sockets) socket.pause().removeAllListeners('data');
  }

  close() {
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/**
 * @param {import('../../lib/types.js').Address} address
 * @returns {Promise<{ address: import('../../lib/types.js').Address, cut: () => void,
 *   freeze: () => void, close: () => void }>} the same endpoints, each behind a relay
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
  const all = (/** @type {'cut' | 'freeze' | 'close'} */ action) => () => {
    for (const relay of relays) relay[action]();
  };
  return { address: near, cut: all('cut'), freeze: all('freeze'), close: all('close') };
}
