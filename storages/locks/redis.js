/**
 * Locks on Redis: the two handlers of dragstrip-mutex on ioredis and on node-redis, and other npm
 * packages. Without measuring.
 */

import { usageError } from '../../lib/errors.js';
import { createCork, openOrThrow, targetOf } from '../connection.js';
import { connectIoredis, connectNodeRedis, IOREDIS } from '../redis-clients.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */
/** @typedef {import('../../lib/types.js').OpenContext} OpenContext */
/** @typedef {import('../../lib/types.js').LockHandler} LockHandler */

/** @type {Readonly<Record<string, LockHandler>>} */
const OURS = Object.freeze({
  script: {
    summary: 'Dragstrip’s: one EVALSHA each to lock and unlock, woken by a channel',
    several: true,
    options: {},
  },
  pure: {
    summary: 'Dragstrip’s: SETNX or MSETNX, unlocked by WATCH … EXEC, woken by a channel',
    several: true,
    options: {},
  },
});

export const NODE_REDIS_LOCKS = OURS;

/** @type {Readonly<Record<string, LockHandler>>} */
export const IOREDIS_LOCKS = Object.freeze({
  ...OURS,
  redlock: {
    summary: 'npm redlock 5: a script each to lock and unlock, waiters retry after 200 ms ± 100 ms',
    several: true,
    options: { retryCount: 'by the block timeout', retryDelay: 200, retryJitter: 100 },
  },
  'redis-semaphore': {
    summary: 'npm redis-semaphore, Mutex: SET NX, waiters retry after 10 ms',
    several:
      'a Mutex of redis-semaphore has one key; its MultiSemaphore takes many permits of one key',
    options: { retryInterval: 10, onLockLost: 'reported by unlock' },
  },
});

/**
 * Hash tag of lock keys on a cluster, from the namespace of `dragstrip mutex`, so that one script
 * can lock several names. GLIDE does not preserve the order of commands, so it has no locks.
 */
export const CLUSTER_TAG = '{lock}';

// WATCH … EXEC needs a connection for exclusive use to the node of a slot.
const { pure: _ofNodeRedis, ...nodeRedisLocks } = NODE_REDIS_LOCKS;
const { pure: _ofIoredis, ...ioredisLocks } = IOREDIS_LOCKS;

export const NODE_REDIS_CLUSTER_LOCKS = Object.freeze(nodeRedisLocks);
export const IOREDIS_CLUSTER_LOCKS = Object.freeze(ioredisLocks);

/**
 * @param {OpenContext} context
 * @param {import('../redis-clients.js').IoredisDriver} [driver]
 * @returns {Promise<Locks>}
 */
export async function openIoredisLocks(context, driver = IOREDIS) {
  const redis = await connectIoredis(context, { driver });
  // As in the mutex, commands of one tick are sent in one write.
  const cork = createCork(/** @type {any} */ (redis).stream);
  return openLocks(context, {
    storage: driver.name,
    offered: IOREDIS_LOCKS,
    client: redis,
    send([name, ...words]) {
      cork();
      return redis.call(name, words);
    },
    disconnect: () => redis.disconnect(),
  });
}

/**
 * @param {OpenContext} context
 * @returns {Promise<Locks>}
 */
export async function openNodeRedisLocks(context) {
  const client = await connectNodeRedis(context);
  return openLocks(context, {
    storage: 'redis',
    offered: NODE_REDIS_LOCKS,
    client,
    send: (words) => client.sendCommand(words),
    disconnect() {
      if (client.isOpen) client.destroy();
    },
  });
}

/**
 * @typedef {object} LockDriver a connected driver
 * @property {string} storage
 * @property {Readonly<Record<string, LockHandler>>} offered
 * @property {any} client
 * @property {(words: string[]) => Promise<any>} send
 * @property {() => unknown} disconnect
 * @property {string} [tag] hash tag in keys of locks, after their prefix
 */

/**
 * @param {OpenContext} context
 * @param {LockDriver} driver
 * @returns {Promise<Locks>}
 */
export async function openLocks(context, driver) {
  const { parameters, names } = context;
  const { send, disconnect, tag = '' } = driver;
  const target = targetOf(context, 'main', driver.storage);
  const handler = openHandler(driver, names.redisLock + tag, parameters);
  const locker = await openOrThrow(target, handler, disconnect);
  const key = (/** @type {string} */ name) => names.redisNumber + name;
  return {
    mutex: (lockNames, options) => locker.mutex(lockNames, options),
    number: {
      set: (name, value) => send(['SET', key(name), String(value)]),
      increment: (name) => send(['INCR', key(name)]),
      async get(name) {
        const text = await send(['GET', key(name)]);
        return text === null ? undefined : Number(text);
      },
      remove: (name) => send(['DEL', key(name)]),
    },
    async close() {
      await locker.close();
      await disconnect();
    },
  };
}

/**
 * @param {LockDriver} driver
 * @param {string} prefix prefix of keys
 * @param {import('../../lib/types.js').Parameters} [parameters] retryMs: interval of locks that
 *   poll
 * @returns {Promise<Pick<Locks, 'mutex' | 'close'>>}
 */
async function openHandler({ storage, offered, client }, prefix, parameters = {}) {
  const { handler = 'script', retryMs } = parameters;
  if (!Object.hasOwn(offered, String(handler))) {
    const names = Object.keys(offered).join(', ');
    throw usageError(`${storage} has no lock ${handler}`, `it has ${names}`);
  }
  const retry = retryMs === undefined ? undefined : Number(retryMs);
  if (handler === 'redlock') {
    return (await import('./redlock.js')).openRedlock(client, prefix, retry);
  }
  if (handler === 'redis-semaphore') {
    return (await import('./redis-semaphore.js')).openSemaphore(client, prefix, retry);
  }
  const { createLocker } = await import('../../packages/mutex/index.js');
  return createLocker({ client, handler: handler === 'pure' ? 'pure' : 'script', prefix });
}
