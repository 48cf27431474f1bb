/**
 * The three drivers of MariaDB and MySQL behind one interface, for everything except reads:
 * connections and pools with promises, and decoding of replies. Loaded on demand.
 */

import { called } from '../lib/promised.js';
import { forMariadb, forMysql2, sqlLogin } from '../lib/tls.js';
import { targetOf, withCode } from './connection.js';

/** Milliseconds; the drivers' default of 10 s exceeds the time limit of opening. */
export const CONNECT_TIMEOUT_MS = 5000;

/**
 * @typedef {object} SqlConnection
 * @property {(sql: string, values: readonly any[]) => Promise<any>} execute prepared statement, if
 *   supported by the driver
 * @property {(sql: any) => Promise<any>} query text, of one statement or several
 * @property {(event: 'error', listener: (error: any) => void) => unknown} on
 * @property {() => unknown} destroy
 *
 * @typedef {object} SqlPool
 * @property {SqlConnection['execute']} execute
 * @property {() => Promise<SqlConnection & { release(): unknown }>} getConnection
 * @property {() => Promise<unknown>} end
 *
 * @typedef {object} SqlDriver
 * @property {string} name name of the storage and of the package
 * @property {(reply: any) => any} result reply: rows, the effect of a statement, or a list of these
 * @property {(options: Record<string, unknown>) => Promise<SqlConnection>} connect
 * @property {(options: Record<string, unknown>, limit: number) => Promise<SqlPool>} createPool
 * @property {boolean} prepares whether statements are prepared on the server
 * @property {Record<string, unknown> | null} infile additional options of a connection for LOAD
 *   DATA LOCAL from a stream; null: not supported
 */

/** @type {SqlDriver} */
export const MYSQL2 = {
  name: 'mysql2',
  result: ([result]) => result,
  prepares: true,
  infile: {},
  async connect(options) {
    const { createConnection } = await import('mysql2/promise');
    return /** @type {any} */ (createConnection(forMysql2(options)));
  },
  async createPool(options, limit) {
    const { default: mysql } = await import('mysql2/promise');
    const sizes = { connectionLimit: limit, maxIdle: limit, waitForConnections: true };
    return /** @type {any} */ (mysql.createPool({ ...forMysql2(options), ...sizes }));
  },
};

/** Maximum of a Node timer. */
const TIMER_MAX_MS = 2 ** 31 - 1;
/** Numbers as in the other drivers; 64 bits would be BigInt. */
const MARIADB_NUMBERS = { bigIntAsNumber: true, insertIdAsNumber: true };

/** @type {SqlDriver} */
export const MARIADB = {
  name: 'mariadb',
  result: (reply) => reply,
  prepares: true,
  // The driver allows LOCAL INFILE only without pipelining.
  infile: { pipelining: false, permitLocalInfile: true },
  async connect(options) {
    const { createConnection } = await import('mariadb');
    return /** @type {any} */ (createConnection({ ...forMariadb(options), ...MARIADB_NUMBERS }));
  },
  async createPool(options, limit) {
    const { createConnection, createPool } = await import('mariadb');
    const own = { ...forMariadb(options), ...MARIADB_NUMBERS };
    // A pool retries for minutes without reporting the failure.
    await (await createConnection(own)).end();
    // By default it opens all connections at once, and rejects waiting requests after 10 s; 0 would
    // mean no wait.
    const sizes = { connectionLimit: limit, minimumIdle: 1, acquireTimeout: TIMER_MAX_MS };
    return /** @type {any} */ (createPool({ ...own, ...sizes }));
  },
};

/** @type {SqlDriver} */
export const MYSQL = {
  name: 'mysql',
  result: (reply) => reply,
  prepares: false,
  infile: null, // only from a file
  connect: async (options) => withPromises(await connectMysql(options)),
  async createPool(options, limit) {
    const { default: mysql } = await importMysql();
    const pool = mysql.createPool({ ...options, connectionLimit: limit });
    return {
      execute: (sql, values) => called((done) => pool.query(sql, values, done)),
      getConnection: async () => withPromises(await called((done) => pool.getConnection(done))),
      end: () => called((done) => pool.end(done)),
    };
  },
};

// It ships no types.
const importMysql = () => import(/** @type {any} */ ('mysql'));

/**
 * @param {Record<string, unknown>} options
 * @returns {Promise<any>} the original connection of mysql, with callbacks
 */
export async function connectMysql(options) {
  const { default: mysql } = await importMysql();
  const connection = mysql.createConnection(options);
  connection.on('error', withCode); // a second error event would be an uncaught exception
  await called((done) => connection.connect(done));
  return connection;
}

/**
 * @param {any} connection connection of mysql
 * @returns {any}
 */
function withPromises(connection) {
  return {
    execute: (/** @type {string} */ sql, /** @type {any[]} */ values) =>
      called((done) => connection.query(sql, values, done)),
    query: (/** @type {string} */ sql) => called((done) => connection.query(sql, done)),
    on: (/** @type {string} */ event, /** @type {any} */ listener) =>
      connection.on(event, listener),
    destroy: () => connection.destroy(),
    release: () => connection.release(),
  };
}

/**
 * @param {Pick<import('../lib/types.js').OpenContext, 'address' | 'credentials' | 'names'>} context
 * @param {string} storage
 * @returns {{ target: import('./connection.js').Target, options: Record<string, unknown> }}
 *   options: common to all three
 */
export function sqlTarget(context, storage) {
  const target = targetOf(context, 'sql', storage);
  const { database } = context.names;
  const login = sqlLogin(target.endpoint, context.credentials);
  return { target, options: { ...login, database, connectTimeout: CONNECT_TIMEOUT_MS } };
}
