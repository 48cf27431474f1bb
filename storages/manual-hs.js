/**
 * manual-hs, a name of the original program: dragstrip-handlersocket, the client of MariaDB's
 * HandlerSocket plugin in packages/handlersocket/. Its index.value() returns the column, undefined
 * for a miss.
 */

import { defineStorage } from '../lib/define.js';
import { openOrThrow, targetOf } from './connection.js';
import {
  createClient,
  HANDLERSOCKET_INSERTS,
  openHandlerSocketInserter,
} from './inserts/handlersocket.js';

/** @typedef {import('../packages/handlersocket/open-index.js').OpenIndex} OpenIndex */

// One connection, like the other drivers. A lost server must be visible, so there are no retries
// and no waits for a connection. The pending queue is large enough for a burst of some million.
const OPTIONS = { connections: 1, maxRetries: 0, offlineTimeoutMs: 0, maxPending: 2 ** 24 };

/** A stopped server must not delay close. */
const CLOSE_LIMIT_MS = 2000;

export const storage = defineStorage({
  name: 'manual-hs',
  summary: "dragstrip's own HandlerSocket client",
  package: null,
  server: 'mariadb',
  protocol: 'handlersocket',
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
  inserts: HANDLERSOCKET_INSERTS,
  profiles: {
    default: { summary: 'index.value by primary key, promises', options: OPTIONS },
    callbacks: { summary: 'the same with callbacks', options: OPTIONS, calls: 'callback' },
  },
  open: { rows: openRows, insert: openHandlerSocketInserter },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const { profile, writes = false, names } = context;
  const target = targetOf(context, 'read', 'manual-hs');
  const client = await createClient(context, target, writes);
  const [index, pairs] = await openOrThrow(target, openIndexes(client, names), () =>
    client.destroy(),
  );
  const list = (/** @type {readonly number[]} */ ids) => ({ in: { values: ids } });
  const set = (/** @type {number} */ id, /** @type {string} */ text) =>
    index.update('=', id, [text]);
  return {
    get: (id, /** @type {any} */ done) => index.value(id, done),
    // The key is ignored, since the list replaces it.
    mget: (ids, /** @type {any} */ done) => pairs.find('=', 0, list(ids), done),
    values,
    set: profile.calls === 'callback' ? withCallback(set) : set,
    stored,
    ...changesOf(index, pairs, profile.calls === 'callback'),
    close: () => client.close({ timeoutMs: CLOSE_LIMIT_MS }),
  };
}

/**
 * @param {import('../packages/handlersocket/client.js').HandlerSocketClient} client
 * @param {import('../lib/types.js').NamespaceNames} names
 * @returns {Promise<OpenIndex[]>} one of values, and one of ids and values: a list of keys omits
 *   missing rows, so rows include their id
 */
async function openIndexes(client, { database, table }) {
  await client.connect();
  const types = /** @type {const} */ ({ id: 'number', str: 'utf8' });
  return Promise.all([
    client.openIndex({ database, table, columns: ['str'] }),
    client.openIndex({ database, table, columns: ['id', 'str'], types }),
  ]);
}

/**
 * @param {any[]} reply rows of [id, str]
 * @param {readonly number[]} ids
 * @returns {(string | undefined)[]}
 */
function values(reply, ids) {
  if (reply.length === ids.length && reply.every(([id], i) => id === ids[i])) {
    return reply.map(([, text]) => text);
  }
  const byId = new Map(reply);
  return ids.map((id) => byId.get(id));
}

/**
 * @param {OpenIndex} index index of values
 * @param {OpenIndex} pairs pairs of ids and values
 * @param {boolean} byCallback
 * @returns {Partial<import('../lib/types.js').RowsHandle>}
 */
function changesOf(index, pairs, byCallback) {
  const add = (/** @type {number} */ id, /** @type {string} */ text) => pairs.insert([id, text]);
  const del = (/** @type {number} */ id) => index.remove('=', id);
  return {
    add: byCallback ? withCallback(add) : add,
    del: byCallback ? (id, done = () => {}) => void del(id).then((n) => done(null, n), done) : del,
    deleted: (reply) => reply === 1,
    scan: (first, limit, /** @type {any} */ done) => pairs.find('>=', first, { limit }, done),
  };
}

/** @param {number} reply rows found, including those that already had the value */
const stored = (reply) => reply === 1;

/**
 * The client's changes have promises only.
 * @param {(id: number, text: string) => Promise<any>} set
 * @returns {NonNullable<import('../lib/types.js').RowsHandle['set']>}
 */
function withCallback(set) {
  return (id, text, done = () => {}) => {
    set(id, text).then((rows) => done(null, rows), done);
  };
}
