/** ioredis and its forks, which share its interface: profiles, capabilities and handles. */

import { openCommands } from './commands/ioredis.js';
import { createCork, watchLoss } from './connection.js';
import { openIoredisInserter, REDIS_INSERTS } from './inserts/redis.js';
import { IOREDIS_LOCKS, openIoredisLocks } from './locks/redis.js';
import { closeIoredis, codeLostRequests, connectIoredis, FAULTS_VISIBLE } from './redis-clients.js';
import { namedFields } from './redis-hashes.js';

/** @typedef {import('./redis-clients.js').IoredisDriver} IoredisDriver */
/** @typedef {import('../lib/types.js').OpenContext} OpenContext */
/** @typedef {import('../lib/types.js').InsertContext} InsertContext */

/** @param {string | null} reply */
const value = (reply) => (reply === null ? undefined : reply);
/** @param {string | null} reply */
const stored = (reply) => reply === 'OK';

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
      insert: (context) => openIoredisInserter(context, driver),
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
  const cork = createCork(socket);
  const { redisPrefix: prefix } = names;
  /** @type {<T extends any[]>(send: (...words: T) => any) => (...words: T) => any} */
  const perTick =
    stream === undefined
      ? (send) => send
      : (send) =>
          (...words) => {
            cork();
            return send(...words);
          };
  return watchLoss(socket, {
    get:
      stream === undefined
        ? (id) => redis.get(prefix + id)
        : (id) => {
            cork();
            return redis.get(prefix + id);
          },
    value,
    mget:
      stream === undefined
        ? (ids) => redis.mget(ids.map((id) => prefix + id))
        : (ids) => {
            cork();
            return redis.mget(ids.map((id) => prefix + id));
          },
    set:
      stream === undefined
        ? (id, text) => redis.set(prefix + id, text)
        : (id, text) => {
            cork();
            return redis.set(prefix + id, text);
          },
    stored,
    add: perTick((id, text) => redis.set(prefix + id, text, 'NX')),
    added: stored,
    addFor: perTick((id, text, ttlMs) => redis.set(prefix + id, text, 'PX', ttlMs, 'NX')),
    del: perTick((id) => redis.del(prefix + id)),
    deleted: (reply) => reply === 1,
    hset: perTick((id, fields) => redis.hset(prefix + id, ...namedFields(fields))),
    hget: perTick((id) => redis.hgetall(prefix + id)),
    close: () => closeIoredis(redis),
  });
}
