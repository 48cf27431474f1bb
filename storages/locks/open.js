/** Opens a driver for locks: its connection, and on it the handler that the parameters name. */

import { LOCK_PLACES } from '../../lib/lock-places.js';
import { createCork, opened, requireEndpoint } from '../connection.js';
import { connectIoredis, connectNodeRedis } from '../redis-clients.js';
import { openRedisLocks } from './redis.js';

/** @typedef {import('../../lib/types.js').OpenContext} OpenContext */
/** @typedef {import('../../lib/types.js').Handle} Handle */
/** @typedef {import('../../lib/types.js').Locks} Locks */

/**
 * @param {Locks} locks
 * @param {() => unknown} close of the connection
 * @returns {Handle}
 */
export function lockHandle(locks, close) {
  return {
    get: () => undefined,
    locks,
    async close() {
      await locks.close();
      await close();
    },
  };
}

/**
 * @param {OpenContext} context
 * @param {string} storage
 * @returns {import('../../lib/types.js').LockOrigin}
 */
export function originOf({ profile, address, credentials, parameters = {} }, storage) {
  return { storage, profile: profile.name, address, credentials, parameters };
}

/**
 * @param {OpenContext} context
 * @returns {Promise<Handle>}
 */
export async function openIoredisLocks(context) {
  const { address, credentials } = context;
  const endpoint = requireEndpoint(address, 'main', 'ioredis');
  const target = { storage: 'ioredis', endpoint, credentials };
  const redis = await connectIoredis(context);
  const close = () => redis.disconnect();
  // As the mutex does: what is sent in one tick leaves in one write.
  const cork = createCork(/** @type {any} */ (redis).stream);
  const send = (/** @type {string[]} */ [name, ...words]) => {
    cork();
    return redis.call(name, words);
  };
  const origin = originOf(context, 'ioredis');
  const locks = await opened(target, openRedisLocks({ client: redis, send, origin }), close);
  return lockHandle(locks, close);
}

/**
 * @param {OpenContext} context
 * @returns {Promise<Handle>}
 */
export async function openNodeRedisLocks(context) {
  const { address, credentials } = context;
  const endpoint = requireEndpoint(address, 'main', 'redis');
  const target = { storage: 'redis', endpoint, credentials };
  const client = await connectNodeRedis(context);
  const close = () => {
    if (client.isOpen) client.destroy();
  };
  const send = (/** @type {string[]} */ words) => client.sendCommand(words);
  const origin = originOf(context, 'redis');
  const locks = await opened(target, openRedisLocks({ client, send, origin }), close);
  return lockHandle(locks, close);
}

/**
 * @param {OpenContext} context
 * @returns {Promise<Handle>}
 */
export async function openMysqlLocks(context) {
  const { address, credentials } = context;
  const endpoint = requireEndpoint(address, 'sql', 'mysql2');
  const { default: mysql } = await import('mysql2/promise');
  const { openGetLock } = await import('./get-lock.js');
  const place =
    endpoint.path === undefined
      ? { host: endpoint.host, port: endpoint.port }
      : { socketPath: endpoint.path };
  const options = {
    ...place,
    user: credentials.user ?? 'root',
    password: credentials.password,
    database: LOCK_PLACES.database,
    connectTimeout: 5000,
  };
  const target = { storage: 'mysql2', endpoint, credentials };
  const locks = await openGetLock(mysql, options, originOf(context, 'mysql2'));
  // The first connection shows whether the server answers.
  const first = locks.number.get('none');
  await opened(target, first, () => locks.close());
  return lockHandle(locks, () => {});
}
