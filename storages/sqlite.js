/** node:sqlite, the SQLite that is built into Node from 22.5 on, in a file. */

import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import path from 'node:path';
import { defineStorage } from '../lib/define.js';
import { fileOf, fillFile, formatMarker, headOf, parseMarker, requireFilled } from './embedded.js';
import { inOrder } from './in-order.js';
import { openSqliteInserter, SQLITE_INSERTS } from './inserts/sqlite.js';
import { pairsOf, sqlStatements } from './sql-rows.js';

const TABLE = 'table_test';
const MARKER = 'dragstrip_dataset';
const APPLICATION_ID = 0x64726167; // "drag", at offset 68 of the file (sqlite.org/fileformat2)

/** @param {{ str: string } | undefined} reply */
const value = (reply) => reply?.str;

/** @param {{ changes: number }} reply */
const isOne = ({ changes }) => changes === 1;

export const storage = defineStorage({
  name: 'sqlite',
  summary: 'node:sqlite, SQL in this process',
  package: null,
  server: null,
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
  inserts: SQLITE_INSERTS,
  profiles: {
    default: {
      summary: 'prepared statements, no promises; file opened read-only if the workload only reads',
      options: { readOnly: true },
      calls: 'sync',
    },
  },
  async unavailable() {
    if ((await loadSqlite()) !== null) return null;
    return {
      reason: `Node ${process.versions.node} has no node:sqlite`,
      hint: 'use Node 22.13 or later (22.5 to 22.12: with --experimental-sqlite)',
    };
  },
  fill: ({ dataset, folder, signal }) => fillFile(describeStore(folder, dataset), dataset, signal),
  open: {
    rows: openRows,
    insert: async (context) => openSqliteInserter(context, (await loadSqlite()).DatabaseSync),
  },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows({ dataset, folder, profile, writes = false }) {
  const { DatabaseSync } = await loadSqlite();
  const store = describeStore(folder, dataset);
  await requireFilled(store, dataset);
  const database = new DatabaseSync(store.file, { ...profile.options, readOnly: !writes });
  let closed = false;
  const statements = sqlStatements(TABLE);
  /** @type {any[]} by length of the list, prepared at the first use */
  const selects = [];
  const selectMany = (/** @type {number} */ length) => {
    selects[length] ??= database.prepare(statements.selectMany(length));
    return selects[length];
  };
  const select = database.prepare(statements.select);
  const update = database.prepare(statements.update);
  const insert = database.prepare(statements.insert);
  const remove = database.prepare(statements.remove);
  const range = database.prepare(statements.range);
  return {
    get: (id) => select.get(id),
    value,
    mget: (ids) => selectMany(ids.length).all(...ids),
    values: inOrder,
    // One transaction, on disk when it returns, which is the store's default.
    set: (id, text) => update.run(text, id),
    stored: isOne,
    add: (id, text) => insert.run(id, text),
    added: isOne,
    del: (id) => remove.run(id),
    deleted: isOne,
    scan: (first, count) => range.all(first, first + count - 1),
    scanned: pairsOf,
    async close() {
      if (!closed) database.close(); // a second close would throw
      closed = true;
    },
  };
}

/**
 * Node prints an experimental warning on stderr when it is loaded; this one warning is suppressed.
 * @returns {Promise<any>} null: not in this Node version
 */
async function loadSqlite() {
  const name = 'node:sqlite'; // as a variable, because the oldest supported types lack it
  const emitWarning = process.emitWarning;
  process.emitWarning = /** @type {any} */ (
    (/** @type {any} */ warning, /** @type {any[]} */ ...rest) => {
      if (String(warning).startsWith('SQLite is an experimental')) return;
      Reflect.apply(emitWarning, process, [warning, ...rest]);
    }
  );
  try {
    return await import(name);
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * @param {string} folder
 * @param {import('../lib/types.js').Dataset} dataset
 * @returns {import('./embedded.js').FileStore}
 */
function describeStore(folder, dataset) {
  return { storage: 'sqlite', file: path.join(folder, fileOf('sqlite', dataset)), inspect, create };
}

/**
 * @param {string} file
 * @returns {Promise<import('../lib/types.js').DatasetOptions | null>}
 */
async function inspect(file) {
  if (!hasOurId(file)) return null;
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return parseMarker(database.prepare(`select options from ${MARKER}`).get()?.options);
  } catch {
    return null; // no such table: created by another program, or incomplete
  } finally {
    database.close();
  }
}

/** @param {string} file */
function hasOurId(file) {
  const head = headOf(file, 72);
  if (head?.toString('latin1', 0, 15) !== 'SQLite format 3') return false;
  return head.readUInt32BE(68) === APPLICATION_ID;
}

/**
 * @param {string} file
 * @param {import('../lib/types.js').Dataset} dataset
 * @returns {Promise<import('./embedded.js').RowWriter>}
 */
async function create(file, dataset) {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(file);
  // The file is not visible before it is complete, so it needs no journal; it is synced at the end.
  database.exec(`pragma journal_mode=off; pragma synchronous=off;
    pragma application_id=${APPLICATION_ID};
    create table ${TABLE}(id integer primary key, str text not null);
    create table ${MARKER}(options text not null);`);
  const insert = database.prepare(`insert into ${TABLE} values(?, ?)`);
  return {
    write(from, to) {
      database.exec('begin');
      for (let id = from; id <= to; id += 1) insert.run(id, dataset.value(id));
      database.exec('commit');
    },
    finish() {
      database.prepare(`insert into ${MARKER} values(?)`).run(formatMarker(dataset));
      database.close();
      syncFile(file);
    },
    abandon() {
      if (existsSync(file)) database.close();
    },
  };
}

/** @param {string} file */
function syncFile(file) {
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
