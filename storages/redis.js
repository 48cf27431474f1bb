/** node-redis, the official client, on a Redis server. */

import { defineStorage } from '../lib/define.js';
import { openCommands } from './commands/node-redis.js';
import { closedError, loseHandle } from './connection.js';
import { nodeRedisConnection, openInserter, REDIS_INSERTS } from './inserts/redis.js';
import { NODE_REDIS_LOCKS, openNodeRedisLocks } from './locks/redis.js';
import { PoolWait } from './pool-wait.js';
import { connectNodeRedis, connectNodeRedisPool } from './redis-clients.js';
import { fieldRecord } from './redis-hashes.js';
import { changesByWords, REDIS_REPLIES } from './redis-replies.js';

// A lost server must be visible, so the driver must not reconnect.
const FAULTS_VISIBLE = { reconnectStrategy: false };

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
      summary: 'no timeout per command (6 times the CPU), sendCommand instead of get',
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
    insert: (context) => openInserter(context, nodeRedisConnection),
    lock: openNodeRedisLocks,
    command: openCommands,
  },
});

/**
 * Every command of a pool uses execute(), which assigns a connection.
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
  const { call, pool, commandOptions } = /** @type {any} */ (profile.options);
  const client = await (pool ? connectNodeRedisPool(context) : connectNodeRedis(context));
  const waits = pool === undefined ? null : watchPool(client);
  const { redisPrefix: prefix } = names;
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    ...REDIS_REPLIES,
    // Its time limit per command (AbortSignal.timeout), by default 5 s.
    holdsRequests: commandOptions?.timeout !== 0,
    ...(call === undefined ? byMethods(client, prefix) : bySendCommand(client, prefix)),
    ...(waits !== null && { poolWait: () => waits.take() }),
    async close() {
      client.destroy();
      loseHandle(handle, closedError('the client is closed'));
    },
  };
  client.on('error', (/** @type {any} */ error) => {
    loseHandle(handle, error);
    // A lost connection ends the pool, which would otherwise continue with the others.
    if (pool !== undefined) client.destroy();
  });
  return handle;
}

/** @typedef {import('../lib/types.js').RowsHandle} RowsHandle */

/**
 * @param {any} client
 * @param {string} prefix
 * @returns {Omit<RowsHandle, 'close'>}
 */
function byMethods(client, prefix) {
  return {
    get: (id) => client.get(prefix + id),
    mget: (ids) => client.mGet(ids.map((id) => prefix + id)),
    set: (id, text) => client.set(prefix + id, text),
    add: (id, text) => client.set(prefix + id, text, { condition: 'NX' }),
    addFor: (id, text, value) =>
      client.set(prefix + id, text, { condition: 'NX', expiration: { type: 'PX', value } }),
    del: (id) => client.del(prefix + id),
    hset: (id, fields) => client.hSet(prefix + id, fieldRecord(fields)),
    hget: (id) => client.hGetAll(prefix + id),
  };
}

/**
 * @param {any} client
 * @param {string} prefix
 * @returns {Omit<RowsHandle, 'close'>}
 */
function bySendCommand(client, prefix) {
  return {
    get: (id) => client.sendCommand(['GET', prefix + id]),
    mget: (ids) => client.sendCommand(['MGET', ...ids.map((id) => prefix + id)]),
    set: (id, text) => client.sendCommand(['SET', prefix + id, text]),
    ...changesByWords((words) => client.sendCommand(words), prefix),
  };
}
