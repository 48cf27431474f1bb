/**
 * Inserting by HandlerSocket, with dragstrip-handlersocket: the server commits the requests of one
 * flight together, without a transaction. Rows are read back by SQL, to count those visible to
 * other clients.
 */

import { connectOptions, openOrThrow, requireEndpoint, targetOf } from '../connection.js';
import { MYSQL2, sqlTarget } from '../sql-clients.js';
import { openSeveral } from './connections.js';
import { rowsOf, storedOf } from './rows.js';
import { connectSql, readSql, sqlDurability } from './sql.js';

const CLOSE_LIMIT_MS = 2000;
/** The protocol's "all". */
const EVERY_ROW = 4_294_967_295;

/** Descriptions of the strategies, for the tables. */
export const HANDLERSOCKET_INSERTS = Object.freeze({
  one: 'insert',
  async: 'insert, those of a tick in one flight',
  workers: 'insert, a connection per worker',
  pairs: 'flight of two inserts',
  batch_pure: 'flight of inserts',
  batch_pure2: 'flight of inserts, two connections',
  unlogged_batch: 'flight of inserts',
});

/** @typedef {import('../../packages/handlersocket/client.js').HandlerSocketClient} Client */
/** @typedef {import('../../packages/handlersocket/open-index.js').OpenIndex} OpenIndex */

/**
 * @param {import('../../lib/types.js').InsertContext} context
 * @returns {Promise<import('../../lib/types.js').Inserter>}
 */
export async function openHandlerSocketInserter(context) {
  const { connections, names } = context;
  const target = targetOf(context, 'read', 'manual-hs');
  const { options } = sqlTarget(context, 'manual-hs');
  const { all, close } = await openSeveral(
    connections,
    async () => {
      const client = await createClient(context, target, true);
      const index = await openOrThrow(target, openIndex(client, names), () => client.destroy());
      return { client, index };
    },
    ({ client }) => client.close({ timeoutMs: CLOSE_LIMIT_MS }),
  );
  const connect = () => connectSql(MYSQL2, options);
  return { ...inserter(all, context, connect), close };
}

/**
 * @param {Pick<import('../../lib/types.js').OpenContext, 'address' | 'profile'>} context
 * @param {ReturnType<typeof targetOf>} target
 * @param {boolean} writes
 * @returns {Promise<Client>} not connected
 */
export async function createClient({ address, profile }, { endpoint, credentials }, writes) {
  const { HandlerSocketClient } = await import('../../packages/handlersocket/index.js');
  const { secret, writeSecret } = credentials;
  const { port, path } = writes ? requireEndpoint(address, 'write', 'manual-hs') : {};
  const place = path === undefined ? { writePort: port } : { writePath: path };
  return new HandlerSocketClient({
    ...profile.options,
    ...connectOptions(endpoint),
    secret,
    ...(writes && { ...place, writeSecret }),
  });
}

/**
 * @param {Client} client
 * @param {import('../../lib/types.js').NamespaceNames} names
 */
async function openIndex(client, { database, table }) {
  await client.connect();
  return client.openIndex({ database, table, columns: ['a', 'b'] });
}

/**
 * @param {{ client: Client, index: OpenIndex }[]} workers one per worker
 * @param {import('../../lib/types.js').InsertContext} context
 * @param {() => Promise<import('../sql-clients.js').SqlConnection>} connect
 * @returns {Omit<import('../../lib/types.js').Inserter, 'close'>}
 */
function inserter(workers, { names: { table }, numberOf }, connect) {
  /** @param {(sql: import('../sql-clients.js').SqlConnection) => Promise<any>} work */
  const bySql = async (work) => {
    const sql = await connect();
    try {
      return await work(sql);
    } finally {
      sql.destroy();
    }
  };
  return {
    // Also by HandlerSocket, because another driver in the process would change the speed, and
    // TRUNCATE would wait for its open tables.
    async clear() {
      await workers[0].index.remove('>=', 0, { limit: EVERY_ROW });
    },
    read: (see) => bySql((sql) => readSql(MYSQL2, sql, table, see)),
    durability: () => bySql((sql) => sqlDurability(MYSQL2, sql)),
    ways: {
      single: {
        build: (from) => [from, numberOf(from)],
        send: (row, worker) => workers[worker].index.insert(row),
        stored: () => 1, // an existing row is an error
      },
      batch: {
        build: (from, to) => rowsOf(from, to, (a) => [a, numberOf(a)]),
        send(rows, worker) {
          const { client, index } = workers[worker];
          const batch = client.batch();
          for (const row of rows) batch.insert(index, row);
          return batch.send();
        },
        stored,
      },
    },
  };
}

/** @param {import('../../packages/handlersocket/request-batch.js').BatchResult[]} results */
function stored(results) {
  return storedOf(results, ({ status }) => status === 'fulfilled');
}
