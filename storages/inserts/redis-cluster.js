/**
 * Inserting into a Redis Cluster, as inserts/redis.js does into one server. Keys of one request
 * share a hash tag, the number of its first row: a pipeline, a transaction and MSETNX go to one
 * node, and requests are spread over the slots.
 */

import { parseSlots } from '../../protocols/resp/slots.js';
import { connectGlideCluster, glideClusterBatch } from '../glide-client.js';
import { flatMap, glideWrites, openInserter, REDIS_INSERTS, unwrap } from './redis.js';

/** @typedef {import('../../lib/types.js').InsertContext} InsertContext */
/** @typedef {import('../../lib/types.js').Inserter} Inserter */
/** @typedef {import('./redis.js').RedisConnection} RedisConnection */

const NX = /** @type {const} */ ({ condition: 'NX' });

/** How each strategy is done, for the tables. */
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
const TAGGED = { start: (from) => `{${from}}`, perCommand: 1 };

/**
 * @param {InsertContext} context
 * @param {() => Promise<any>} connect a cluster client of ioredis or a fork of it
 * @param {(client: any) => Promise<void>} close
 * @returns {Promise<Inserter>}
 */
export function openIoredisClusterInserter(context, connect, close) {
  return openInserter(context, async () => ioredisConnection(await connect(), close), TAGGED);
}

/**
 * @param {InsertContext} context
 * @param {() => Promise<any>} connect a cluster client of node-redis
 * @param {(client: any) => void} destroy
 * @returns {Promise<Inserter>}
 */
export function openNodeRedisClusterInserter(context, connect, destroy) {
  return openInserter(context, async () => nodeRedisConnection(await connect(), destroy), TAGGED);
}

/** @param {InsertContext} context @returns {Promise<Inserter>} */
export function openGlideClusterInserter(context) {
  return openInserter(context, glideConnection, TAGGED);
}

/**
 * @param {any} cluster
 * @param {(client: any) => Promise<void>} close
 * @returns {RedisConnection}
 */
function ioredisConnection(cluster, close) {
  /** @param {any} pipeline @param {string[]} rows */
  const send = (pipeline, rows) => {
    for (let i = 0; i < rows.length; i += 2) pipeline.set(rows[i], rows[i + 1], 'NX');
    return pipeline.exec().then(unwrap);
  };
  return {
    nodes: async () =>
      cluster.nodes('master').map(
        (/** @type {any} */ node) =>
          (/** @type {string[]} */ ...[name, ...rest]) =>
            node.call(name, ...rest),
      ),
    set: (key, value) => cluster.set(key, value, 'NX'),
    pipeline: (rows) => send(cluster.pipeline(), rows),
    multi: (rows) => send(cluster.multi(), rows),
    setMany: (rows) => cluster.msetnx(rows),
    close: () => close(cluster),
  };
}

/**
 * @param {any} cluster
 * @param {(client: any) => void} destroy
 * @returns {RedisConnection}
 */
function nodeRedisConnection(cluster, destroy) {
  /** @param {string[]} rows */
  const collect = (rows) => {
    const multi = cluster.multi();
    for (let i = 0; i < rows.length; i += 2) multi.set(rows[i], rows[i + 1], NX);
    return multi;
  };
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
    set: (key, value) => cluster.set(key, value, NX),
    pipeline: (rows) => collect(rows).execAsPipeline(),
    multi: (rows) => collect(rows).exec(),
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
async function glideConnection(context) {
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
