/** Inserting by node:sqlite, into a temporary file, with SQLite's defaults. */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../../lib/folder.js';

const FILE = 'insert.sqlite';
const TABLE = 'numbers';
const SUFFIXES = ['', '-journal', '-wal', '-shm'];
/** PRAGMA synchronous (sqlite.org/pragma.html). */
const SYNCHRONOUS = ['off', 'normal', 'full', 'extra'];

/** Descriptions of the strategies, for the tables. */
export const SQLITE_INSERTS = Object.freeze({
  one: 'INSERT, prepared, a transaction each',
  logged_batch: 'BEGIN, INSERTs, COMMIT, prepared',
  multi_row: 'INSERT of many rows, prepared',
});

/**
 * @param {import('../../lib/types.js').InsertContext} context
 * @param {any} DatabaseSync class of node:sqlite
 * @returns {Promise<import('../../lib/types.js').Inserter>}
 */
export async function openSqliteInserter({ folder, numberOf }, DatabaseSync) {
  const file = path.join(folder, FILE);
  makeFolder(folder);
  let store = createStore(file, DatabaseSync);
  /** @param {number} from @param {number} to */
  const build = (from, to) => {
    const values = [];
    for (let a = from; a < to; a += 1) values.push(a, numberOf(a));
    return values;
  };
  return {
    async clear() {
      store.database.close();
      store = createStore(file, DatabaseSync);
    },
    async read(see) {
      const rows = store.database.prepare(`select a, b from ${TABLE}`).all();
      for (const { a, b } of rows) see(a, b);
    },
    async durability() {
      const { synchronous } = store.database.prepare('pragma synchronous').get();
      const { journal_mode: journal } = store.database.prepare('pragma journal_mode').get();
      const level = SYNCHRONOUS[synchronous] ?? synchronous;
      return `synchronous ${level}, journal_mode ${journal}`;
    },
    ways: {
      single: {
        build: (from) => [from, numberOf(from)],
        send: ([a, b]) => store.one.run(a, b),
        stored: ({ changes }) => Number(changes),
        calls: 'sync',
      },
      atomic: {
        build,
        send: (values) => insertAll(store, values),
        stored: (reply) => reply,
        calls: 'sync',
      },
      rows: {
        build,
        send: (values) => store.many(values.length / 2).run(...values),
        stored: ({ changes }) => Number(changes),
        calls: 'sync',
      },
    },
    async close() {
      store.database.close();
    },
  };
}

/**
 * @param {string} file
 * @param {any} DatabaseSync
 */
function createStore(file, DatabaseSync) {
  for (const suffix of SUFFIXES) rmSync(file + suffix, { force: true });
  const database = new DatabaseSync(file);
  database.exec(`create table ${TABLE} (a integer primary key, b integer not null)`);
  /** @type {Map<number, any>} by number of rows */
  const statements = new Map();
  const many = (/** @type {number} */ rows) => {
    let statement = statements.get(rows);
    if (statement === undefined) {
      const marks = Array(rows).fill('(?,?)').join(',');
      statement = database.prepare(`insert into ${TABLE} values ${marks}`);
      statements.set(rows, statement);
    }
    return statement;
  };
  return { database, one: many(1), many };
}

/**
 * @param {ReturnType<typeof createStore>} store
 * @param {number[]} values alternating keys and numbers
 * @returns {number} number of stored rows
 */
function insertAll({ database, one: insertOne }, values) {
  let rows = 0;
  database.exec('begin');
  try {
    for (let i = 0; i < values.length; i += 2) {
      rows += Number(insertOne.run(values[i], values[i + 1]).changes);
    }
    database.exec('commit');
  } catch (error) {
    database.exec('rollback');
    throw error;
  }
  return rows;
}
