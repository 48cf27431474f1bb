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
  capabilities: ['get', 'set'],
  profiles: {
    default: { summary: 'index.value by primary key, promises', options: OPTIONS },
    callbacks: { summary: 'the same with callbacks', options: OPTIONS, calls: 'callback' },
  },
  async open({ address, credentials, profile, writes = false }) {
    const endpoint = requireEndpoint(address, 'read', 'manual-hs');
    const target = { storage: 'manual-hs', endpoint, credentials };
    const { HandlerSocketClient } = await import('./handlersocket/index.js');
    const client = new HandlerSocketClient({
      ...profile.options,
      ...socketPlace(endpoint),
      secret: credentials.secret,
      ...(writes && writePlace(address, credentials)),
    });
    const index = await opened(target, openIndex(client), () => client.destroy());
    const set = (/** @type {number} */ id, /** @type {string} */ text) =>
      index.update('=', id, [text]);
    return {
      get:
        profile.calls === 'callback'
          ? (id, done) => index.value(id, /** @type {any} */ (done))
          : (id) => index.value(id),
      set: profile.calls === 'callback' ? withCallback(set) : set,
      stored,
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

/** @param {number} reply rows found, also those that had the value already */
const stored = (reply) => reply === 1;

/**
 * @param {import('../lib/types.js').Address} address
 * @param {import('../lib/types.js').Credentials} credentials
 */
function writePlace(address, { writeSecret }) {
  const { port, path } = requireEndpoint(address, 'write', 'manual-hs');
  const place = path === undefined ? { writePort: port } : { writePath: path };
  return { ...place, writeSecret };
}

/**
 * The client's changes have promises only.
 * @param {(id: number, text: string) => Promise<number>} set
 * @returns {NonNullable<import('../lib/types.js').Handle['set']>}
 */
function withCallback(set) {
  return (id, text, done = () => {}) => {
    set(id, text).then((rows) => done(null, rows), done);
  };
}
