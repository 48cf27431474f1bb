/**
 * The data of the loaders, accessed by drivers that the loaders do not use: read, count, damage,
 * and add data of other programs under the same names.
 */

import { createHash } from 'node:crypto';
import { Cluster, Redis } from 'ioredis';
import { openAdmin } from '../../bench/login.js';
import { ROW_NAMES } from '../../lib/dataset.js';

/**
 * @typedef {object} Plant data not created by Dragstrip under its names
 * @property {string} title
 * @property {() => Promise<any>} make
 * @property {object} [options] options of the dataset that is then refused
 * @property {RegExp} [seen] expected report of inspect
 *
 * @typedef {object} Store
 * @property {() => Promise<any>} clear
 * @property {() => Promise<Map<number, string>>} all returns the rows by id
 * @property {(id: number) => Promise<string | undefined>} read
 * @property {(id: number) => Promise<any>} spoil
 * @property {(id: number) => Promise<any>} remove
 * @property {() => Promise<string>} fingerprint fingerprint of all data, including that of other
 *   programs
 * @property {Plant[]} notOurs
 */

/** @param {any} servers result of withServers */
export async function createStores(servers) {
  const redisClient = new Redis({
    ...servers.address('redis').main,
    ...servers.login('redis'),
    lazyConnect: true,
    retryStrategy: () => null,
  });
  await redisClient.connect();
  const connection = await openAdmin(servers.running('mariadb'));
  // @ts-expect-error it ships no types
  const { default: Tarantool } = await import('tarantool-driver');
  const tarantoolClient = new Tarantool({
    ...servers.address('tarantool').main,
    ...servers.login('tarantool'),
    lazyConnect: true,
    retryStrategy: null,
  });
  await tarantoolClient.connect();
  const cluster = servers.names.includes('redis-cluster') ? await connectCluster(servers) : null;
  return {
    redis: redisStore(redisClient),
    ...(cluster && { 'redis-cluster': redisStore(overNodes(cluster)) }),
    mysql: mysqlStore(connection),
    tarantool: tarantoolStore(tarantoolClient),
    /** @type {any} */
    redisClient,
    /** @type {any} */
    sql: connection,
    /** @type {any} */
    tarantoolClient,
    async close() {
      redisClient.disconnect();
      cluster?.disconnect();
      await connection.end();
      tarantoolClient.disconnect();
    },
  };
}

/** @param {any} servers @returns {Promise<Cluster>} */
async function connectCluster(servers) {
  const { main } = servers.address('redis-cluster');
  const cluster = new Cluster([main], {
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    redisOptions: servers.login('redis-cluster'),
  });
  await cluster.connect();
  return cluster;
}

/**
 * Commands over all keys, which a cluster client would send to one node.
 * @param {Cluster} cluster
 */
function overNodes(cluster) {
  const each = (/** @type {(node: Redis) => Promise<any>} */ ask) =>
    Promise.all(cluster.nodes('master').map(ask));
  return Object.assign(Object.create(cluster), {
    flushall: () => each((node) => node.flushall()),
    keys: async (/** @type {string} */ pattern) =>
      (await each((node) => node.keys(pattern))).flat(),
    mget: (/** @type {string[]} */ keys) => Promise.all(keys.map((key) => cluster.get(key))),
  });
}

