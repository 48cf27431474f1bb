/** mariadb, MariaDB's own connector: it pipelines. */

import { defineStorage } from '../lib/define.js';
import { Queue } from '../lib/queue.js';
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
import { CONNECT_TIMEOUT_MS, MARIADB, sqlOptions } from './sql-clients.js';
import { pairsOf, sqlStatements } from './sql-rows.js';

/** @typedef {ReturnType<typeof sqlStatements>} Statements */

const BOUNDED = { connectTimeout: CONNECT_TIMEOUT_MS };

/** @param {{ affectedRows: number }} reply */
const isOne = ({ affectedRows }) => affectedRows === 1;

export const storage = defineStorage({
  name: 'mariadb',
  summary: "MariaDB's connector: prepared statements over SQL, pipelined",
  package: 'mariadb',
  server: 'mariadb',
  alternative: true,
  protocol: 'mysql',
  tls: true,
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
  inserts: sqlInserts(MARIADB, { pipelines: true }),
  locks: GET_LOCKS,
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
  open: {
    rows: openRows,
    insert: (context) => openSqlInserter(context, MARIADB),
    lock: (context) => openGetLocks(context, MARIADB),
  },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows({ address, credentials, profile, names }) {
  const endpoint = requireEndpoint(address, 'sql', 'mariadb');
  const target = { storage: 'mariadb', endpoint, credentials };
  const { call, pool, connections: _, ...own } = /** @type {any} */ (profile.options);
  const options = { ...sqlOptions(endpoint, credentials, names.database), ...own };
  const statements = sqlStatements(names.table);
  return pool === undefined
    ? openConnection(target, options, statements, call)
    : openPool(target, options, statements, pool);
}

/**
 * @param {(sql: string, values: readonly any[]) => Promise<any>} run
 * @param {Statements} statements
 * @returns {Omit<import('../lib/types.js').RowsHandle, 'close'>}
 */
function operationsOf(run, { select, update, selectMany, insert, remove, range }) {
  return {
    get: (id) => run(select, [id]),
    value: (rows) => (rows.length === 0 ? undefined : rows[0].str),
    mget: (ids) => run(selectMany(ids.length), ids),
    values: inOrder,
    set: (id, text) => run(update, [text, id]),
    stored: isOne,
    add: (id, text) => run(insert, [id, text]),
    added: isOne,
    del: (id) => run(remove, [id]),
    deleted: isOne,
    scan: (first, count) => run(range, [first, first + count - 1]),
    scanned: pairsOf,
  };
}

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
  // Prepares the statement, so that the first read does not pay a round trip more.
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
    ...operationsOf(run, statements),
    async close() {
      // destroy() of the driver opens a connection to KILL what runs, which a server that is
      // stopped never answers.
      socket.destroy(closedError());
    },
  });
}

/**
 * The pool tells of each connection that it gives away ('acquire'), not of the request that gets
 * it: requests get theirs in the order in which they came.
 * @param {Parameters<typeof openOrThrow>[0]} target
 * @param {Record<string, unknown>} options
 * @param {Statements} statements
 * @param {number} limit
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openPool(target, options, statements, limit) {
  const pool = /** @type {any} */ (
    await MARIADB.createPool({ ...options, minimumIdle: limit }, limit)
  );
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
    pool.end().catch(() => {}); // what waits for a connection is rejected
    for (const socket of sockets) {
      // The driver takes all listeners off a socket that has ended, after those of onLoss: this
      // error, which is emitted in the next tick, would be thrown out of the event loop.
      process.nextTick(() => socket.on('error', () => {}));
      socket.destroy(withCode(error));
    }
  };
  // As many at once as it has connections, so that each is open and has the statement.
  const warm = () => Promise.all(Array.from({ length: limit }, () => run(statements.select, [0])));
  const opened = (async () => {
    while (sockets.length < limit) await warm();
    await warm();
  })();
  await openOrThrow(target, opened, () => abort(closedError()));
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    ...operationsOf(run, statements),
    poolWait: () => waits.take(),
    async close() {
      loseHandle(handle, closedError());
      abort(closedError());
    },
  };
  watchPoolLoss(sockets, handle, abort);
  return handle;
}
