/** Inserting by SQL: prepared statements, packets of several statements, LOAD DATA. */

import { Readable } from 'node:stream';
import { openOrThrow, withCode } from '../connection.js';
import { sqlTarget } from '../sql-clients.js';
import { openSeveral } from './connections.js';

/** @typedef {import('../../lib/types.js').Inserter} Inserter */
/** @typedef {import('../sql-clients.js').SqlDriver} SqlDriver */
/** @typedef {import('../sql-clients.js').SqlConnection} SqlConnection */

/** Rows per chunk of the stream. */
const PIECE_ROWS = 5000;

/**
 * Descriptions of the strategies, for the tables.
 * @param {SqlDriver} driver
 * @param {{ pipelines?: boolean }} [how] pipelines: the driver sends requests before earlier
 *   replies
 */
export function sqlInserts({ infile, prepares }, { pipelines = false } = {}) {
  const insert = prepares ? 'INSERT, prepared' : 'INSERT, text';
  return Object.freeze({
    one: insert,
    async: `${insert}; the driver ${pipelines ? 'pipelines' : 'sends one after another'}`,
    workers: `${insert}, a connection per worker`,
    ...TEXT_INSERTS,
    ...(infile !== null && { bulk_load: 'LOAD DATA LOCAL INFILE' }),
  });
}

const TEXT_INSERTS = Object.freeze({
  pairs: 'two INSERTs in one packet',
  batch_pure: 'INSERTs in one packet, each its own transaction',
  batch_pure2: 'INSERTs in one packet, two connections',
  unlogged_batch: 'INSERTs in one packet, each its own transaction',
  logged_batch: 'BEGIN, INSERTs, COMMIT in one packet',
  multi_row: 'INSERT of many rows',
});

/**
 * @param {import('../../lib/types.js').InsertContext} context
 * @param {SqlDriver} driver
 * @returns {Promise<Inserter>}
 */
export async function openSqlInserter(context, driver) {
  const { connections } = context;
  const { target, options } = sqlTarget(context, driver.name);
  // If LOAD DATA needs different options, it has a separate connection, the last one.
  const loads = Object.keys(driver.infile ?? {}).length > 0;
  let count = 0;
  const { all, close } = await openSeveral(
    connections + (loads ? 1 : 0),
    async () => {
      count += 1;
      const own = count > connections ? { ...options, ...driver.infile } : options;
      const connection = await openOrThrow(target, connectSql(driver, own), () => {});
      connection.on('error', withCode); // also errors that reject a request
      return connection;
    },
    (connection) => connection.destroy(),
  );
  return { ...sqlInserter(driver, all, context), close };
}

/**
 * @param {SqlDriver} driver
 * @param {Record<string, unknown>} options
 */
export function connectSql(driver, options) {
  return driver.connect({ ...options, multipleStatements: true });
}

/**
 * @param {SqlDriver} driver
 * @param {SqlConnection[]} connections one per worker, and possibly one for LOAD DATA
 * @param {import('../../lib/types.js').InsertContext} context
 * @returns {Omit<Inserter, 'close'>}
 */
function sqlInserter(driver, connections, context) {
  const { connections: workers, names, numberOf: number } = context;
  const { table } = names;
  const { result } = driver;
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
    read: (see) => readSql(driver, connection, table, see),
    durability: () => sqlDurability(driver, connection),
    ways: {
      single: {
        build: (from) => [from, number(from)],
        send: (row, worker) => connections[worker].execute(prepared, row),
        stored: (reply) => result(reply).affectedRows,
      },
      batch: { build: statements, send: query, stored: (reply) => sumOfRows(result(reply)) },
      atomic: {
        build: (from, to) => `begin;${statements(from, to)}commit;`,
        send: query,
        stored: (reply) => sumOfRows(result(reply)),
      },
      rows: {
        build(from, to) {
          let text = `${insert}(${from},${number(from)})`;
          for (let a = from + 1; a < to; a += 1) text += `,(${a},${number(a)})`;
          return text;
        },
        send: query,
        stored: (reply) => result(reply).affectedRows,
      },
      bulk: {
        build: (from, to) => ({ from, to }),
        send: ({ from, to }, worker) =>
          (connections[workers] ?? connections[worker]).query({
            sql: load,
            infileStreamFactory: () => rowLines(from, to, number),
          }),
        stored(reply) {
          const { affectedRows, info } = result(reply);
          return info === undefined ? affectedRows : -skippedOf(info) || affectedRows;
        },
      },
    },
  };
}

/**
 * @param {{ affectedRows: number } | { affectedRows: number }[]} results results of the statements
 * @returns {number}
 */
function sumOfRows(results) {
  if (!Array.isArray(results)) return results.affectedRows; // of one statement
  let sum = 0;
  for (const { affectedRows } of results) sum += affectedRows;
  return sum;
}

/**
 * With LOCAL an existing row is skipped with a warning.
 * @param {string} info `Records: 3  Deleted: 0  Skipped: 1  Warnings: 1`
 */
function skippedOf(info) {
  return Number(/Skipped: (\d+)/.exec(info)?.[1] ?? 0);
}

/**
 * @param {number} from
 * @param {number} to
 * @param {(a: number) => number} number
 * @returns {Readable} lines `a TAB b LF`, generated on demand
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
 * @param {SqlDriver} driver
 * @param {SqlConnection} connection
 * @param {string} table
 * @param {(a: number, b: number) => void} see
 */
export async function readSql(driver, connection, table, see) {
  for (const { a, b } of driver.result(await connection.query(`select a, b from ${table}`))) {
    see(a, b);
  }
}

/**
 * @param {SqlDriver} driver
 * @param {SqlConnection} connection
 * @returns {Promise<string>}
 */
export async function sqlDurability(driver, connection) {
  const reply = await connection.query(
    "show global variables where variable_name in ('innodb_flush_log_at_trx_commit', 'log_bin', " +
      "'sync_binlog')",
  );
  const rows = /** @type {any[]} */ (driver.result(reply));
  const all = rows.map(({ Variable_name: name, Value }) => [name, Value]);
  const values = Object.fromEntries(all);
  // Without a binary log its sync setting has no effect.
  const names = Object.keys(values).filter(
    (name) => name !== 'sync_binlog' || values['log_bin'] !== 'OFF',
  );
  return names.map((name) => `${name} ${values[name]}`).join(', ');
}
