/**
 * The place of locks and of the numbers that they guard, on each server: marked as ours before a
 * run, removed after it, refused where somebody else has it. What a killed run left is taken over.
 */

import { formatEndpoint } from '../../lib/address.js';
import { targetError, usageError } from '../../lib/errors.js';
import { LOCK_MARKER, LOCK_PLACES } from '../../lib/lock-places.js';
import { foreignPlace, makePlaces } from '../places.js';
import { openRedisPlace } from '../redis-place.js';

/** @typedef {import('../places.js').StageContext} StageContext */
/** @typedef {import('../places.js').StageServer} StageServer */
/** @typedef {import('../places.js').Place} Place */

/** @type {Readonly<Record<string, (server: StageServer) => Promise<Place>>>} */
const PLACES = Object.freeze({
  redis: openRedis,
  mariadb: openMariadb,
  tarantool: openTarantool,
});

/**
 * @param {StageContext} context
 * @returns {Promise<() => Promise<void>>} removes the places
 */
export function stage(context) {
  return makePlaces(context, (server) => {
    const open = PLACES[server.name];
    if (open === undefined) throw usageError(`mutex: no place for locks on ${server.name}`);
    return open(server);
  });
}

/**
 * @param {StageServer} server
 * @returns {Promise<Place>} keys of ours, and those that redis-semaphore makes of ours
 */
function openRedis(server) {
  const { redisPrefix, semaphorePrefix, redisMarker: marker } = LOCK_PLACES;
  const prefixes = [redisPrefix, semaphorePrefix + redisPrefix];
  return openRedisPlace(server, { prefixes, marker, sign: LOCK_MARKER });
}

/**
 * @param {StageServer} server
 * @returns {Promise<Place>}
 */
async function openMariadb({ address: { sql }, credentials }) {
  const { default: mysql } = await import('mysql2/promise');
  const { database, table } = LOCK_PLACES;
  const place =
    sql.path === undefined ? { host: sql.host, port: sql.port } : { socketPath: sql.path };
  const { user = 'root', password } = credentials;
  const where = `MariaDB at ${formatEndpoint(sql)}`;
  const connection = await mysql
    .createConnection({ ...place, user, password, connectTimeout: 5000 })
    .catch((error) => {
      throw targetError(`${where}: ${error.message}`, undefined, error);
    });
  const found = async () => {
    const [rows] = /** @type {any} */ (
      await connection.query(
        'SELECT table_comment AS comment FROM information_schema.tables ' +
          'WHERE table_schema = ? AND table_name = ?',
        [database, table],
      )
    );
    return rows[0]?.comment ?? null;
  };
  return {
    async make() {
      const comment = await found();
      if (comment !== null && comment !== LOCK_MARKER) {
        throw foreignPlace(where, `table ${database}.${table}`, 'mariadb');
      }
      await connection.query(`CREATE DATABASE IF NOT EXISTS ${database}`);
      await connection.query(`DROP TABLE IF EXISTS ${database}.${table}`);
      await connection.query(
        `CREATE TABLE ${database}.${table} (name varchar(64) PRIMARY KEY, value bigint NOT NULL) ` +
          'ENGINE = MEMORY COMMENT = ?',
        [LOCK_MARKER],
      );
    },
    async strike() {
      if ((await found()) === LOCK_MARKER) {
        await connection.query(`DROP TABLE ${database}.${table}`);
      }
    },
    async close() {
      connection.destroy();
    },
  };
}

/**
 * Its spaces are made by box.lua and are in memory only.
 * @param {StageServer} server
 * @returns {Promise<Place>}
 */
async function openTarantool({ address: { main }, credentials }) {
  // @ts-expect-error it ships no types
  const { default: Tarantool } = await import('tarantool-driver');
  const place =
    main.path === undefined ? { host: main.host, port: main.port } : { path: main.path };
  const connection = new Tarantool({
    ...place,
    username: credentials.user ?? null,
    password: credentials.password ?? null,
    lazyConnect: true,
    retryStrategy: null,
  });
  connection.on('error', () => {});
  const where = `Tarantool at ${formatEndpoint(main)}`;
  await connection.connect().catch((/** @type {Error} */ error) => {
    throw targetError(`${where}: ${error.message}`, undefined, error);
  });
  const reset = () =>
    connection.call('dragstrip_mutex_reset').catch((/** @type {Error} */ error) => {
      throw targetError(
        `${where}: it has no locks of ours (${error.message})`,
        'start it with the box.lua of this version: dragstrip servers start tarantool',
      );
    });
  return {
    make: reset,
    strike: reset,
    async close() {
      connection.disconnect();
      connection.socket?.destroy();
    },
  };
}
