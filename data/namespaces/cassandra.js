/** A namespace in Cassandra: a keyspace with one table, whose comment marks it. */

import { formatEndpoint } from '../../lib/address.js';
import { targetError } from '../../lib/errors.js';
import { formatMark, notOursError, otherUser, parseMark, requireUnused } from './mark.js';

const CONNECT_TIMEOUT_MS = 5000;
/** Changes of the schema are written to the disk before they are acknowledged. */
const READ_TIMEOUT_MS = 60_000;

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {import('../../lib/types.js').Namespace &
 *   { cassandra: { keyspace: string, table: string, definition: string } }} namespace
 * @returns {Promise<import('../../lib/types.js').NamespaceHandle>}
 */
export async function openNamespace(context, { name, cassandra: names }) {
  const { keyspace, table, definition } = names;
  const where = `Cassandra at ${formatEndpoint(context.address['main'])}`;
  const client = await connect(context, where);
  return {
    async check() {
      requireUnused((await readOwnership(client, names)).mark, where, name);
    },
    async claim() {
      const { mark, notOurs } = await readOwnership(client, names);
      if (notOurs !== null) throw notOursError(where, notOurs, 'cassandra');
      requireUnused(mark, where, name);
      if (mark !== null) await client.execute(`drop keyspace ${keyspace}`);
      await client.execute(
        `create keyspace ${keyspace} with replication = ` +
          "{'class': 'SimpleStrategy', 'replication_factor': 1}",
      );
      const comment = formatMark({ what: name });
      await client.execute(
        `create table ${keyspace}.${table} ${definition} with comment = '${comment}'`,
      );
    },
    async release() {
      const { mark } = await readOwnership(client, names);
      if (mark === null || otherUser(mark) !== null) return 0;
      await client.execute(`drop keyspace ${keyspace}`);
      return 0; // counting them would read the whole table
    },
    async close() {
      await client.shutdown();
    },
  };
}

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {string} where
 * @returns {Promise<import('cassandra-driver').Client>}
 */
async function connect({ address, credentials: { user, password } }, where) {
  const { auth, Client, policies } = await import('cassandra-driver');
  const { AllowListPolicy, RoundRobinPolicy } = policies.loadBalancing;
  const endpoint = formatEndpoint(address['main']);
  const client = new Client({
    contactPoints: [endpoint],
    policies: { loadBalancing: new AllowListPolicy(new RoundRobinPolicy(), [endpoint]) },
    socketOptions: { connectTimeout: CONNECT_TIMEOUT_MS, readTimeout: READ_TIMEOUT_MS },
    ...(user !== undefined && {
      authProvider: new auth.PlainTextAuthProvider(user, password ?? ''),
    }),
  });
  await client.connect().catch(async (error) => {
    await client.shutdown();
    throw targetError(`${where}: ${error.message}`, undefined, error);
  });
  return client;
}

/**
 * @param {import('cassandra-driver').Client} client
 * @param {{ keyspace: string, table: string }} names
 * @returns {Promise<import('./mark.js').Ownership>}
 */
async function readOwnership(client, { keyspace, table }) {
  const keyspaces = await client.execute(
    'select keyspace_name from system_schema.keyspaces where keyspace_name = ?',
    [keyspace],
  );
  if (keyspaces.rows.length === 0) return { mark: null, notOurs: null };
  const { rows } = await client.execute(
    'select table_name, comment from system_schema.tables where keyspace_name = ?',
    [keyspace],
  );
  // Without a table: created by a run that was killed between the two statements.
  if (rows.length === 0) return { mark: {}, notOurs: null };
  const marks = rows.map((row) => (row['table_name'] === table ? parseMark(row['comment']) : null));
  const notOurs = marks.includes(null) ? `keyspace ${keyspace}` : null;
  return { mark: notOurs === null ? marks[0] : null, notOurs };
}
