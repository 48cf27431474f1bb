/**
 * Commands of any name over connections of node-redis, for workloads that count connections. RESP2
 * and no handshake beyond the login, as proxies want it. Inline commands it cannot send.
 */

import { coded, opened, requireEndpoint, socketPlace } from '../connection.js';

const PLAIN = { RESP: /** @type {const} */ (2), disableClientInfo: true };

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @returns {Promise<NonNullable<import('../../lib/types.js').Handle['connect']>>}
 */
export async function redisConnector({ address, credentials, profile }) {
  const { createClient } = await import('redis');
  const { call: _get, socket, ...options } = /** @type {any} */ (profile.options);
  return async (name) => {
    const endpoint = requireEndpoint(address, name, 'redis');
    const client = createClient({
      ...options,
      ...PLAIN,
      username: credentials.user,
      password: credentials.password,
      socket: { ...socket, ...socketPlace(endpoint) },
      ...(endpoint.db && { database: endpoint.db }),
    });
    const failed = new Promise((_resolve, reject) => {
      // The same object rejects whatever was in flight; its class has no code.
      client.on('error', (error) => reject(coded(error)));
    });
    failed.catch(() => {}); // also the errors of later, which the requests tell of
    const target = { storage: 'redis', endpoint, credentials };
    await opened(target, Promise.race([client.connect(), failed]), () => client.destroy());
    return {
      send: (words) => client.sendCommand(words),
      async close() {
        if (client.isOpen) client.destroy();
      },
    };
  };
}
