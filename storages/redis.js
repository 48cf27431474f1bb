/** node-redis, the official client, on a Redis server. */

import { defineStorage } from '../lib/define.js';
import { openCommands } from './commands/node-redis.js';
import { loseHandle, withCode } from './connection.js';
import { openNodeRedisInserter, REDIS_INSERTS } from './inserts/redis.js';
import { NODE_REDIS_LOCKS, openNodeRedisLocks } from './locks/redis.js';
import { PoolWait } from './pool-wait.js';
import { connectNodeRedis, connectNodeRedisPool } from './redis-clients.js';
import { fieldRecord, fieldsOfPairs, namedFields } from './redis-hashes.js';

// A lost server has to be seen: the driver would otherwise reconnect behind the reader's back.
const FAULTS_VISIBLE = { reconnectStrategy: false };

/** @param {string | null} reply */
const value = (reply) => (reply === null ? undefined : reply);
/** @param {string | null} reply */
const stored = (reply) => reply === 'OK';

export const storage = defineStorage({
  name: 'redis',
  summary: 'node-redis, the official client',
  package: 'redis',
  server: 'redis',
  tls: true,
  rows: ['get', 'mget', 'set', 'add', 'del', 'hash', 'expire'],
  inserts: REDIS_INSERTS,
  locks: NODE_REDIS_LOCKS,
  commands: ['words'],
  profiles: {
    default: {
      summary: 'client.get with its default options',
      options: { socket: FAULTS_VISIBLE },
    },
    tuned: {
      summary: 'no timeout per command (6 times the CPU), sendCommand in place of get',
      options: {
        socket: FAULTS_VISIBLE,
        commandOptions: { timeout: 0 },
        call: "sendCommand(['GET', key])",
      },
      inserts: true,
    },
    pool: {
      summary: 'createClientPool of 4 connections: one request at a time on each',
      options: { socket: FAULTS_VISIBLE, pool: { minimum: 4, maximum: 4 } },
    },
  },
  open: {
    rows: openRows,
    insert: openNodeRedisInserter,
    lock: openNodeRedisLocks,
    command: openCommands,
  },
});

/**
 * Every command of a pool goes through execute(), which gives it a connection.
 * @param {any} pool
 * @returns {PoolWait}
 */
function watchPool(pool) {
  const waits = new PoolWait();
  const { execute } = pool;
  pool.execute = (/** @type {(client: any) => any} */ use) => {
    const end = waits.begin();
    return execute.call(pool, (/** @type {any} */ client) => {
      end();
      return use(client);
    });
  };
  return waits;
}

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const { profile, names } = context;
  const { call, pool } = /** @type {any} */ (profile.options);
  const client = await (pool ? connectNodeRedisPool(context) : connectNodeRedis(context));
  const waits = pool === undefined ? null : watchPool(client);
  const { redisPrefix: prefix } = names;
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    get:
      call === undefined
        ? (id) => client.get(prefix + id)
        : (id) => client.sendCommand(['GET', prefix + id]),
    value,
    mget:
      call === undefined
        ? (ids) => client.mGet(ids.map((id) => prefix + id))
        : (ids) => client.sendCommand(['MGET', ...ids.map((id) => prefix + id)]),
    set:
      call === undefined
        ? (id, text) => client.set(prefix + id, text)
        : (id, text) => client.sendCommand(['SET', prefix + id, text]),
    stored,
    ...(waits !== null && { poolWait: () => waits.take() }),
    ...changesOf(client, prefix, call === undefined),
    async close() {
      client.destroy();
      loseHandle(handle, withCode(new Error('the client is closed')));
    },
  };
  client.on('error', (/** @type {any} */ error) => {
    loseHandle(handle, error);
    // One lost connection ends the pool: it would go on with the others.
    if (pool !== undefined) client.destroy();
  });
  return handle;
}

/**
 * @param {any} client
 * @param {string} prefix
 * @param {boolean} byName by methods of their own; else by sendCommand
 * @returns {Partial<import('../lib/types.js').RowsHandle>}
 */
function changesOf(client, prefix, byName) {
  const send = (/** @type {string[]} */ ...words) => client.sendCommand(words);
  const replies = {
    added: stored,
    deleted: (/** @type {number} */ reply) => reply === 1,
  };
  if (byName) {
    return {
      ...replies,
      add: (id, text) => client.set(prefix + id, text, { condition: 'NX' }),
      addFor: (id, text, value) =>
        client.set(prefix + id, text, { condition: 'NX', expiration: { type: 'PX', value } }),
      del: (id) => client.del(prefix + id),
      hset: (id, fields) => client.hSet(prefix + id, fieldRecord(fields)),
      hget: (id) => client.hGetAll(prefix + id),
    };
  }
  return {
    ...replies,
    add: (id, text) => send('SET', prefix + id, text, 'NX'),
    addFor: (id, text, ttlMs) => send('SET', prefix + id, text, 'PX', `${ttlMs}`, 'NX'),
    del: (id) => send('DEL', prefix + id),
    hset: (id, fields) => send('HSET', prefix + id, ...namedFields(fields)),
    hget: (id) => send('HGETALL', prefix + id),
    fields: (reply) => (Array.isArray(reply) ? fieldsOfPairs(reply) : reply),
  };
}
