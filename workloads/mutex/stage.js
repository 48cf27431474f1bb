/**
 * The place of locks and of the numbers that they guard, on each server: marked as ours before a
 * run, removed after it, refused where somebody else has it. What a killed run left is taken over.
 */

import { formatEndpoint } from '../../lib/address.js';
import { refusedError, targetError, usageError } from '../../lib/errors.js';
import { LOCK_MARKER, LOCK_PLACES } from '../../lib/lock-places.js';

/** @typedef {import('../../lib/types.js').StageContext} StageContext */
/** @typedef {StageContext['servers'][number]} StageServer */
/** @typedef {{ make(): Promise<void>, strike(): Promise<void>, close(): Promise<void> }} Place */

const KEYS_PER_SCAN = 5000;
/** What a killed process had sent may still come in while its keys are removed. */
const PASSES_MAX = 20;

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
export async function stage({ servers, signal }) {
  /** @type {StageServer[]} */
  const made = [];
  const strike = async () => {
    for (const server of made.splice(0)) await at(server, (place) => place.strike());
  };
  try {
    for (const server of servers) {
      signal?.throwIfAborted();
      await at(server, (place) => place.make());
      made.push(server);
    }
  } catch (error) {
    await strike();
    throw error;
  }
  return strike;
}

/**
 * No connection is kept meanwhile: it would be one more for the server to serve.
 * @param {StageServer} server
 * @param {(place: Place) => Promise<void>} work
 */
async function at(server, work) {
  const open = PLACES[server.name];
  if (open === undefined) throw usageError(`mutex: no place for locks on ${server.name}`);
  const place = await open(server);
  try {
    await work(place);
  } finally {
    await place.close();
  }
}

/**
 * @param {string} where
 * @param {string} what is there
 * @param {string} server
 */
function foreign(where, what, server) {
  return refusedError(
    `${where}: ${what} is there and was not made by Dragstrip: nothing was touched`,
    `use another server (dragstrip servers start ${server}), or remove what is yours to remove`,
  );
}

/**
 * @param {StageServer} server
 * @returns {Promise<Place>}
 */
async function openRedis({ address: { main }, credentials: { user, password } }) {
  const { Redis } = await import('ioredis');
  const { redisMarker: marker } = LOCK_PLACES;
  const place =
    main.path === undefined ? { host: main.host, port: main.port } : { path: main.path };
  const redis = new Redis({
    ...place,
    username: user,
    password,
    ...(main.db && { db: main.db }),
    lazyConnect: true,
    retryStrategy: null,
  });
  redis.on('error', () => {}); // the same error rejects the request
  const where = `Redis at ${formatEndpoint(main)}`;
  await redis.connect().catch((error) => {
    throw targetError(`${where}: ${error.message}`, undefined, error);
  });
  return {
    async make() {
      const found = await redis.get(marker).catch(() => 'of another type');
      if (found === LOCK_MARKER) return removeKeys(redis);
      const [key] = found === null ? await keysOf(redis) : [marker];
      if (key !== undefined) throw foreign(where, `key ${key}`, 'redis');
      await redis.set(marker, LOCK_MARKER);
    },
    async strike() {
      if ((await redis.get(marker)) !== LOCK_MARKER) return;
      await removeKeys(redis);
      await redis.del(marker);
    },
    async close() {
      redis.disconnect();
    },
  };
}

/**
 * @param {import('ioredis').Redis} redis
 * @returns {Promise<string[]>} ours, and those that redis-semaphore makes of ours
 */
async function keysOf(redis) {
  const { redisPrefix, semaphorePrefix } = LOCK_PLACES;
  /** @type {string[]} */
  const keys = [];
  for (const prefix of [redisPrefix, semaphorePrefix + redisPrefix]) {
    let cursor = '0';
    do {
      const [next, found] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', KEYS_PER_SCAN);
      keys.push(...found);
      cursor = next;
    } while (cursor !== '0');
  }
  return keys;
}

/** @param {import('ioredis').Redis} redis */
async function removeKeys(redis) {
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const keys = await keysOf(redis);
    if (keys.length === 0) return;
    await redis.unlink(keys);
  }
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
        throw foreign(where, `table ${database}.${table}`, 'mariadb');
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
