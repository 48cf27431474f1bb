/**
 * Namespaces: the keys, table or space that Dragstrip owns on a server, marked as its own. One
 * implementation per server; each is imported on first use.
 */

import { usageError } from '../../lib/errors.js';

/** @typedef {import('../../lib/types.js').Namespace} Namespace */
/** @typedef {import('../../lib/types.js').NamespaceHandle} NamespaceHandle */
/** @typedef {import('../../lib/types.js').ConnectionContext} ConnectionContext */

/** @type {Readonly<Record<string, () => Promise<{ openNamespace(context: ConnectionContext,
 *   namespace: any): Promise<NamespaceHandle> }>>>} */
const SERVERS = Object.freeze({
  redis: () => import('./redis.js'),
  'redis-cluster': async () => ({
    openNamespace: (await import('./redis.js')).openClusterNamespace,
  }),
  mariadb: () => import('./mariadb.js'),
  tarantool: () => import('./tarantool.js'),
  cassandra: () => import('./cassandra.js'),
});

/**
 * @param {string} server server name
 * @param {Namespace} namespace
 * @param {ConnectionContext} context
 * @returns {Promise<NamespaceHandle>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: it declares nothing for this
 *   server; E_TARGET: the server does not respond
 */
export async function openNamespace(server, namespace, context) {
  if (!Object.hasOwn(SERVERS, server) || !Object.hasOwn(namespace, fieldOf(server))) {
    throw usageError(`${namespace.name}: no namespace on ${server}`);
  }
  return (await SERVERS[server]()).openNamespace(context, namespace);
}

/**
 * @param {string} server
 * @returns {string} the field of a namespace that declares its names there; a cluster uses those of
 *   the single server
 */
function fieldOf(server) {
  return server === 'redis-cluster' ? 'redis' : server;
}
