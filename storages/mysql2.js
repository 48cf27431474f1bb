/** mysql2 on MariaDB or MySQL: SQL, as a yardstick of what HandlerSocket saves. */

import { PLACES } from '../lib/dataset.js';
import { defineStorage } from '../lib/define.js';
import { coded, loseHandle, onLoss, opened, requireEndpoint, watchLoss } from './connection.js';

const SQL = `select str from ${PLACES.table} where id=?`;
const UPDATE = `update ${PLACES.table} set str=? where id=?`;

// The driver's own 10 s are longer than an open may take here.
const BOUNDED = { connectTimeout: 5000 };

/** @param {[any[]]} reply rows and fields, as the promise interface gives them */
const value = (reply) => (reply[0].length === 0 ? undefined : reply[0][0].str);
// The driver asks for the rows found (CLIENT_FOUND_ROWS): also those that had the value already.
/** @param {[any]} reply */
const stored = (reply) => reply[0].affectedRows === 1;

export const storage = defineStorage({
  name: 'mysql2',
  summary: 'mysql2, prepared statements over SQL',
  package: 'mysql2',
  server: 'mariadb',
  protocol: 'mysql',
  capabilities: ['get', 'set'],
  profiles: {
    default: { summary: 'one connection, execute', options: { connections: 1, ...BOUNDED } },
    tuned: {
      summary: 'its pool of 4 connections, execute',
      options: { connections: 4, pool: { connectionLimit: 4 }, ...BOUNDED },
    },
  },
  async open({ address, credentials, profile }) {
    const endpoint = requireEndpoint(address, 'sql', 'mysql2');
    const target = { storage: 'mysql2', endpoint, credentials };
    const { default: mysql } = await import('mysql2/promise');
    const place =
      endpoint.path === undefined
        ? { host: endpoint.host, port: endpoint.port }
        : { socketPath: endpoint.path };
    const options = {
      ...place,
      user: credentials.user ?? 'root',
      password: credentials.password,
      database: PLACES.database,
      ...BOUNDED,
    };
    const { pool } = /** @type {any} */ (profile.options);
    return pool === undefined
      ? openConnection(mysql, target, options)
      : openPool(mysql, target, { ...options, ...pool });
  },
});

/**
 * @param {any} mysql
 * @param {Parameters<typeof opened>[0]} target
 * @param {Record<string, unknown>} options
 * @returns {Promise<import('../lib/types.js').Handle>}
 */
async function openConnection(mysql, target, options) {
  const connection = await opened(target, mysql.createConnection(options), () => {});
  connection.on('error', coded);
  // Prepares the statement, so that the first read does not pay a round trip more.
  await opened(target, connection.execute(SQL, [0]), () => connection.destroy());
  return watchLoss(connection.connection.stream, {
    get: (id) => connection.execute(SQL, [id]),
    value,
    set: (id, text) => connection.execute(UPDATE, [text, id]),
    stored,
    async close() {
      abort(connection.connection, closedError());
    },
  });
}

/**
 * @param {any} mysql
 * @param {Parameters<typeof opened>[0]} target
 * @param {Record<string, unknown>} options
 * @returns {Promise<import('../lib/types.js').Handle>}
 */
async function openPool(mysql, target, options) {
  const { promisePool, pool } = createPool(mysql, options);
  const warm = Promise.all(
    Array.from({ length: Number(options['connectionLimit']) }, () => promisePool.execute(SQL, [0])),
  );
  await opened(target, warm, () => abortPool(pool, closedError()));
  /** @type {import('../lib/types.js').Handle} */
  const handle = {
    get: (id) => promisePool.execute(SQL, [id]),
    value,
    set: (id, text) => promisePool.execute(UPDATE, [text, id]),
    stored,
    async close() {
      loseHandle(handle, closedError());
      abortPool(pool, closedError());
    },
  };
  // From here on a lost connection ends the pool: it would quietly make a new one.
  for (const { stream } of connectionsOf(pool)) {
    onLoss(stream, (error) => {
      loseHandle(handle, error);
      abortPool(pool, error);
    });
  }
  return handle;
}

/**
 * @param {any} mysql
 * @param {Record<string, unknown>} options
 */
function createPool(mysql, options) {
  const promisePool = mysql.createPool(options);
  const { pool } = promisePool;
  // The driver listens once to each; a second error event would be thrown out of the event loop.
  pool.on('connection', (/** @type {any} */ connection) => connection.on('error', coded));
  return { promisePool, pool };
}

function closedError() {
  return coded(new Error('the connection was closed'));
}

/**
 * The driver's destroy() and end() leave what waits for replies pending for ever, or wait for a
 * server that may be stopped. Its own way of rejecting them has no public name.
 * @param {any} connection of the callback interface
 * @param {Error} error
 */
function abort(connection, error) {
  connection._notifyError(error);
  connection.destroy();
  connection.stream.destroy();
}

/**
 * @param {any} pool of the callback interface
 * @param {Error} error
 */
function abortPool(pool, error) {
  if (pool._closed) return;
  while (pool._connectionQueue.length > 0) pool._connectionQueue.shift()(coded(error));
  const connections = connectionsOf(pool);
  pool.end(() => {}); // it asks each to quit, and that too is rejected below
  for (const connection of connections) abort(connection, error);
}

/**
 * @param {any} pool
 * @returns {any[]}
 */
function connectionsOf(pool) {
  return Array.from({ length: pool._allConnections.length }, (_, i) => pool._allConnections.get(i));
}
