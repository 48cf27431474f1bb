/**
 * Inserting by HandlerSocket, with our client: requests of one flight are committed together by the
 * server, without being a transaction. Rows are read back by SQL, so that what is counted is what
 * other clients see.
 */

import { INSERT_PLACE, numberOf, STRATEGIES, WORKERS } from '../../lib/insertion.js';
import { opened, requireEndpoint, socketPlace } from '../connection.js';
import { connect, readSql, sqlDurability } from './mysql2.js';

const { database, table } = INSERT_PLACE;
const CLOSE_LIMIT_MS = 2000;
/** The protocol's "all". */
const EVERY_ROW = 4_294_967_295;

/** How each strategy is done, for the tables. */
export const HANDLERSOCKET_INSERTS = Object.freeze({
  one: 'insert',
  async: 'insert, those of a tick in one flight',
  workers: `insert, ${WORKERS} connections`,
  pairs: 'flight of two inserts',
  batch_pure: 'flight of inserts',
  batch_pure2: 'flight of inserts, two connections',
  unlogged_batch: 'flight of inserts',
});

/** @typedef {import('../handlersocket/client.js').HandlerSocketClient} Client */
/** @typedef {import('../handlersocket/open-index.js').OpenIndex} OpenIndex */

/**
 * @param {import('../../lib/types.js').OpenContext} context
 * @returns {Promise<import('../../lib/types.js').Handle>}
 */
export async function openHandlerSocketInserter(context) {
  const { address, credentials, dataset, parameters } = context;
  const { workers } = STRATEGIES[String(parameters?.['strategy'])];
  const endpoint = requireEndpoint(address, 'read', 'manual-hs');
  const sqlEndpoint = requireEndpoint(address, 'sql', 'manual-hs');
  const target = { storage: 'manual-hs', endpoint, credentials };
  const { HandlerSocketClient } = await import('../handlersocket/index.js');
  const write = requireEndpoint(address, 'write', 'manual-hs');
  /** @type {{ client: Client, index: OpenIndex }[]} */
  const links = [];
  const closeAll = () =>
    Promise.all(links.map(({ client }) => client.close({ timeoutMs: CLOSE_LIMIT_MS })));
  for (let i = 0; i < workers; i += 1) {
    const client = new HandlerSocketClient({
      ...context.profile.options,
      ...socketPlace(endpoint),
      ...(write.path === undefined ? { writePort: write.port } : { writePath: write.path }),
      secret: credentials.secret,
      writeSecret: credentials.writeSecret,
    });
    const index = await opened(target, openIndex(client), () => client.destroy());
    links.push({ client, index });
  }
  const insert = inserter(links, dataset.seed, () => connect(sqlEndpoint, credentials));
  return {
    get: () => undefined,
    insert,
    async close() {
      await closeAll();
    },
  };
}

/** @param {Client} client */
async function openIndex(client) {
  await client.connect();
  return client.openIndex({ database, table, columns: ['a', 'b'] });
}

/**
 * @param {{ client: Client, index: OpenIndex }[]} links one for each worker
 * @param {number} seed
 * @param {() => Promise<import('mysql2/promise').Connection>} connectSql
 * @returns {import('../../lib/types.js').Inserter}
 */
function inserter(links, seed, connectSql) {
  /** @param {(sql: import('mysql2/promise').Connection) => Promise<any>} work */
  const bySql = async (work) => {
    const sql = await connectSql();
    try {
      return await work(sql);
    } finally {
      sql.destroy();
    }
  };
  return {
    // By HandlerSocket too: another driver in the process would change the speed of this one, and
    // TRUNCATE would wait for the tables that it holds open.
    async clear() {
      await links[0].index.remove('>=', 0, { limit: EVERY_ROW });
    },
    read: (see) => bySql((sql) => readSql(sql, see)),
    durability: () => bySql(sqlDurability),
    how: HANDLERSOCKET_INSERTS,
    ways: {
      single: {
        build: (from) => [from, numberOf(seed, from)],
        send: (row, worker) => links[worker].index.insert(row),
        stored: () => 1, // a row that is there already is an error
      },
      batch: {
        build(from, to) {
          const rows = [];
          for (let a = from; a < to; a += 1) rows.push([a, numberOf(seed, a)]);
          return rows;
        },
        send(rows, worker) {
          const { client, index } = links[worker];
          const batch = client.batch();
          for (const row of rows) batch.insert(index, row);
          return batch.send();
        },
        stored,
      },
    },
  };
}

/** @param {import('../handlersocket/request-batch.js').BatchResult[]} results */
function stored(results) {
  let refused = 0;
  for (const { status } of results) if (status !== 'fulfilled') refused += 1;
  return refused > 0 ? -refused : results.length;
}
