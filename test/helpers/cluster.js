/** A Redis Cluster in a test: commands to one node, migration of a slot. */

import { formatPlace } from '../../lib/address.js';
import { slotOf } from '../../packages/mutex/slot.js';
import { parseSlots } from '../../protocols/resp/slots.js';
import { callRedis } from '../../servers/cluster-call.js';

/** @typedef {import('../../lib/types.js').Endpoint} Endpoint */
/** @typedef {ReturnType<typeof import('./servers.js').withServers>} Servers */

export const CLUSTER = 'redis-cluster';
export const CLUSTER_CLIENTS = Object.freeze([
  ...['ioredis-cluster', 'redis-cluster', 'iovalkey-cluster', 'valkey-glide-cluster'],
]);

/**
 * @param {Servers} servers servers with a cluster
 * @returns {(node: Endpoint, ...words: string[]) => Promise<any>} sends a command to one node
 */
export function callerOf(servers) {
  const messages = { title: CLUSTER, hint: '', password: '' };
  return (node, ...words) => callRedis(node, servers.credentials(CLUSTER), words, messages);
}

/**
 * @param {Servers} servers
 * @returns {Promise<(import('../../protocols/resp/slots.js').SlotRange & { primary: Endpoint })[]>}
 */
export async function rangesOf(servers) {
  const { main } = servers.address(CLUSTER);
  const reply = await callerOf(servers)(main, 'CLUSTER', 'SLOTS');
  return parseSlots(reply, String(main.host)).map((range) => ({
    ...range,
    primary: { host: range.nodes[0].host, port: range.nodes[0].port },
  }));
}

/**
 * Opens the migration of a key's slot and moves this one key, like redis-cli --cluster reshard: its
 * old node replies ASK from now on, and still owns the slot.
 * @param {Servers} servers
 * @param {string} key
 * @returns {Promise<() => Promise<void>>} function that moves it back and ends the migration
 */
export async function moveKey(servers, key) {
  const call = callerOf(servers);
  const slot = slotOf(key);
  const ranges = await rangesOf(servers);
  const owner = ranges.find(({ first, last }) => first <= slot && slot <= last);
  const from = /** @type {Endpoint} */ (owner?.primary);
  const other = ranges.find(({ primary }) => formatPlace(primary) !== formatPlace(from));
  const to = /** @type {Endpoint} */ (other?.primary);
  const [fromId, toId] = await Promise.all([from, to].map((node) => call(node, 'CLUSTER', 'MYID')));
  const number = String(slot);
  await call(to, 'CLUSTER', 'SETSLOT', number, 'IMPORTING', fromId);
  await call(from, 'CLUSTER', 'SETSLOT', number, 'MIGRATING', toId);
  await migrate(from, to);
  return async () => {
    await call(from, 'CLUSTER', 'SETSLOT', number, 'STABLE');
    await migrate(to, from);
    await call(to, 'CLUSTER', 'SETSLOT', number, 'STABLE');
  };

  /** @param {Endpoint} here @param {Endpoint} there */
  async function migrate(here, there) {
    const { password } = servers.credentials(CLUSTER);
    // With TLS, nodes also use it among themselves.
    const [, encrypted] = await call(there, 'CONFIG', 'GET', 'tls-port');
    const port = encrypted === '0' ? String(there.port) : encrypted;
    const words = [String(there.host), port, key, '0', '5000', 'REPLACE'];
    await call(here, 'MIGRATE', ...words, 'AUTH', String(password));
  }
}
