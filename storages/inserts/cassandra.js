/**
 * Inserting by cassandra-driver. An INSERT of Cassandra silently overwrites an existing row, so
 * duplicates are detected by the server's count of writes to the table; equal rows of one batch are
 * a single write, so sent rows are counted here too.
 */

import { cassandraClient } from '../../lib/cassandra.js';
import { openOrThrow, targetOf } from '../connection.js';
import { openSeveral } from './connections.js';
import { rowsOf } from './rows.js';

const PREPARED = { prepare: true };
const UNLOGGED = { prepare: true, logged: false };
const LOGGED = { prepare: true, logged: true };
const PAGE_ROWS = 5000;
const SETTINGS = ['commitlog_sync', 'commitlog_sync_period'];

/** Descriptions of the strategies, for the tables. */
export const CASSANDRA_INSERTS = Object.freeze({
  one: 'INSERT, prepared',
  async: 'INSERT, prepared',
  workers: 'INSERT, prepared, a connection per worker',
  pairs: 'unlogged batch of two',
  batch_pure: 'unlogged batch',
  batch_pure2: 'unlogged batch, two connections',
  unlogged_batch: 'unlogged batch',
  logged_batch: 'logged batch',
});

/** @typedef {import('cassandra-driver').Client} Client */
/** @typedef {{ query: string, params: number[] }[]} Queries */

/**
 * @param {import('../../lib/types.js').InsertContext} context
 * @returns {Promise<import('../../lib/types.js').Inserter>}
 */
export async function openCassandraInserter(context) {
  const target = targetOf(context, 'main', 'cassandra');
  const { endpoint, credentials } = target;
  const { types } = await import('cassandra-driver');
  const pooling = { coreConnectionsPerHost: { [types.distance.local]: 1 } };
  const { all, close } = await openSeveral(
    context.connections,
    async () => {
      // A retried request could be stored twice, and would take the time of two.
      const client = await cassandraClient(endpoint, credentials, { pooling, once: true });
      await openOrThrow(target, client.connect(), () => client.shutdown());
      return client;
    },
    (client) => client.shutdown(),
  );
  return { ...cqlInserter(all, context), close };
}

/**
 * @param {Client[]} clients one per worker
 * @param {import('../../lib/types.js').InsertContext} context
 * @returns {Omit<import('../../lib/types.js').Inserter, 'close'>}
 */
function cqlInserter(clients, { names, numberOf }) {
  const [client] = clients;
  const table = `${names.keyspace}.${names.cassandraTable}`;
  const insert = `insert into ${table} (a, b) values (?, ?)`;
  /** @param {number} from @param {number} to @returns {Queries} */
  const build = (from, to) =>
    rowsOf(from, to, (a) => ({ query: insert, params: [a, numberOf(a)] }));
  /** @param {typeof LOGGED} options */
  const batch = (options) => ({
    build,
    send: (/** @type {Queries} */ queries, /** @type {number} */ worker) =>
      clients[worker].batch(queries, options).then(() => queries.length),
    stored: (/** @type {number} */ reply) => reply,
  });
  return {
    async clear() {
      await client.execute(`truncate table ${table}`);
    },
    read: (see) => readRows(client, table, see),
    writes: () => countWrites(client, names),
    durability: () => readDurability(client),
    ways: {
      single: {
        build: (from) => [from, numberOf(from)],
        send: (row, worker) => clients[worker].execute(insert, row, PREPARED),
        stored: () => 1,
      },
      batch: batch(UNLOGGED),
      atomic: batch(LOGGED),
    },
  };
}

/**
 * @param {Client} client
 * @param {string} table
 * @param {(a: number, b: number) => void} see
 */
async function readRows(client, table, see) {
  const options = { prepare: true, fetchSize: PAGE_ROWS };
  const rows = await client.execute(`select a, b from ${table}`, [], options);
  for await (const { a, b } of rows) see(a, b);
}

/**
 * @param {Client} client
 * @param {import('../../lib/types.js').NamespaceNames} names
 * @returns {Promise<number | null>} null before Cassandra 4, which has no such table
 */
async function countWrites(client, { keyspace, cassandraTable }) {
  const cql =
    'select count from system_views.local_write_latency where keyspace_name = ? and table_name = ?';
  try {
    const { rows } = await client.execute(cql, [keyspace, cassandraTable], PREPARED);
    return rows.length === 0 ? null : Number(rows[0]['count']);
  } catch {
    return null;
  }
}

/** @param {Client} client */
async function readDurability(client) {
  try {
    const { rows } = await client.execute('select name, value from system_views.settings');
    const values = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    return SETTINGS.filter((name) => values[name] !== undefined && values[name] !== null)
      .map((name) => `${name} ${values[name]}`)
      .join(', ');
  } catch (error) {
    return `unknown: ${error.message}`;
  }
}
