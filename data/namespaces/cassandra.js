/** A namespace in Cassandra: a keyspace with one table, whose comment marks it. */

import { openCassandra } from '../connections/cassandra.js';
import { namespaceHandle, parseMark } from './mark.js';

/** Schema changes are written to disk before they are acknowledged. */
const READ_TIMEOUT_MS = 60_000;

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {import('../../lib/types.js').Namespace &
 *   { cassandra: { keyspace: string, table: string, definition: string } }} namespace
 * @returns {Promise<import('../../lib/types.js').NamespaceHandle>}
 */
export async function openNamespace(context, { name, cassandra: names }) {
  const { keyspace, table, definition } = names;
  const { where, ask, close } = await openCassandra(context, READ_TIMEOUT_MS);
  return namespaceHandle({
    where,
    server: 'cassandra',
    name,
    ownership: () => readOwnership(ask, names),
    async create(mark, text) {
      // After a partial creation on a full disk a restarted server has the row, but no keyspace.
      if (mark !== null) await ask(`drop keyspace if exists ${keyspace}`);
      await ask(
        `create keyspace ${keyspace} with replication = ` +
          "{'class': 'SimpleStrategy', 'replication_factor': 1}",
      );
      await ask(`create table ${keyspace}.${table} ${definition} with comment = '${text}'`);
    },
    async remove() {
      await ask(`drop keyspace ${keyspace}`);
      return 0; // counting them would read the whole table
    },
    close,
  });
}

/**
 * @param {(query: string, values?: unknown[]) =>
 *   Promise<import('cassandra-driver').types.ResultSet>} ask
 * @param {{ keyspace: string, table: string }} names
 * @returns {Promise<import('./mark.js').Ownership>}
 */
async function readOwnership(ask, { keyspace, table }) {
  const keyspaces = await ask(
    'select keyspace_name from system_schema.keyspaces where keyspace_name = ?',
    [keyspace],
  );
  if (keyspaces.rows.length === 0) return { mark: null, notOurs: null };
  const { rows } = await ask(
    'select table_name, comment from system_schema.tables where keyspace_name = ?',
    [keyspace],
  );
  // Without a table: created by a run that was killed between the two statements.
  if (rows.length === 0) return { mark: {}, notOurs: null };
  const marks = rows.map((row) => (row['table_name'] === table ? parseMark(row['comment']) : null));
  const notOurs = marks.includes(null) ? `keyspace ${keyspace}` : null;
  return { mark: notOurs === null ? marks[0] : null, notOurs };
}
