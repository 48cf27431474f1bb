/**
 * Fills MariaDB: the table hs_test.table_test, by LOAD DATA LOCAL INFILE from memory, or by
 * multi-row INSERTs if the server does not accept local files. The marker is the table's comment.
 * The database may have other owners; only the table belongs to Dragstrip.
 */

import { ROW_NAMES, ROWS_NAMESPACE } from '../../lib/dataset.js';
import { targetError } from '../../lib/errors.js';
import { SqlSession } from '../connections/mariadb.js';
import { readOwnership } from '../namespaces/mariadb.js';
import { defineRowsLoader } from './fill.js';
import { rowsToKeep } from './marker.js';
import { rowInserts, rowStream } from './rows.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('./marker.js').Marker} Marker */
/** @typedef {SqlSession & { names: { database: string, table: string }, table: string }} Session */

/** Bytes of one LOAD DATA: a transaction that rolls back quickly if the load is interrupted. */
const LOAD_BYTES = 32 * 1024 * 1024;
/** Bytes of one INSERT: larger ones are not faster. */
const INSERT_BYTES = 1024 * 1024;
/** Rows counted per statement, so that none runs for long. */
const COUNT_ROWS = 250_000;

export default defineRowsLoader({
  name: 'mysql',
  server: 'mariadb',
  title: 'MariaDB',
  endpoint: 'sql',
  summary: `table ${ROW_NAMES.database}.${ROW_NAMES.table}, by LOAD DATA LOCAL INFILE`,
  async open(context) {
    const session = await openTable(context);
    return {
      where: session.where,
      markedBy: `table ${session.table}`,
      ownership: () => readOwnership(session, session.names),
      prepare: (dataset) => requirePacketSize(session, dataset),
      rowsThere: (dataset, marker) => rowsThere(session, marker, dataset),
      async write(dataset, { keep, progress, mark }) {
        await prepareTable(session, dataset, keep, mark);
        const [{ local }] = await session.query('SELECT @@local_infile AS local');
        if (Number(local) === 1) await loadRows(session, dataset, keep, progress);
        else await insertRows(session, dataset, keep, progress);
      },
      fault: (dataset) => faultOf(session, dataset),
      async read(id) {
        const [row] = await session.query(`SELECT str FROM ${session.table} WHERE id = ?`, [id]);
        return row?.str;
      },
      setMark: (text) => setMark(session, text),
      close: () => session.close(),
    };
  },
});

/**
 * @param {import('./fill.js').StoreContext} context
 * @returns {Promise<Session>}
 */
async function openTable(context) {
  const { mariadb: names = ROWS_NAMESPACE.mariadb } = context.namespace ?? {};
  const { database, table } = /** @type {{ database: string, table: string }} */ (names);
  const session = await SqlSession.open(context);
  return Object.assign(session, { names: { database, table }, table: `${database}.${table}` });
}

/**
 * A row that does not fit into a packet can be neither written nor read.
 * @param {Session} session
 * @param {Dataset} dataset
 */
async function requirePacketSize(session, { valueSize }) {
  const [{ bytes }] = await session.query('SELECT @@max_allowed_packet AS bytes');
  session.packetBytes = Number(bytes);
  if (valueSize + 1024 <= session.packetBytes) return;
  throw targetError(
    `${session.where}: a value of ${valueSize} does not fit max_allowed_packet (${bytes})`,
    'raise max_allowed_packet, or choose a smaller --value-size',
  );
}

/**
 * Rows of an earlier load that may stay: those from 1 on without a gap, except the last. MariaDB
 * 10.11 rolls back an interrupted LOAD DATA; a server that kept the received part could have a
 * truncated last row.
 * @param {Session} session
 * @param {Marker | null} marker
 * @param {Dataset} dataset
 * @returns {Promise<number>}
 */
async function rowsThere(session, marker, dataset) {
  // The marker shows that the load began, the table itself its progress.
  const started = marker && { ...marker, done: marker.rows };
  const most = rowsToKeep(started, dataset);
  if (most === 0) return 0;
  const [{ low, high }] = await session.query(
    `SELECT MIN(id) low, MAX(id) high FROM ${session.table}`,
  );
  if (low !== 1) return 0;
  const there = await countRows(session, high);
  return there === high ? Math.min(high - 1, most) : 0;
}

