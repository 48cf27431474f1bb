/** mariadb, MariaDB's own connector: it pipelines. */

import { defineStorage } from '../lib/define.js';
import { openOrThrow, requireEndpoint, watchLoss, withCode } from './connection.js';
import { inOrder } from './in-order.js';
import { openSqlInserter, sqlInserts } from './inserts/sql.js';
import { GET_LOCKS, openGetLocks } from './locks/get-lock.js';
import { CONNECT_TIMEOUT_MS, MARIADB, sqlOptions } from './sql-clients.js';
import { pairsOf, sqlStatements } from './sql-rows.js';

const BOUNDED = { connectTimeout: CONNECT_TIMEOUT_MS };

/** @param {{ affectedRows: number }} reply */
const isOne = ({ affectedRows }) => affectedRows === 1;

export const storage = defineStorage({
  name: 'mariadb',
  summary: "MariaDB's connector: prepared statements over SQL, pipelined",
  package: 'mariadb',
  server: 'mariadb',
  alternative: true,
  protocol: 'mysql',
  tls: true,
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
  inserts: sqlInserts(MARIADB, { pipelines: true }),
  locks: GET_LOCKS,
  profiles: {
    default: { summary: 'one connection, execute', options: BOUNDED },
    text: {
      summary: 'one connection, query: text, values escaped by the client',
      options: { ...BOUNDED, call: 'query' },
    },
  },
  open: {
    rows: openRows,
    insert: (context) => openSqlInserter(context, MARIADB),
    lock: (context) => openGetLocks(context, MARIADB),
  },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows({ address, credentials, profile, names }) {
  const endpoint = requireEndpoint(address, 'sql', 'mariadb');
  const target = { storage: 'mariadb', endpoint, credentials };
  const { call, ...options } = /** @type {any} */ (profile.options);
  const connecting = MARIADB.connect({
    ...sqlOptions(endpoint, credentials, names.database),
    ...options,
  });
  const connection = /** @type {any} */ (await openOrThrow(target, connecting, () => {}));
  connection.on('error', withCode);
  const { select, update, selectMany, insert, remove, range } = sqlStatements(names.table);
  // Prepares the statement, so that the first read does not pay a round trip more.
  const ready = call === 'query' ? connection.query('select 1') : connection.execute(select, [0]);
  await openOrThrow(target, ready, () => connection.destroy());
  const socket = connection.__tests.getSocket();
  /** @type {(sql: string, values: readonly any[]) => Promise<any>} */
  const run =
    call === 'query'
      ? (sql, values) => connection.query(sql, values)
      : (sql, values) => connection.execute(sql, values);
  return watchLoss(socket, {
    get: (id) => run(select, [id]),
    value: (rows) => (rows.length === 0 ? undefined : rows[0].str),
    mget: (ids) => run(selectMany(ids.length), ids),
    values: inOrder,
    set: (id, text) => run(update, [text, id]),
    stored: isOne,
    add: (id, text) => run(insert, [id, text]),
    added: isOne,
    del: (id) => run(remove, [id]),
    deleted: isOne,
    scan: (first, count) => run(range, [first, first + count - 1]),
    scanned: pairsOf,
    async close() {
      // destroy() of the driver opens a connection to KILL what runs, which a server that is
      // stopped never answers.
      socket.destroy(withCode(new Error('the connection was closed')));
    },
  });
}
