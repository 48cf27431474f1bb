/** mysql, the classic driver of MySQL and MariaDB: callbacks, text, one request at a time. */

import { defineStorage } from '../lib/define.js';
import { closedError, openOrThrow, watchLoss } from './connection.js';
import { CONNECT_TIMEOUT_MS, connectMysql, MYSQL, sqlTarget } from './sql-clients.js';
import { onSql } from './sql-family.js';
import { sqlOperations, sqlStatements } from './sql-rows.js';

export const storage = defineStorage({
  name: 'mysql',
  summary: 'mysql, the classic driver: text over SQL',
  package: 'mysql',
  alternative: true,
  ...onSql(MYSQL, openRows),
  profiles: {
    default: {
      summary: 'one connection, query: values escaped by the client',
      options: { connectTimeout: CONNECT_TIMEOUT_MS },
      calls: 'callback',
    },
  },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows(context) {
  const { target, options } = sqlTarget(context, 'mysql');
  const connection = await openOrThrow(target, connectMysql(options), () => {});
  const run = (
    /** @type {string} */ sql,
    /** @type {readonly any[]} */ values,
    /** @type {any} */ done,
  ) => connection.query(sql, values, done);
  return watchLoss(
    connection._socket,
    {
      ...sqlOperations(sqlStatements(context.names.table), run),
      async close() {
        // destroy() leaves outstanding requests pending forever; the function that fails them is
        // not public.
        connection._protocol.handleNetworkError(closedError());
        connection.destroy();
      },
    },
    'callback',
  );
}
