/**
 * Locks on a Redis Cluster: Dragstrip's script handler by the cluster clients of ioredis and
 * node-redis, redlock and redis-semaphore by that of ioredis. Keys of locks share a hash tag, so
 * that several names can be locked by one script. GLIDE keeps no order of commands: it has none.
 */

import { IOREDIS_LOCKS, NODE_REDIS_LOCKS, openLocks } from './redis.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */
/** @typedef {import('../../lib/types.js').OpenContext} OpenContext */

/** The one of the namespace of `dragstrip mutex`. */
const TAG = '{lock}';

// WATCH … EXEC needs a connection for exclusive use to the node of a slot.
const { pure: _ofNodeRedis, ...nodeRedisLocks } = NODE_REDIS_LOCKS;
const { pure: _ofIoredis, ...ioredisLocks } = IOREDIS_LOCKS;

export const NODE_REDIS_CLUSTER_LOCKS = Object.freeze(nodeRedisLocks);
export const IOREDIS_CLUSTER_LOCKS = Object.freeze(ioredisLocks);

/**
 * @param {OpenContext} context
 * @param {{ storage: string, client: any, close: (client: any) => Promise<void> }} connected
 * @returns {Promise<Locks>}
 */
export function openIoredisClusterLocks(context, { storage, client, close }) {
  return openLocks(context, {
    ...{ storage, client, tag: TAG, offered: IOREDIS_CLUSTER_LOCKS },
    send: ([name, ...words]) => client.call(name, words),
    disconnect: () => close(client),
  });
}

/**
 * @param {OpenContext} context
 * @param {any} client
 * @param {(client: any) => void} destroy
 * @returns {Promise<Locks>}
 */
export function openNodeRedisClusterLocks(context, client, destroy) {
  return openLocks(context, {
    ...{ storage: 'redis-cluster', client, tag: TAG, offered: NODE_REDIS_CLUSTER_LOCKS },
    send: (words) => client.sendCommand(words[1], false, words),
    disconnect: () => destroy(client),
  });
}
