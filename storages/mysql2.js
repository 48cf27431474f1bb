/** mysql2 on MariaDB or MySQL: SQL, the baseline for HandlerSocket. */

import { defineStorage } from '../lib/define.js';
import { forMysql2 } from '../lib/tls.js';
import {
  closedError,
  loseHandle,
  openOrThrow,
  requireEndpoint,
  watchLoss,
  watchPoolLoss,
  withCode,
} from './connection.js';
import { inOrder } from './in-order.js';
import { openSqlInserter, sqlInserts } from './inserts/sql.js';
import { GET_LOCKS, openGetLocks } from './locks/get-lock.js';
import { PoolWait } from './pool-wait.js';
import { CONNECT_TIMEOUT_MS, MYSQL2, sqlOptions } from './sql-clients.js';
import { pairsOf, sqlStatements } from './sql-rows.js';

/** @typedef {ReturnType<typeof sqlStatements>} Statements */

const BOUNDED = { connectTimeout: CONNECT_TIMEOUT_MS };

/** @param {[any[]]} reply rows and fields, as the promise interface gives them */
const value = (reply) => (reply[0].length === 0 ? undefined : reply[0][0].str);
// CLIENT_FOUND_ROWS: the driver asks for the rows found, including those that had the value.
/** @param {[any]} reply */
const stored = (reply) => reply[0].affectedRows === 1;

export const storage = defineStorage({
  name: 'mysql2',
  summary: 'mysql2, prepared statements over SQL',
  package: 'mysql2',
  server: 'mariadb',
  protocol: 'mysql',
  tls: true,
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
  inserts: sqlInserts(MYSQL2),
  locks: GET_LOCKS,
  profiles: {
    default: { summary: 'one connection, execute', options: { connections: 1, ...BOUNDED } },
    tuned: {
      summary: 'its pool of 4 connections, execute',
      options: { connections: 4, pool: { connectionLimit: 4 }, ...BOUNDED },
    },
  },
  open: {
    rows: openRows,
    insert: (context) => openSqlInserter(context, MYSQL2),
    lock: (context) => openGetLocks(context, MYSQL2),
  },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows({ address, credentials, profile, names }) {
  const endpoint = requireEndpoint(address, 'sql', 'mysql2');
  const target = { storage: 'mysql2', endpoint, credentials };
  const { default: mysql } = await import('mysql2/promise');
  const options = forMysql2(sqlOptions(endpoint, credentials, names.database));
  const { pool } = /** @type {any} */ (profile.options);
  const statements = sqlStatements(names.table);
  return pool === undefined
    ? openConnection(mysql, target, options, statements)
    : openPool(mysql, target, { ...options, ...pool }, statements);
}

/**
 * @param {any} executor a connection or a pool
 * @param {Statements} statements
 * @returns {Omit<import('../lib/types.js').RowsHandle, 'close'>}
 */
function operationsOf(executor, { select, update, selectMany, insert, remove, range }) {
  return {
    get: (id) => executor.execute(select, [id]),
    value,
    mget: (ids) => executor.execute(selectMany(ids.length), ids),
    values: (reply, ids) => inOrder(reply[0], ids),
    set: (id, text) => executor.execute(update, [text, id]),
    stored,
    add: (id, text) => executor.execute(insert, [id, text]),
    added: stored,
    del: (id) => executor.execute(remove, [id]),
    deleted: stored,
    scan: (first, count) => executor.execute(range, [first, first + count - 1]),
    scanned: (reply) => pairsOf(reply[0]),
  };
}

/**
 * @param {any} mysql
 * @param {Parameters<typeof openOrThrow>[0]} target
 * @param {Record<string, unknown>} options
 * @param {Statements} statements
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openConnection(mysql, target, options, statements) {
  const connection = await openOrThrow(target, mysql.createConnection(options), () => {});
  connection.on('error', withCode);
  // Prepares the statement, so that the first read does not pay a round trip more.
  await openOrThrow(target, connection.execute(statements.select, [0]), () => connection.destroy());
  return watchLoss(connection.connection.stream, {
    ...operationsOf(connection, statements),
    async close() {
      abort(connection.connection, closedError());
    },
  });
}

/**
 * @param {any} mysql
 * @param {Parameters<typeof openOrThrow>[0]} target
 * @param {Record<string, unknown>} options
 * @param {Statements} statements
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openPool(mysql, target, options, statements) {
  const { promisePool, pool } = createPool(mysql, options);
  const waits = new PoolWait();
  const { getConnection } = pool;
  pool.getConnection = (/** @type {(error: any, connection?: any) => void} */ done) => {
    const end = waits.begin();
    getConnection.call(pool, (/** @type {any} */ error, /** @type {any} */ connection) => {
      end();
      done(error, connection);
    });
  };
  const warm = Promise.all(
    Array.from({ length: Number(options['connectionLimit']) }, () =>
      promisePool.execute(statements.select, [0]),
    ),
  );
  await openOrThrow(target, warm, () => abortPool(pool, closedError()));
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    ...operationsOf(promisePool, statements),
    poolWait: () => waits.take(),
    async close() {
      loseHandle(handle, closedError());
      abortPool(pool, closedError());
    },
  };
  const sockets = connectionsOf(pool).map(({ stream }) => stream);
  watchPoolLoss(sockets, handle, (error) => abortPool(pool, error));
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
  pool.on('connection', (/** @type {any} */ connection) => connection.on('error', withCode));
  return { promisePool, pool };
}

/**
 * The driver's destroy() and end() leave outstanding requests pending for ever, or wait for a
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
  while (pool._connectionQueue.length > 0) pool._connectionQueue.shift()(withCode(error));
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
