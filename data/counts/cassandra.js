/**
 * Requests coordinated by a node of Cassandra, on existing tables: dropping a table removes its
 * counts. A batch counts as one per table. Preparing, connecting and reads of system tables, which
 * a reading itself uses, are excluded. Error replies are not attributed to tables.
 */

import { openCassandra } from '../connections/cassandra.js';
import { TIMEOUT_MS_DEFAULT } from '../connections/socket-connection.js';

/** Increased by at least one at each start. */
const GENERATION = 'select host_id, gossip_generation from system.local';
/** Since Cassandra 4; the query cannot be restricted to the keyspace. */
const COUNTS = ['read', 'scan', 'write'].map(
  (kind) => `select keyspace_name, count from system_views.coordinator_${kind}_latency`,
);
const SYSTEM = /^system(_|$)/;

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @returns {Promise<import('./index.js').Counter>}
 */
export async function openCounter(context) {
  const { ask, close } = await openCassandra(context, context.timeoutMs ?? TIMEOUT_MS_DEFAULT);
  return {
    async read() {
      const [local, ...counts] = await Promise.all([GENERATION, ...COUNTS].map((cql) => ask(cql)));
      let operations = 0;
      for (const { rows } of counts) {
        for (const { keyspace_name: keyspace, count } of rows) {
          if (!SYSTEM.test(keyspace)) operations += Number(count);
        }
      }
      const { host_id: host, gossip_generation: generation } = local.first();
      return { identity: `${host} ${generation}`, operations, errors: null };
    },
    close,
  };
}
