/** Inserting by SQL: prepared statements, packets of several statements, LOAD DATA. */

import { Readable } from 'node:stream';
import { coded, opened, requireEndpoint } from '../connection.js';
import { mysqlOptions } from '../mysql-options.js';
import { openSeveral } from './connections.js';

/** @typedef {import('../../lib/types.js').Inserter} Inserter */

/** Rows of a piece of the stream. */
const PIECE_ROWS = 5000;

/** How each strategy is done, for the tables. */
export const MYSQL_INSERTS = Object.freeze({
  one: 'INSERT, prepared',
  async: 'INSERT, prepared; the driver sends one after another',
  workers: 'INSERT, prepared, a connection per worker',
  pairs: 'two INSERTs in one packet',
  batch_pure: 'INSERTs in one packet, each its own transaction',
  batch_pure2: 'INSERTs in one packet, two connections',
  unlogged_batch: 'INSERTs in one packet, each its own transaction',
  logged_batch: 'BEGIN, INSERTs, COMMIT in one packet',
  multi_row: 'INSERT of many rows',
  bulk_load: 'LOAD DATA LOCAL INFILE',
});

/**
 * @param {import('../../lib/types.js').InsertContext} context
 * @returns {Promise<Inserter>}
 */
export async function openMysqlInserter(context) {
  const { address, credentials, connections, names } = context;
  const endpoint = requireEndpoint(address, 'sql', 'mysql2');
  const target = { storage: 'mysql2', endpoint, credentials };
  const { all, close } = await openSeveral(
    connections,
    async () => {
      const connecting = connectSql(endpoint, credentials, names.database);
      const connection = await opened(target, connecting, () => {});
      connection.on('error', coded); // also what rejects a request
      return connection;
    },
    (connection) => connection.destroy(),
  );
  return { ...sqlInserter(all, context), close };
}

/**
 * @param {import('../../lib/types.js').Endpoint} endpoint
 * @param {import('../../lib/types.js').Credentials} credentials
 * @param {string} database
 */
export async function connectSql(endpoint, credentials, database) {
  const { createConnection } = await import('mysql2/promise');
  const options = mysqlOptions(endpoint, credentials, database);
  return createConnection({ ...options, multipleStatements: true });
}

/**
 * @param {import('mysql2/promise').Connection[]} connections one for each worker
 * @param {import('../../lib/types.js').InsertContext} context
 * @returns {Omit<Inserter, 'close'>}
 */
function sqlInserter(connections, { names: { table }, numberOf: number }) {
  const [connection] = connections;
  const insert = `insert into ${table} values`;
  const prepared = `${insert} (?,?)`;
  const load = `load data local infile 'rows' into table ${table}`;
  /** @param {number} from @param {number} to */
  const statements = (from, to) => {
    let text = '';
    for (let a = from; a < to; a += 1) text += `${insert}(${a},${number(a)});`;
    return text;
  };
  /** @param {string} text @param {number} worker */
  const query = (text, worker) => connections[worker].query(text);
  return {
    async clear() {
      await connection.query(`truncate table ${table}`);
    },
    read: (see) => readSql(connection, table, see),
    durability: () => sqlDurability(connection),
    ways: {
      single: {
        build: (from) => [from, number(from)],
        send: (row, worker) => connections[worker].execute(prepared, row),
        stored: ([{ affectedRows }]) => affectedRows,
      },
      batch: { build: statements, send: query, stored: sumOfRows },
      atomic: {
        build: (from, to) => `begin;${statements(from, to)}commit;`,
        send: query,
        stored: sumOfRows,
      },
      rows: {
        build(from, to) {
          let text = `${insert}(${from},${number(from)})`;
          for (let a = from + 1; a < to; a += 1) text += `,(${a},${number(a)})`;
          return text;
        },
        send: query,
        stored: ([{ affectedRows }]) => affectedRows,
      },
      bulk: {
        build: (from, to) => ({ from, to }),
        send: ({ from, to }, worker) =>
          connections[worker].query({
            sql: load,
            infileStreamFactory: () => rowLines(from, to, number),
          }),
        stored: ([{ affectedRows, info }]) => -skippedOf(info) || affectedRows,
      },
    },
  };
}

/**
 * @param {[{ affectedRows: number }[]]} reply of several statements
 * @returns {number}
 */
function sumOfRows([results]) {
  let sum = 0;
  for (const { affectedRows } of results) sum += affectedRows;
  return sum;
}

/**
 * LOCAL makes a warning of a row that is there already, and leaves it out.
 * @param {string} info `Records: 3  Deleted: 0  Skipped: 1  Warnings: 1`
 */
function skippedOf(info) {
  return Number(/Skipped: (\d+)/.exec(info)?.[1] ?? 0);
}

/**
 * @param {number} from
 * @param {number} to
 * @param {(a: number) => number} number
 * @returns {Readable} lines `a TAB b LF`, made as they are read
 */
function rowLines(from, to, number) {
  let a = from;
  return new Readable({
    read() {
      if (a >= to) {
        this.push(null);
        return;
      }
      let text = '';
      for (const end = Math.min(to, a + PIECE_ROWS); a < end; a += 1)
        text += `${a}\t${number(a)}\n`;
      this.push(text);
    },
  });
}

/**
 * @param {import('mysql2/promise').Connection} connection
 * @param {string} table
 * @param {(a: number, b: number) => void} see
 */
export async function readSql(connection, table, see) {
  const [rows] = await connection.query({ sql: `select a, b from ${table}`, rowsAsArray: true });
  for (const [a, b] of /** @type {any[]} */ (rows)) see(a, b);
}

/**
 * @param {import('mysql2/promise').Connection} connection
 * @returns {Promise<string>}
 */
export async function sqlDurability(connection) {
  const [rows] = await connection.query(
    "show global variables where variable_name in ('innodb_flush_log_at_trx_commit', 'log_bin', " +
      "'sync_binlog')",
  );
  const all = /** @type {any[]} */ (rows).map(({ Variable_name: name, Value }) => [name, Value]);
  const values = Object.fromEntries(all);
  // Without a binary log it does not matter when that would be synced.
  const names = Object.keys(values).filter(
    (name) => name !== 'sync_binlog' || values['log_bin'] !== 'OFF',
  );
  return names.map((name) => `${name} ${values[name]}`).join(', ');
}
