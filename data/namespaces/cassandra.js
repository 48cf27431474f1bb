/** A namespace in Cassandra: a keyspace with one table, whose comment marks it. */

import { formatEndpoint } from '../../lib/address.js';
import { explainCassandra } from '../../lib/cassandra-error.js';
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
  const ask = (/** @type {string} */ query, /** @type {unknown[]} */ values = []) =>
    client.execute(query, values).catch((error) => {
      throw explained(where, error);
    });
  return {
    async check() {
      requireUnused((await readOwnership(ask, names)).mark, where, name);
    },
    async claim() {
      const { mark, notOurs } = await readOwnership(ask, names);
      if (notOurs !== null) throw notOursError(where, notOurs, 'cassandra');
      requireUnused(mark, where, name);
      if (mark !== null) await ask(`drop keyspace ${keyspace}`);
      await ask(
        `create keyspace ${keyspace} with replication = ` +
          "{'class': 'SimpleStrategy', 'replication_factor': 1}",
      );
      const comment = formatMark({ what: name });
      await ask(`create table ${keyspace}.${table} ${definition} with comment = '${comment}'`);
    },
    async release() {
      const { mark } = await readOwnership(ask, names);
      if (mark === null || otherUser(mark) !== null) return 0;
      await ask(`drop keyspace ${keyspace}`);
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
    throw explained(where, error);
  });
  return client;
}

/**
 * @param {string} where
 * @param {Error} error of the driver
 */
function explained(where, error) {
  const { text, hint } = explainCassandra(error);
  return targetError(`${where}: ${text}`, hint, error);
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
