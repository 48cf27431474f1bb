/** mysql2 on MariaDB or MySQL: SQL, the baseline for HandlerSocket. */

import { defineStorage } from '../lib/define.js';
import { closedError, openOrThrow, poolHandle, watchLoss, withCode } from './connection.js';
import { PoolWait } from './pool-wait.js';
import { CONNECT_TIMEOUT_MS, MYSQL2 } from './sql-clients.js';
import { onSql, rowsBySql } from './sql-family.js';
import { sqlOperations, sqlStatements } from './sql-rows.js';

/** @typedef {ReturnType<typeof sqlStatements>} Statements */

const BOUNDED = { connectTimeout: CONNECT_TIMEOUT_MS };

export const storage = defineStorage({
  name: 'mysql2',
  summary: 'mysql2, prepared statements over SQL',
  package: 'mysql2',
  ...onSql(MYSQL2, rowsBySql('mysql2', openConnection, openPool)),
  profiles: {
    default: { summary: 'one connection, execute', options: { connections: 1, ...BOUNDED } },
    tuned: {
      summary: 'its pool of 4 connections, execute',
      options: { connections: 4, pool: { connectionLimit: 4 }, ...BOUNDED },
    },
  },
});

/**
 * CLIENT_FOUND_ROWS: counts matched rows, including those that already had the value.
 * @param {any} executor a connection or a pool
 * @param {Statements} statements
 */
function operationsOf(executor, statements) {
  const run = (/** @type {string} */ sql, /** @type {readonly any[]} */ values) =>
    executor.execute(sql, values);
  return sqlOperations(statements, run, MYSQL2.result);
}

/**
 * @param {import('./connection.js').Target} target
 * @param {Record<string, unknown>} options
 * @param {Statements} statements
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openConnection(target, options, statements) {
  const connecting = MYSQL2.connect(options);
  const connection = /** @type {any} */ (await openOrThrow(target, connecting, () => {}));
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
 * @param {import('./connection.js').Target} target
 * @param {Record<string, unknown>} options
 * @param {Statements} statements
 * @param {{ connectionLimit: number }} pool
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openPool(target, options, statements, { connectionLimit: limit }) {
  const promisePool = /** @type {any} */ (await MYSQL2.createPool(options, limit));
  const { pool } = promisePool;
  // The driver listens once to each; a second error event would be an uncaught exception.
  pool.on('connection', (/** @type {any} */ connection) => connection.on('error', withCode));
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
    Array.from({ length: limit }, () => promisePool.execute(statements.select, [0])),
  );
  await openOrThrow(target, warm, () => abortPool(pool, closedError()));
  const sockets = connectionsOf(pool).map(({ stream }) => stream);
  const operations = operationsOf(promisePool, statements);
  return poolHandle(sockets, operations, waits, (error) => abortPool(pool, error));
}

/**
 * The driver's destroy() and end() leave outstanding requests pending forever, or wait for a
 * possibly stopped server. The function that rejects them is not public.
 * @param {any} connection connection of the callback interface
 * @param {Error} error
 */
function abort(connection, error) {
  connection._notifyError(error);
  connection.destroy();
  connection.stream.destroy();
}

/**
 * @param {any} pool pool of the callback interface
 * @param {Error} error
 */
function abortPool(pool, error) {
  if (pool._closed) return;
  while (pool._connectionQueue.length > 0) pool._connectionQueue.shift()(withCode(error));
  const connections = connectionsOf(pool);
  pool.end(() => {}); // it sends QUIT on each, which is also rejected below
  for (const connection of connections) abort(connection, error);
}

/**
 * @param {any} pool
 * @returns {any[]}
 */
function connectionsOf(pool) {
  return Array.from({ length: pool._allConnections.length }, (_, i) => pool._allConnections.get(i));
}
