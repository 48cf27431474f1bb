/**
 * Inserting into a Redis Cluster, like inserts/redis.js for one server. Keys of one request have a
 * common hash tag, the number of its first row, so a pipeline, a transaction or MSETNX is sent to
 * one node, and requests are spread over the slots.
 */

import { parseSlots } from '../../protocols/resp/slots.js';
import { connectGlideCluster, glideClusterBatch } from '../glide-client.js';
import { closeIoredis } from '../redis-clients.js';
import { flatMap, glideWrites, ioredisWrites, nodeRedisWrites, REDIS_INSERTS } from './redis.js';

/** @typedef {import('../../lib/types.js').InsertContext} InsertContext */
/** @typedef {import('./redis.js').RedisConnection} RedisConnection */

/** Descriptions of the strategies, for the tables. */
export const CLUSTER_INSERTS = Object.freeze({
  ...REDIS_INSERTS,
  workers: 'SET … NX, a cluster client per worker',
  pairs: 'pipeline of two SET … NX, in one slot',
  batch_pure: 'pipeline of SET … NX, in one slot',
  batch_pure2: 'pipeline of SET … NX, in one slot, two clients',
  unlogged_batch: 'pipeline of SET … NX, in one slot',
  logged_batch: 'MULTI, SET … NX, EXEC, in one slot',
  multi_row: 'MSETNX, in one slot',
});

/** @type {import('./redis.js').Keys} */
export const TAGGED = { start: (from) => `{${from}}`, perCommand: 1 };

/**
 * @param {any} cluster a client of ioredis or a fork of it
 * @returns {RedisConnection}
 */
export function ioredisClusterConnection(cluster) {
  return {
    nodes: async () =>
      cluster.nodes('master').map(
        (/** @type {any} */ node) =>
          (/** @type {string[]} */ ...[name, ...rest]) =>
            node.call(name, ...rest),
      ),
    ...ioredisWrites(cluster),
    close: () => closeIoredis(cluster),
  };
}

/**
 * @param {any} cluster a client of node-redis
 * @param {(client: any) => void} destroy
 * @returns {RedisConnection}
 */
export function nodeRedisClusterConnection(cluster, destroy) {
  return {
    async nodes() {
      const clients = await Promise.all(
        cluster.masters.map((/** @type {any} */ node) => cluster.nodeClient(node)),
      );
      return clients.map(
        (client) =>
          (/** @type {string[]} */ ...words) =>
            client.sendCommand(words),
      );
    },
    ...nodeRedisWrites(cluster),
    setMany: (rows) => cluster.sendCommand(rows[0], false, ['MSETNX', ...rows]),
    async close() {
      destroy(cluster);
    },
  };
}

/**
 * @param {InsertContext} context
 * @returns {Promise<RedisConnection>}
 */
export async function glideClusterConnection(context) {
  const client = await connectGlideCluster(context);
  return {
    async nodes() {
      const slots = await client.customCommand(['CLUSTER', 'SLOTS'], { route: 'randomNode' });
      const ranges = parseSlots(slots, context.address.main.host ?? '');
      const primaries = new Map(
        ranges.map(({ nodes: [{ host, port }] }) => [`${host}:${port}`, { host, port }]),
      );
      return [...primaries.values()].map(({ host, port }) => {
        const route = { type: 'routeByAddress', host, port };
        return (/** @type {string[]} */ ...words) =>
          client.customCommand(words, { route }).then(flatMap);
      });
    },
    ...glideWrites(client, await glideClusterBatch()),
  };
}