/**
 * The original program's own type up to its own size; then as long as rows allow; then text. A row
 * has at most 65,535 bytes, and a character of utf8mb3 has three.
 * @param {number} valueSize
 */
function columnType(valueSize) {
  if (valueSize <= 1024) return 'nvarchar(1024)';
  return valueSize <= 21_800 ? `nvarchar(${valueSize})` : 'longtext character set utf8';
}

/** @param {Session} session @param {string} text */
function setMark(session, text) {
  return session.query(`ALTER TABLE ${session.table} COMMENT = ?`, [text]);
}

/**
 * @param {Session} session
 * @param {Dataset} dataset
 * @param {number} keep
 * @param {(state: import('./fill.js').State) => string} mark
 */
async function prepareTable(session, dataset, keep, mark) {
  const incomplete = mark({ complete: false, done: 0, extent: dataset.rows });
  if (keep > 0) {
    await setMark(session, incomplete);
    await session.query(`DELETE FROM ${session.table} WHERE id > ?`, [keep]);
    return;
  }
  await session.query(`CREATE DATABASE IF NOT EXISTS ${session.names.database}`);
  await session.query(`DROP TABLE IF EXISTS ${session.table}`);
  await session.query(
    `CREATE TABLE ${session.table} (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, ` +
      `str ${columnType(dataset.valueSize)}) ENGINE = InnoDB COMMENT = ?`,
    [incomplete],
  );
}

/**
 * @param {Session} session
 * @param {Dataset} dataset
 * @param {number} keep
 * @param {import('./progress.js').Progress} progress
 */
async function loadRows(session, dataset, keep, progress) {
  const { rows, meanSize } = dataset;
  const step = Math.max(1, Math.floor(LOAD_BYTES / (meanSize + 12)));
  for (let first = keep + 1; first <= rows; first += step) {
    const last = Math.min(first + step - 1, rows);
    const stream = rowStream(dataset, first, last, (id) => {
      progress.rowsSent = id;
      session.alive();
    });
    const outcome = await session.load(
      `LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${session.table} CHARACTER SET latin1 (id, str)`,
      stream,
    );
    if (outcome.affectedRows !== last - first + 1 || outcome.warningStatus !== 0) {
      throw targetError(
        `${session.where}: accepted ${outcome.affectedRows} of ${last - first + 1} rows, ` +
          `with ${outcome.warningStatus} warnings`,
      );
    }
    progress.rowsDone = last;
  }
}

/**
 * @param {Session} session
 * @param {Dataset} dataset
 * @param {number} keep
 * @param {import('./progress.js').Progress} progress
 */
async function insertRows(session, dataset, keep, progress) {
  const bytes = Math.min(INSERT_BYTES, session.packetBytes / 2);
  for (const { values, last } of rowInserts(dataset, keep + 1, bytes)) {
    await session.query(`INSERT INTO ${session.table} (id, str) VALUES ${values}`);
    progress.rowsDone = last;
  }
}

/**
 * @param {Session} session
 * @param {number} high rows 1 to this are counted
 * @returns {Promise<number>}
 */
async function countRows(session, high) {
  let count = 0;
  for (let first = 1; first <= high; first += COUNT_ROWS) {
    const last = Math.min(first + COUNT_ROWS - 1, high);
    const sql = `SELECT COUNT(*) AS count FROM ${session.table} WHERE id BETWEEN ? AND ?`;
    const [found] = await session.query(sql, [first, last]);
    count += Number(found.count);
  }
  return count;
}

/**
 * @param {Session} session
 * @param {Dataset} dataset
 * @returns {Promise<string | null>}
 */
async function faultOf(session, { rows }) {
  const beyond = `SELECT id FROM ${session.table} WHERE id < 1 OR id > ? LIMIT 1`;
  const [stranger] = await session.query(beyond, [rows]);
  if (stranger !== undefined) return `row ${stranger.id} is unexpected`;
  const count = await countRows(session, rows);
  return count === rows ? null : `${count} of ${rows} rows found`;
}
