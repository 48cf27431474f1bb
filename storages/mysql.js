/** mysql, the classic driver of MySQL and MariaDB: callbacks, text, one request at a time. */

import { defineStorage } from '../lib/define.js';
import { openOrThrow, requireEndpoint, watchLoss, withCode } from './connection.js';
import { inOrder } from './in-order.js';
import { openSqlInserter, sqlInserts } from './inserts/sql.js';
import { GET_LOCKS, openGetLocks } from './locks/get-lock.js';
import { CONNECT_TIMEOUT_MS, connectMysql, MYSQL, sqlOptions } from './sql-clients.js';
import { pairsOf, sqlStatements } from './sql-rows.js';

/** @param {{ affectedRows: number }} reply */
const isOne = ({ affectedRows }) => affectedRows === 1;

export const storage = defineStorage({
  name: 'mysql',
  summary: 'mysql, the classic driver: text over SQL',
  package: 'mysql',
  server: 'mariadb',
  alternative: true,
  protocol: 'mysql',
  tls: true,
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
  inserts: sqlInserts(MYSQL),
  locks: GET_LOCKS,
  profiles: {
    default: {
      summary: 'one connection, query: values escaped by the client',
      options: { connectTimeout: CONNECT_TIMEOUT_MS },
      calls: 'callback',
    },
  },
  open: {
    rows: openRows,
    insert: (context) => openSqlInserter(context, MYSQL),
    lock: (context) => openGetLocks(context, MYSQL),
  },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows({ address, credentials, names }) {
  const endpoint = requireEndpoint(address, 'sql', 'mysql');
  const connecting = connectMysql(sqlOptions(endpoint, credentials, names.database));
  const target = { storage: 'mysql', endpoint, credentials };
  const connection = await openOrThrow(target, connecting, () => {});
  const { select, update, selectMany, insert, remove, range } = sqlStatements(names.table);
  return watchLoss(
    connection._socket,
    {
      get: (id, done) => connection.query(select, [id], done),
      value: (rows) => (rows.length === 0 ? undefined : rows[0].str),
      mget: (ids, done) => connection.query(selectMany(ids.length), ids, done),
      values: inOrder,
      set: (id, text, done) => connection.query(update, [text, id], done),
      stored: isOne,
      add: (id, text, done) => connection.query(insert, [id, text], done),
      added: isOne,
      del: (id, done) => connection.query(remove, [id], done),
      deleted: isOne,
      scan: (first, count, done) => connection.query(range, [first, first + count - 1], done),
      scanned: pairsOf,
      async close() {
        // destroy() leaves outstanding requests pending for ever; its own way of failing them
        // has no public name.
        connection._protocol.handleNetworkError(withCode(new Error('the connection was closed')));
        connection.destroy();
      },
    },
    'callback',
  );
}
