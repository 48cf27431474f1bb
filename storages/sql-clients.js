/**
 * The three drivers of MariaDB and MySQL behind one interface, for all that runs over them beside
 * the reads: connections and pools with promises, and how each gives its replies. Loaded on demand.
 */

import { called } from '../lib/promised.js';
import { forMysql2, sqlLogin } from '../lib/tls.js';
import { targetOf, withCode } from './connection.js';

/** Milliseconds; the drivers' own 10 s are longer than an open may take here. */
export const CONNECT_TIMEOUT_MS = 5000;

/**
 * @typedef {object} SqlConnection
 * @property {(sql: string, values: readonly any[]) => Promise<any>} execute prepared, where the
 *   driver prepares
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
 * @property {string} name of the storage and of the package
 * @property {(reply: any) => any} result of a reply: rows, what a statement did, or a list of such
 * @property {(options: Record<string, unknown>) => Promise<SqlConnection>} connect
 * @property {(options: Record<string, unknown>, limit: number) => Promise<SqlPool>} createPool
 * @property {boolean} prepares statements on the server
 * @property {Record<string, unknown> | null} infile options of a connection for LOAD DATA LOCAL
 *   from a stream, beside those of the others; null: it cannot
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

/** The longest that a timer of Node waits. */
const TIMER_MAX_MS = 2 ** 31 - 1;
/** Numbers as the other drivers give them; 64 bits would be BigInt. */
const MARIADB_NUMBERS = { bigIntAsNumber: true, insertIdAsNumber: true };

/** @type {SqlDriver} */
export const MARIADB = {
  name: 'mariadb',
  result: (reply) => reply,
  prepares: true,
  // The driver allows LOCAL INFILE only where it does not pipeline.
  infile: { pipelining: false, permitLocalInfile: true },
  async connect(options) {
    const { createConnection } = await import('mariadb');
    return /** @type {any} */ (createConnection({ ...options, ...MARIADB_NUMBERS }));
  },
  async createPool(options, limit) {
    const { createPool } = await import('mariadb');
    // By default it opens all of its connections at once, and ends what waits after 10 s; 0 is no
    // unlimited time but none.
    const sizes = { connectionLimit: limit, minimumIdle: 1, acquireTimeout: TIMER_MAX_MS };
    return /** @type {any} */ (createPool({ ...options, ...MARIADB_NUMBERS, ...sizes }));
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
 * @returns {Promise<any>} a connection of mysql as it is, with callbacks
 */
export async function connectMysql(options) {
  const { default: mysql } = await importMysql();
  const connection = mysql.createConnection(options);
  connection.on('error', withCode); // a second error event would be thrown out of the event loop
  await called((done) => connection.connect(done));
  return connection;
}

/**
 * @param {any} connection of mysql
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
 *   options: as all of them take it
 */
export function sqlTarget(context, storage) {
  const target = targetOf(context, 'sql', storage);
  const { database } = context.names;
  const login = sqlLogin(target.endpoint, context.credentials);
  return { target, options: { ...login, database, connectTimeout: CONNECT_TIMEOUT_MS } };
}