/** @param {any} parts */
function hashOf(parts) {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** @param {any} client @returns {Store} */
function redisStore(client) {
  const key = (/** @type {number} */ id) => `${ROW_NAMES.redisPrefix}${id}`;
  return {
    clear: () => client.flushall(),
    async all() {
      const keys = await client.keys(`${ROW_NAMES.redisPrefix}*`);
      const values = keys.length === 0 ? [] : await client.mget(keys);
      const idOf = (/** @type {string} */ name) => Number(name.slice(ROW_NAMES.redisPrefix.length));
      return new Map(
        keys.map((/** @type {string} */ name, /** @type {number} */ i) => [idOf(name), values[i]]),
      );
    },
    read: async (id) => (await client.get(key(id))) ?? undefined,
    spoil: (id) => client.setrange(key(id), 20, '!'),
    remove: (id) => client.del(key(id)),
    async fingerprint() {
      const keys = (await client.keys('*')).sort();
      const dumps = await Promise.all(
        keys.map((/** @type {string} */ name) => client.dumpBuffer(name)),
      );
      return hashOf([keys, dumps.map((dump) => dump.toString('base64'))]);
    },
    notOurs: [
      { title: 'a string row', make: () => client.set(key(1), 'theirs'), seen: /dragstrip:row:1/ },
      { title: 'a list, deep inside', make: () => client.rpush(key(1999), 'a', 'b') },
      { title: 'the row behind the last', make: () => client.set(key(2501), 'theirs') },
      {
        title: 'a marker of another type',
        make: () => client.rpush(ROW_NAMES.redisMarker, 'x'),
        seen: /list/,
      },
      {
        title: 'a marker in other words',
        make: () => client.set(ROW_NAMES.redisMarker, '{}'),
        seen: /dataset/,
      },
      {
        title: 'a marker of a later version',
        make: () => client.set(ROW_NAMES.redisMarker, '{"owner":"dragstrip","version":2}'),
        seen: /dataset/,
      },
      {
        title: 'a row beyond ours, in the way of more rows',
        options: { rows: 3000 },
        async make() {
          const fields = { rows: 9, valueSize: 1024, seed: 1, complete: true, done: 9, extent: 9 };
          const marker = { owner: 'dragstrip', version: 1, ...fields };
          await client.set(ROW_NAMES.redisMarker, JSON.stringify(marker));
          await client.set(key(2000), 'theirs');
        },
      },
    ],
  };
}

/** @param {any} connection @returns {Store} */
function mysqlStore(connection) {
  const table = `${ROW_NAMES.database}.${ROW_NAMES.table}`;
  const query = async (/** @type {string} */ sql, /** @type {any[]} */ values) =>
    (await connection.query(sql, values))[0];
  return {
    async clear() {
      await query(`DROP DATABASE IF EXISTS ${ROW_NAMES.database}`, []);
    },
    async all() {
      const rows = await query(`SELECT id, str FROM ${table}`, []);
      return new Map(rows.map((/** @type {any} */ { id, str }) => [id, str]));
    },
    read: async (id) => (await query(`SELECT str FROM ${table} WHERE id = ?`, [id]))[0]?.str,
    spoil: (id) =>
      query(`UPDATE ${table} SET str = CONCAT('!', SUBSTR(str, 2)) WHERE id = ?`, [id]),
    remove: (id) => query(`DELETE FROM ${table} WHERE id = ?`, [id]),
    async fingerprint() {
      const tables = await query(
        'SELECT table_schema s, table_name n, create_time t FROM information_schema.tables ' +
          "WHERE table_schema NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')",
        [],
      );
      const parts = [];
      for (const { s, n } of tables) {
        const [shape] = await query(`SHOW CREATE TABLE ${s}.${n}`, []);
        const rows = await query(`CHECKSUM TABLE ${s}.${n}`, []);
        parts.push([shape, rows]);
      }
      return hashOf(parts);
    },
    notOurs: [
      {
        title: 'a table without a comment',
        seen: /table/,
        async make() {
          await query(`CREATE DATABASE ${ROW_NAMES.database}`, []);
          await query(`CREATE TABLE ${table} (id int PRIMARY KEY, str varchar(10))`, []);
          await query(`INSERT INTO ${table} VALUES (1, 'theirs')`, []);
        },
      },
      {
        title: 'a table with a comment of its own',
        seen: /table/,
        async make() {
          await query(`CREATE DATABASE ${ROW_NAMES.database}`, []);
          await query(`CREATE TABLE ${table} (id int) COMMENT 'dragstrip'`, []);
        },
      },
      {
        title: 'a view',
        seen: /view/,
        async make() {
          await query(`CREATE DATABASE ${ROW_NAMES.database}`, []);
          await query(`CREATE VIEW ${table} AS SELECT 1 AS id, 'theirs' AS str`, []);
        },
      },
    ],
  };
}

/** @param {any} client @returns {Store} */
function tarantoolStore(client) {
  const { space, tarantoolMarker } = ROW_NAMES;
  const all = (/** @type {string} */ name) => client.select(name, 0, 100_000, 0, 'all', []);
  return {
    clear: () => client.call('dragstrip_reset'),
    all: async () => new Map(await all(space)),
    read: async (id) => (await client.select(space, 0, 1, 0, 'eq', [id]))[0]?.[1],
    spoil: (id) => client.update(space, 0, [id], [['=', 1, 'spoilt']]),
    remove: (id) => client.delete(space, 0, [id]),
    fingerprint: async () => hashOf([(await all(space)).sort(), await all(tarantoolMarker)]),
    notOurs: [
      {
        title: 'rows without a marker',
        make: () => client.replace(space, [5, 'theirs']),
        seen: /dragstrip_rows/,
      },
      {
        title: 'a marker in other words',
        make: () => client.replace(tarantoolMarker, ['dataset', { rows: 5 }]),
        seen: /dragstrip_dataset/,
      },
    ],
  };
}
