/** The servers by name, loaded on demand. */

import { usageError } from '../lib/errors.js';

/** @typedef {import('../lib/types.js').ServerDefinition} ServerDefinition */

/**
 * A new server needs one file and one line here.
 * @type {Record<string, () => Promise<{ default: ServerDefinition }>>}
 */
const SERVERS = {
  redis: () => import('./redis.js'),
  mariadb: () => import('./mariadb.js'),
  tarantool: () => import('./tarantool.js'),
  cassandra: () => import('./cassandra.js'),
  nutcracker: () => import('./nutcracker.js'),
  haproxy: () => import('./haproxy.js'),
  valkey: () => import('./valkey.js'),
  'redis-cluster': () => import('./redis-cluster.js'),
  coordinator: () => import('./coordinator.js'),
};

/** Names of all servers, in the order of the help. */
export const SERVER_NAMES = Object.freeze(Object.keys(SERVERS));

/**
 * Servers fetched or started only by name: Cassandra, which needs half a gigabyte and Java,
 * proxies, which store nothing, the cluster, which has six processes, and the coordinator, which is
 * never measured.
 */
const BY_NAME_ONLY = [
  ...['cassandra', 'nutcracker', 'haproxy', 'valkey', 'redis-cluster', 'coordinator'],
];

/** Servers fetched and started without names. */
export const DEFAULT_SERVER_NAMES = Object.freeze(
  SERVER_NAMES.filter((name) => !BY_NAME_ONLY.includes(name)),
);

/**
 * @param {string} name
 * @returns {Promise<ServerDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE for an unknown name
 */
export async function loadServer(name) {
  if (!Object.hasOwn(SERVERS, name)) {
    throw usageError(
      `unknown server ${JSON.stringify(name)}`,
      `available servers: ${SERVER_NAMES.join(', ')}`,
    );
  }
  return (await SERVERS[name]()).default;
}
