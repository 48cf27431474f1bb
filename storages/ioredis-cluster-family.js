/**
 * Cluster clients of ioredis and its forks with the same interface. Clusters refuse MGET over
 * several slots and these clients do not split it, so it is not supported.
 */

import { tlsOptions } from '../lib/tls.js';
import { countRedirects, knownNodes, nodeGuard } from './cluster-nodes.js';
import { closedError, connectWithCause, loseHandle, openOrThrow, withCode } from './connection.js';
import { openInserter } from './inserts/redis.js';
import { CLUSTER_INSERTS, ioredisClusterConnection, TAGGED } from './inserts/redis-cluster.js';
import { CLUSTER_TAG, IOREDIS_CLUSTER_LOCKS, openLocks } from './locks/redis.js';
import { closeIoredis, codeLostRequests } from './redis-clients.js';
import { REDIS_REPLIES } from './redis-replies.js';

/** @typedef {import('../lib/types.js').OpenContext} OpenContext */
/** @typedef {import('./redis-clients.js').IoredisDriver} IoredisDriver */

// The loss of all nodes must be detected. The client handles the loss of one: it requests the slots
// from the others and retries.
const FAULTS_VISIBLE = { clusterRetryStrategy: null };

const PROFILES = {
  default: { summary: 'cluster.get with its default options', options: FAULTS_VISIBLE },
  replicas: {
    summary: 'reads from replicas',
    options: { ...FAULTS_VISIBLE, scaleReads: 'slave' },
  },
};

/**
 * @param {IoredisDriver} driver
 * @returns {Omit<import('../lib/types.js').StorageDefinition, 'name' | 'summary' | 'package'>}
 */
export function onIoredisCluster(driver) {
  return {
    server: 'redis-cluster',
    alternative: true,
    tls: true,
    rows: ['get', 'set'],
    inserts: CLUSTER_INSERTS,
    locks: IOREDIS_CLUSTER_LOCKS,
    profiles: PROFILES,
    open: {
      rows: (context) => openRows(context, driver),
      insert: (context) =>
        openInserter(
          context,
          async () => ioredisClusterConnection(await connectAlone(context, driver)),
          TAGGED,
        ),
      async lock(context) {
        const client = await connectAlone(context, driver);
        return openLocks(context, {
          storage: `${driver.name}-cluster`,
          client,
          tag: CLUSTER_TAG,
          offered: IOREDIS_CLUSTER_LOCKS,
          send: ([name, ...words]) => client.call(name, words),
          disconnect: () => closeIoredis(client),
        });
      },
    },
  };
}

/**
 * @param {OpenContext} context
 * @param {IoredisDriver} driver
 * @returns {Promise<import('../lib/types.js').RowsHandle>}
 */
async function openRows(context, driver) {
  const { redisPrefix: prefix } = context.names;
  const redirects = countRedirects();
  /** @type {import('../lib/types.js').RowsHandle | undefined} */
  let opened;
  const cluster = await connect(context, driver, redirects, (error) => {
    if (opened !== undefined) loseHandle(opened, error);
  });
  /** @type {import('../lib/types.js').RowsHandle} */
  const handle = {
    ...REDIS_REPLIES,
    get: (id) => cluster.get(prefix + id),
    set: (id, text) => cluster.set(prefix + id, text),
    redirects: () => ({ ...redirects.counts }),
    async close() {
      loseHandle(handle, closedError('the client is closed'));
      await closeIoredis(cluster);
    },
  };
  opened = handle;
  cluster.on('end', () => loseHandle(handle, closedError('no node can be reached')));
  return handle;
}

/**
 * For clusters that report losses by failing requests only.
 * @param {OpenContext} context
 * @param {IoredisDriver} driver
 * @returns {Promise<any>} a cluster client that is ready
 */
function connectAlone(context, driver) {
  return connect(context, driver, countRedirects(), () => {});
}

/**
 * @param {OpenContext} context
 * @param {IoredisDriver} driver
 * @param {ReturnType<typeof countRedirects>} redirects
 * @param {(error: Error) => void} lose called if it is redirected to an address that is not allowed
 * @returns {Promise<any>} a cluster client that is ready
 */
async function connect({ address, credentials, profile }, driver, redirects, lose) {
  const { Cluster } = /** @type {any} */ (await driver.load());
  const name = `${driver.name}-cluster`;
  const nodes = knownNodes(address, name);
  const guard = nodeGuard(address, name);
  const { user: username, password } = credentials;
  const { main } = address;
  /** @type {(error: Error) => void} */
  let refuse = () => {};
  const refusal = new Promise((_resolve, reject) => {
    refuse = reject;
  });
  refusal.catch(() => {}); // requests report it after opening
  const cluster = new Cluster(nodes, {
    ...profile.options,
    lazyConnect: true,
    redisOptions: { username, password, ...(main.tls && { tls: tlsOptions(main) }) },
    natMap(/** @type {string} */ place) {
      try {
        guard(place);
        return null;
      } catch (error) {
        refuse(/** @type {Error} */ (error));
        lose(/** @type {Error} */ (error));
        // Called from a parser, which must not throw.
        process.nextTick(() => cluster.disconnect());
        return nodes[0];
      }
    },
  });
  endOnce(cluster);
  codeErrors(cluster, redirects);
  const ready = Promise.race([refusal, connectWithCause(cluster, ['error', 'node error'])]);
  const target = { storage: name, endpoint: main, credentials };
  await openOrThrow(target, ready, () => cluster.disconnect());
  // It may have connected in the tick of the refusal.
  await Promise.race([refusal, Promise.resolve()]);
  return cluster;
}

/**
 * Two gaps of ioredis 6.0.0, after which `end` is never emitted and requests never settle: each
 * node that ends after the first returns the client from `end` to `close`, and a node of a
 * redirection during closing is added but not disconnected.
 * @param {any} cluster
 */
function endOnce(cluster) {
  const { setStatus } = cluster;
  cluster.setStatus = (/** @type {string} */ status) => {
    if (cluster.status !== 'end') setStatus.call(cluster, status);
  };
  cluster.on('+node', (/** @type {any} */ node) => {
    if (['disconnecting', 'close', 'end'].includes(cluster.status)) node.disconnect();
  });
}

/**
 * Adds a code to the plain errors of failed requests. Counts errors handled by the client.
 * @param {any} cluster
 * @param {ReturnType<typeof countRedirects>} redirects
 */
function codeErrors(cluster, { see }) {
  const { handleError } = cluster;
  cluster.handleError = (
    /** @type {Error} */ error,
    /** @type {any} */ ttl,
    /** @type {any} */ handlers,
  ) => {
    see(error.message);
    // The text of an error reply contains the code.
    if (error.name !== 'ReplyError') withCode(error);
    return handleError.call(cluster, error, ttl, {
      ...handlers,
      maxRedirections: (/** @type {Error} */ last) =>
        handlers.maxRedirections(withCode(last, 'CLUSTER_REDIRECTIONS')),
    });
  };
  codeLostRequests(cluster);
  cluster.on('+node', codeLostRequests);
}
