/** The place of the inserted rows in Cassandra: a keyspace of ours; its table's comment marks it. */

import { formatEndpoint } from '../../lib/address.js';
import { refusedError, targetError } from '../../lib/errors.js';
import { INSERT_MARKER, INSERT_PLACE } from '../../lib/insertion.js';

const { keyspace, cassandraTable } = INSERT_PLACE;
const TABLE = `${keyspace}.${cassandraTable}`;

/**
 * @param {import('./stage.js').StageServer} server
 * @returns {Promise<import('./stage.js').InsertStage>}
 */
export async function openStage({ address: { main }, credentials: { user, password } }) {
  const { auth, Client, policies } = await import('cassandra-driver');
  const { AllowListPolicy, RoundRobinPolicy } = policies.loadBalancing;
  const place = formatEndpoint(main);
  const where = `Cassandra at ${place}`;
  const client = new Client({
    contactPoints: [place],
    policies: { loadBalancing: new AllowListPolicy(new RoundRobinPolicy(), [place]) },
    // Changes of the schema are written to the disk before they are acknowledged.
    socketOptions: { connectTimeout: 5000, readTimeout: 60_000 },
    ...(user !== undefined && {
      authProvider: new auth.PlainTextAuthProvider(user, password ?? ''),
    }),
  });
  await client.connect().catch(async (error) => {
    await client.shutdown();
    throw targetError(`${where}: ${error.message}`, undefined, error);
  });
  /** @returns {Promise<boolean | null>} null: nothing is there */
  const isOurs = async () => {
    const keyspaces = await client.execute(
      'select keyspace_name from system_schema.keyspaces where keyspace_name = ?',
      [keyspace],
    );
    if (keyspaces.rows.length === 0) return null;
    const { rows } = await client.execute(
      'select table_name, comment from system_schema.tables where keyspace_name = ?',
      [keyspace],
    );
    // Without a table: made by one of us that was killed between the two.
    return rows.every(
      ({ table_name: name, comment }) => name === cassandraTable && comment === INSERT_MARKER,
    );
  };
  return {
    async make() {
      const ours = await isOurs();
      if (ours === false) {
        throw refusedError(
          `${where}: keyspace ${keyspace} is there and was not made by Dragstrip: nothing was ` +
            'touched',
          'use another server (`dragstrip servers start cassandra`), or remove what is yours',
        );
      }
      if (ours) await client.execute(`drop keyspace ${keyspace}`);
      await client.execute(
        `create keyspace ${keyspace} with replication = ` +
          "{'class': 'SimpleStrategy', 'replication_factor': 1}",
      );
      await client.execute(
        `create table ${TABLE} (a int primary key, b int) with comment = '${INSERT_MARKER}'`,
      );
    },
    async strike() {
      if (await isOurs()) await client.execute(`drop keyspace ${keyspace}`);
    },
    async close() {
      await client.shutdown();
    },
  };
}
