/** mariadb, MariaDB's own connector: it pipelines. */

import { defineStorage } from '../lib/define.js';
import { Queue } from '../packages/mutex/queue.js';
import { closedError, openOrThrow, poolHandle, watchLoss, withCode } from './connection.js';
import { PoolWait } from './pool-wait.js';
import { CONNECT_TIMEOUT_MS, MARIADB } from './sql-clients.js';
import { onSql, rowsBySql } from './sql-family.js';
import { sqlOperations, sqlStatements } from './sql-rows.js';

/** @typedef {ReturnType<typeof sqlStatements>} Statements */

const BOUNDED = { connectTimeout: CONNECT_TIMEOUT_MS };

export const storage = defineStorage({
  name: 'mariadb',
  summary: "MariaDB's connector: prepared statements over SQL, pipelined",
  package: 'mariadb',
  alternative: true,
  ...onSql(MARIADB, rowsBySql('mariadb', openConnection, openPool), { pipelines: true }),
  profiles: {
    default: { summary: 'one connection, execute', options: BOUNDED },
    text: {
      summary: 'one connection, query: text, values escaped by the client',
      options: { ...BOUNDED, call: 'query' },
    },
    pool: {
      summary: 'its pool of 4 connections, execute',
      options: { ...BOUNDED, connections: 4, pool: 4 },
    },
  },
});

/**
 * @param {Parameters<typeof openOrThrow>[0]} target
 * @param {Record<string, unknown>} options
 * @param {Statements} statements
 * @param {'query' | undefined} call
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openConnection(target, options, statements, call) {
  const connecting = MARIADB.connect(options);
  const connection = /** @type {any} */ (await openOrThrow(target, connecting, () => {}));
  connection.on('error', withCode);
  // Prepares the statement, so that the first read needs no additional round trip.
  const ready =
    call === 'query' ? connection.query('select 1') : connection.execute(statements.select, [0]);
  await openOrThrow(target, ready, () => connection.destroy());
  const socket = connection.__tests.getSocket();
  /** @type {(sql: string, values: readonly any[]) => Promise<any>} */
  const run =
    call === 'query'
      ? (sql, values) => connection.query(sql, values)
      : (sql, values) => connection.execute(sql, values);
  return watchLoss(socket, {
    ...sqlOperations(statements, run),
    async close() {
      // destroy() of the driver opens a connection to KILL running statements, to which a stopped
      // server never replies.
      socket.destroy(closedError());
    },
  });
}

/**
 * The pool emits 'acquire' per connection without the request; requests get connections in order of
 * arrival.
 * @param {Parameters<typeof openOrThrow>[0]} target
 * @param {Record<string, unknown>} options
 * @param {Statements} statements
 * @param {number} limit
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openPool(target, options, statements, limit) {
  const creating = MARIADB.createPool({ ...options, minimumIdle: limit }, limit);
  const pool = /** @type {any} */ (await openOrThrow(target, creating, () => {}));
  /** @type {import('node:net').Socket[]} */
  const sockets = [];
  pool.on('error', withCode);
  pool.on('connection', (/** @type {any} */ connection) => {
    connection.on('error', withCode);
    sockets.push(connection.__tests.getSocket());
  });
  const waits = new PoolWait();
  /** @type {Queue<() => void>} */
  const waiting = new Queue();
  pool.on('acquire', () => {
    const end = waiting.take();
    end?.();
  });
  /** @type {(sql: string, values: readonly any[]) => Promise<any>} */
  const run = (sql, values) => {
    waiting.push(waits.begin());
    return pool.execute(sql, values);
  };
  const abort = (/** @type {Error} */ error) => {
    if (pool.closed) return;
    pool.end().catch(() => {}); // rejects requests waiting for a connection
    for (const socket of sockets) {
      // The driver removes all listeners of an ended socket, after those of onLoss, so this error,
      // emitted in the next tick, would be an uncaught exception.
      process.nextTick(() => socket.on('error', () => {}));
      socket.destroy(withCode(error));
    }
  };
  // One request per connection at once, so that each is open and has the statement.
  const warm = () => Promise.all(Array.from({ length: limit }, () => run(statements.select, [0])));
  const opened = (async () => {
    while (sockets.length < limit) await warm();
    await warm();
  })();
  await openOrThrow(target, opened, () => abort(closedError()));
  return poolHandle(sockets, sqlOperations(statements, run), waits, abort);
}
