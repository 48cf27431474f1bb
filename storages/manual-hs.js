/**
 * manual-hs, the seed's name: our own client of MariaDB's HandlerSocket plugin, in
 * storages/handlersocket/. Its index.value() gives the column itself, undefined for a miss.
 */

import { PLACES } from '../lib/dataset.js';
import { defineStorage } from '../lib/define.js';
import { opened, requireEndpoint, socketPlace } from './connection.js';

// One connection, as the other drivers have. A lost server has to be seen: nothing is sent again,
// nothing waits for a connection. The pending queue holds a burst of some million.
const OPTIONS = { connections: 1, maxRetries: 0, offlineTimeoutMs: 0, maxPending: 2 ** 24 };

/** A server that is stopped does not keep a close waiting. */
const CLOSE_LIMIT_MS = 2000;

export const storage = defineStorage({
  name: 'manual-hs',
  summary: "dragstrip's own HandlerSocket client",
  package: null,
  server: 'mariadb',
  protocol: 'handlersocket',
  capabilities: ['get'],
  profiles: {
    default: { summary: 'index.value by primary key, promises', options: OPTIONS },
    callbacks: { summary: 'the same with callbacks', options: OPTIONS, calls: 'callback' },
  },
  async open({ address, credentials, profile }) {
    const endpoint = requireEndpoint(address, 'read', 'manual-hs');
    const target = { storage: 'manual-hs', endpoint, credentials };
    const { HandlerSocketClient } = await import('./handlersocket/index.js');
    const client = new HandlerSocketClient({
      ...profile.options,
      ...socketPlace(endpoint),
      secret: credentials.secret,
    });
    const index = await opened(target, openIndex(client), () => client.destroy());
    return {
      get:
        profile.calls === 'callback'
          ? (id, done) => index.value(id, /** @type {any} */ (done))
          : (id) => index.value(id),
      close: () => client.close({ timeoutMs: CLOSE_LIMIT_MS }),
    };
  },
});

/**
 * @param {import('./handlersocket/client.js').HandlerSocketClient} client
 * @returns {Promise<import('./handlersocket/open-index.js').OpenIndex>}
 */
async function openIndex(client) {
  await client.connect();
  return client.openIndex({ database: PLACES.database, table: PLACES.table, columns: ['str'] });
}
