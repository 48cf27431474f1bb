/**
 * A server's own count of executed operations, to compare with the client's. One implementation per
 * server, each imported on first use. Read-only: nothing on the server is changed or reset.
 */

/** @typedef {import('../../lib/types.js').ConnectionContext} ConnectionContext */

/**
 * @typedef {object} ServerCount
 * @property {string} identity identity of the running server, which changes at each start of its
 *   process (or of one of its processes)
 * @property {number | null} operations commands or statements executed for clients since then,
 *   except failed ones and those for connecting, housekeeping and the counter itself; null: no
 *   count
 * @property {number | null} [lookups] keys or rows that were read, since a command may read several
 * @property {number | null} errors error replies sent since then, except redirections of a cluster;
 *   null: not counted
 *
 * @typedef {object} Counter
 * @property {() => Promise<ServerCount>} read one round trip per process of the server
 * @property {(ms: number) => Promise<boolean>} [others] whether connections older than its own,
 *   except those of replication, were used in the last ms, to the second
 * @property {() => void} close
 */

/** @type {Readonly<Record<string, () => Promise<{ openCounter(context: ConnectionContext):
 *   Promise<Counter> }>>>} */
const SERVERS = Object.freeze({
  redis: () => import('./redis.js'),
  'redis-cluster': async () => ({
    openCounter: (await import('./redis.js')).openClusterCounter,
  }),
  mariadb: () => import('./mariadb.js'),
  tarantool: () => import('./tarantool.js'),
  cassandra: () => import('./cassandra.js'),
});

/**
 * @param {string} server server name
 * @param {ConnectionContext} context
 * @returns {Promise<Counter | null>} null: this server has no count
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: unreachable, or the user lacks a
 *   privilege, which the message names
 */
export async function openCounter(server, context) {
  if (!Object.hasOwn(SERVERS, server)) return null;
  const { openCounter: open } = await SERVERS[server]();
  const counter = await open(context);
  try {
    await counter.read(); // detects a missing privilege before anything is measured
    return counter;
  } catch (error) {
    counter.close();
    throw error;
  }
}
