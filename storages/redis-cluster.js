/** node-redis' cluster client on a Redis Cluster. It splits MGET by slot, one request per slot. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { defineStorage } from '../lib/define.js';
import { tlsOptions } from '../lib/tls.js';
import { countRedirects, knownNodes, nodeGuard } from './cluster-nodes.js';
import {
  closedError,
  codeClass,
  connectWithCause,
  loseHandle,
  openOrThrow,
  withCode,
} from './connection.js';
import { openInserter } from './inserts/redis.js';
import { CLUSTER_INSERTS, nodeRedisClusterConnection, TAGGED } from './inserts/redis-cluster.js';
import { CLUSTER_TAG, NODE_REDIS_CLUSTER_LOCKS, openLocks } from './locks/redis.js';
import { REDIS_REPLIES } from './redis-replies.js';

/** Channel of errors handled by the driver. */
const ERRORS = 'node-redis:error';

export const storage = defineStorage({
  name: 'redis-cluster',
  summary: 'node-redis, its cluster client',
  package: 'redis',
  server: 'redis-cluster',
  alternative: true,
  tls: true,
  rows: ['get', 'mget', 'set'],
  inserts: CLUSTER_INSERTS,
  locks: NODE_REDIS_CLUSTER_LOCKS,
  profiles: {
    default: { summary: 'cluster.get with its default options', options: {} },
    tuned: {
      summary: 'no timeout per command',
      options: { commandOptions: { timeout: 0 } },
      inserts: true,
    },
    replicas: { summary: 'reads from replicas, too', options: { useReplicas: true } },
  },
  open: {
    rows: openRows,
    insert: (context) =>
      openInserter(
        context,
        async () => nodeRedisClusterConnection(await connect(context), destroy),
        TAGGED,
      ),
    async lock(context) {
      const client = await connect(context);
      return openLocks(context, {
        storage: 'redis-cluster',
        client,
        tag: CLUSTER_TAG,
        offered: NODE_REDIS_CLUSTER_LOCKS,
        send: (words) => client.sendCommand(words[1], false, words),
        disconnect: () => destroy(client),
      });
    },
  },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const { redisPrefix: prefix } = context.names;
  const cluster = await connect(context);
  const redirects = countRedirects();
  const see = (/** @type {any} */ event) => {
    if (event.origin === 'cluster') redirects.see(String(event.error?.message ?? ''));
  };
  subscribe(ERRORS, see);
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    ...REDIS_REPLIES,
    get: (id) => cluster.get(prefix + id),
    mget: (ids) => cluster.mGet(ids.map((id) => prefix + id)),
    set: (id, text) => cluster.set(prefix + id, text),
    redirects: () => ({ ...redirects.counts }),
    async close() {
      unsubscribe(ERRORS, see);
      loseHandle(handle, closedError('the client is closed'));
      destroy(cluster);
    },
  };
  return handle;
}

/**
 * A failed node discovery has removed the old nodes from the list that destroy() closes.
 * @param {any} cluster
 */
function destroy(cluster) {
  const nodes = [...cluster.nodeByAddress.values()];
  if (cluster.isOpen) cluster.destroy();
  for (const { client } of nodes) if (client?.isOpen) client.destroy();
}

/**
 * @param {import('../lib/types.js').OpenContext} context
 * @returns {Promise<any>} a cluster client that is ready
 */
async function connect({ address, credentials, profile }) {
  const name = 'redis-cluster';
  const { createCluster, ...errors } = /** @type {any} */ (await import('redis'));
  for (const errorClass of [
    errors.ClientClosedError,
    errors.DisconnectsClientError,
    errors.RootNodesUnavailableError,
    errors.SocketClosedUnexpectedlyError,
  ]) {
    codeClass(errorClass);
  }
  codeClass(errors.TimeoutError, 'ETIMEDOUT');
  const nodes = knownNodes(address, name);
  const guard = nodeGuard(address, name);
  const { main } = address;
  const { user: username, password } = credentials;
  /** @type {unknown} */
  let refused;
  const cluster = createCluster({
    ...profile.options,
    rootNodes: nodes.map((socket) => ({ socket })),
    defaults: {
      username,
      password,
      maintNotifications: 'disabled',
      ...(main.tls && { socket: { tls: true, ...tlsOptions(main) } }),
    },
    nodeAddressMap(/** @type {string} */ place) {
      try {
        guard(place);
      } catch (error) {
        refused ??= error;
        throw error;
      }
      return undefined;
    },
  });
  const events = ['error', 'node-error'];
  for (const event of events) cluster.on(event, withCode);
  const connecting = connectWithCause(cluster, events).catch((/** @type {unknown} */ error) => {
    throw refused ?? error;
  });
  const target = { storage: name, endpoint: main, credentials };
  await openOrThrow(target, connecting, () => destroy(cluster));
  return cluster;
}
