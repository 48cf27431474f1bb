/**
 * Locks on Redis: our two handlers on ioredis and on node-redis, and the packages that Node
 * programs use. Not for measuring: who calls does that.
 */

import { usageError } from '../../lib/errors.js';
import { LOCK_PLACES } from '../../lib/lock-places.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */
/** @typedef {import('../../lib/types.js').LockHandler} LockHandler */

/** @type {Readonly<Record<string, LockHandler>>} */
const OURS = Object.freeze({
  script: {
    summary: 'ours: an EVALSHA each way, woken by a channel',
    several: true,
    options: {},
  },
  pure: {
    summary: 'ours: SETNX or MSETNX, unlocked by WATCH … EXEC, woken by a channel',
    several: true,
    options: {},
  },
});

export const NODE_REDIS_LOCKS = OURS;

/** @type {Readonly<Record<string, LockHandler>>} */
export const IOREDIS_LOCKS = Object.freeze({
  ...OURS,
  redlock: {
    summary: 'npm redlock 5: a script each way, who waits asks again after 200 ms ± 100 ms',
    several: true,
    options: { retryCount: 'by the block timeout', retryDelay: 200, retryJitter: 100 },
  },
  'redis-semaphore': {
    summary: 'npm redis-semaphore, Mutex: SET NX, who waits asks again after 10 ms',
    several:
      'a Mutex of redis-semaphore has one key; its MultiSemaphore takes many permits of one key',
    options: { retryInterval: 10, onLockLost: 'told by unlock' },
  },
});

/**
 * @typedef {object} RedisLockContext
 * @property {any} client
 * @property {(words: string[]) => Promise<any>} send
 * @property {import('../../lib/types.js').LockOrigin} origin
 */

/**
 * @param {RedisLockContext} context
 * @returns {Promise<Locks>}
 */
export async function openRedisLocks({ client, send, origin }) {
  const { handler = 'script', retryMs } = origin.parameters;
  const offered = origin.storage === 'ioredis' ? IOREDIS_LOCKS : NODE_REDIS_LOCKS;
  if (!Object.hasOwn(offered, String(handler))) {
    throw usageError(
      `${origin.storage} has no lock ${handler}`,
      `it has ${Object.keys(offered).join(', ')}`,
    );
  }
  const opened = await openHandler(String(handler), client, retryMs);
  const key = (/** @type {string} */ name) => LOCK_PLACES.redisNumber + name;
  return {
    ...opened,
    origin,
    number: {
      set: (name, value) => send(['SET', key(name), String(value)]),
      increment: (name) => send(['INCR', key(name)]),
      async get(name) {
        const text = await send(['GET', key(name)]);
        return text === null ? undefined : Number(text);
      },
      remove: (name) => send(['DEL', key(name)]),
    },
  };
}

/**
 * @param {string} handler
 * @param {any} client
 * @param {string | number | boolean | undefined} retryMs of those that ask again
 * @returns {Promise<Pick<Locks, 'mutex' | 'close'>>}
 */
async function openHandler(handler, client, retryMs) {
  const retry = retryMs === undefined ? undefined : Number(retryMs);
  if (handler === 'redlock') {
    const { openRedlock } = await import('./redlock.js');
    return openRedlock(client, retry);
  }
  if (handler === 'redis-semaphore') {
    const { openSemaphore } = await import('./redis-semaphore.js');
    return openSemaphore(client, retry);
  }
  const { createLocker } = await import('../mutex/index.js');
  const locker = await createLocker({
    client,
    handler: handler === 'pure' ? 'pure' : 'script',
    prefix: LOCK_PLACES.redisLock,
  });
  return {
    mutex: (names, options) => locker.mutex(names, options),
    close: () => locker.close(),
  };
}
