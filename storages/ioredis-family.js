/** ioredis and its forks with the same interface: profiles, capabilities and handles. */

import { openCommands } from './commands/ioredis.js';
import { corked, createCork, watchLoss } from './connection.js';
import { ioredisConnection, openInserter, REDIS_INSERTS } from './inserts/redis.js';
import { IOREDIS_LOCKS, openIoredisLocks } from './locks/redis.js';
import { closeIoredis, codeLostRequests, connectIoredis, FAULTS_VISIBLE } from './redis-clients.js';
import { namedFields } from './redis-hashes.js';
import { REDIS_REPLIES } from './redis-replies.js';

/** @typedef {import('./redis-clients.js').IoredisDriver} IoredisDriver */
/** @typedef {import('../lib/types.js').OpenContext} OpenContext */

const PROFILES = {
  default: { summary: 'client.get with its default options', options: FAULTS_VISIBLE },
  tuned: {
    summary: 'its stream corked for a tick: one write for all requests of the tick',
    options: { ...FAULTS_VISIBLE, stream: 'corked per tick from outside' },
    inserts: true,
  },
  pipelined: {
    summary: 'its own auto-pipelining: one pipeline in flight at a time',
    options: { ...FAULTS_VISIBLE, enableAutoPipelining: true },
    inserts: true,
  },
};

/**
 * @param {IoredisDriver} driver
 * @returns {Omit<import('../lib/types.js').StorageDefinition, 'name' | 'summary' | 'package'>}
 */
export function onIoredis(driver) {
  return {
    server: 'redis',
    tls: true,
    rows: ['get', 'mget', 'set', 'add', 'del', 'hash', 'expire'],
    inserts: REDIS_INSERTS,
    locks: IOREDIS_LOCKS,
    commands: ['words', 'inline'],
    profiles: PROFILES,
    open: {
      rows: (context) => openRows(context, driver),
      insert: (context) => openInserter(context, () => ioredisConnection(context, driver)),
      lock: (context) => openIoredisLocks(context, driver),
      command: (context) => openCommands(context, driver),
    },
  };
}

/**
 * @param {OpenContext} context
 * @param {IoredisDriver} driver
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openRows(context, driver) {
  const { profile, names } = context;
  const { stream } = /** @type {any} */ (profile.options);
  const redis = await connectIoredis(context, { driver });
  codeLostRequests(redis);
  const socket = /** @type {any} */ (redis).stream;
  const cork = stream === undefined ? null : createCork(socket);
  const { redisPrefix: prefix } = names;
  return watchLoss(socket, {
    ...REDIS_REPLIES,
    get: corked(cork, (id) => redis.get(prefix + id)),
    mget: corked(cork, (ids) => redis.mget(ids.map((id) => prefix + id))),
    set: corked(cork, (id, text) => redis.set(prefix + id, text)),
    add: corked(cork, (id, text) => redis.set(prefix + id, text, 'NX')),
    addFor: corked(cork, (id, text, ttlMs) => redis.set(prefix + id, text, 'PX', ttlMs, 'NX')),
    del: corked(cork, (id) => redis.del(prefix + id)),
    hset: corked(cork, (id, fields) => redis.hset(prefix + id, ...namedFields(fields))),
    hget: corked(cork, (id) => redis.hgetall(prefix + id)),
    close: () => closeIoredis(redis),
  });
}
