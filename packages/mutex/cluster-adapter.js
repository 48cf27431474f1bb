/**
 * Cluster clients of ioredis and node-redis for the mutex: every command is sent to the node of its
 * first key, and the subscription to the node of the channel's slot, where the unlock script
 * publishes. Keys and channel have a common hash tag, so this is one node.
 */

import { MutexError } from './mutex-error.js';
import { slotOf } from './slot.js';

/**
 * @typedef {object} ClusterNodes
 * @property {(key: string, words: string[]) => Promise<any>} command sends to the node of the key
 * @property {(slot: number) => Promise<any>} primary a client of the same driver for that node
 */

/**
 * @param {any} client
 * @returns {ClusterNodes | null} null: not a cluster client
 */
export function clusterNodesOf(client) {
  if (client?.isCluster === true && typeof client.nodes === 'function') return ofIoredis(client);
  return typeof client?.nodeClient === 'function' ? ofNodeRedis(client) : null;
}

/** @param {any} cluster @returns {ClusterNodes} */
function ofIoredis(cluster) {
  return {
    command: (_key, [name, ...rest]) => cluster.call(name, rest),
    async primary(slot) {
      const [place] = cluster.slots[slot] ?? [];
      const found = cluster
        .nodes('master')
        .find((/** @type {any} */ { options: { host, port } }) => `${host}:${port}` === place);
      return found ?? notServed(slot);
    },
  };
}

/** @param {any} cluster @returns {ClusterNodes} */
function ofNodeRedis(cluster) {
  return {
    command: (key, words) => cluster.sendCommand(key, false, words),
    primary: async (slot) =>
      cluster.nodeClient((cluster.slots[slot] ?? notServed(slot)).master ?? notServed(slot)),
  };
}

/** @param {number} slot @returns {never} */
function notServed(slot) {
  throw new MutexError('MUTEX_CONNECTION', `no node of the cluster serves slot ${slot}`);
}

/**
 * @param {ClusterNodes} nodes
 * @param {(client: any) => import('./client-adapter.js').ClientAdapter} adaptNode
 * @returns {import('./client-adapter.js').ClientAdapter}
 */
export function adaptCluster(nodes, adaptNode) {
  return {
    command: (words) => nodes.command(words[keyAt(words[0])], words),
    dedicate: null,
    async subscribe(channel, listener) {
      // Waits for the slots, which are unknown while the client connects.
      await nodes.command(channel, ['EXISTS', channel]);
      return adaptNode(await nodes.primary(slotOf(channel))).subscribe(channel, listener);
    },
  };
}

/** @param {string} name @returns {number} position of the first key */
function keyAt(name) {
  return name === 'EVALSHA' || name === 'EVAL' ? 3 : 1;
}

/**
 * All keys of a lock must be in one slot, with the channel of a prefix at their node.
 * @param {string} prefix
 * @throws {MutexError} MUTEX_ARGUMENT
 */
export function requireHashTag(prefix) {
  if (/\{[^}]+\}/.test(prefix)) return;
  throw new MutexError(
    'MUTEX_ARGUMENT',
    `prefix ${prefix}: needs a hash tag on a cluster, such as {${prefix.replace(/[:{}]+$/, '')}}:`,
  );
}
