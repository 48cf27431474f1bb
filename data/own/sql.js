/**
 * Data of the user in a table of MariaDB or MySQL, read and never written: a sample of its keys,
 * and their values for comparison. The statements are SELECTs on one key column and one value
 * column.
 */

import { targetError, usageError } from '../../lib/errors.js';
import { SqlSession } from '../connections/mariadb.js';
import { drawSample } from './reservoir.js';

/** @typedef {import('../../lib/types.js').ConnectionContext} ConnectionContext */

/** Number of keys from which a sample is drawn: the first that the server returns. */
const KEYS_SEEN_MAX = 200_000;
const PAGE = 10_000;
const BATCH = 64;
/** Same as in data/own/redis.js; all of them are in memory at once. */
const VALUE_BYTES_MAX = 256 * 1024;
const ALL_BYTES_MAX = 64 * 2 ** 20;

/** @typedef {import('../../lib/own-columns.js').Columns} Columns */

/**
 * @param {Columns} columns
 * @returns {{ database: string, table: string }} names used by drivers, whose statements read `str`
 *   by `id`: the server merges this derived table into the statement
 */
export function namesOfColumns({ database, table, key, value }) {
  const from = `\`${database}\`.\`${table}\``;
  return { database, table: `(select \`${key}\` as id, \`${value}\` as str from ${from}) own` };
}

/**
 * @param {ConnectionContext} context
 * @param {Columns} columns
 * @param {{ limit: number, seed: number, listed?: readonly string[] }} how same as for sampleKeys
 * @returns {Promise<import('./redis.js').Sample<string | number>>}
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_ABORTED
 */
export async function sampleTable(context, columns, how) {
  const session = await SqlSession.open(context);
  try {
    const { table } = namesOfColumns(columns);
    return await drawSample(
      how,
      (reservoir) => pageInto(session, table, reservoir),
      async (drawn, leave) => {
        /** @type {{ keys: (string | number)[], sizes: number[] }} */
        const kept = { keys: [], sizes: [] };
        let all = 0;
        for (const [i, text] of (await readOver(session, table, drawn)).entries()) {
          const bytes = typeof text === 'string' ? Buffer.byteLength(text) : 0;
          const why = whySkipped(text, bytes, all);
          if (why !== null) {
            leave(why);
            continue;
          }
          all += bytes;
          kept.keys.push(drawn[i]);
          kept.sizes.push(bytes);
        }
        return kept;
      },
    );
  } finally {
    session.close();
  }
}

/**
 * @param {unknown} text
 * @param {number} bytes
 * @param {number} all bytes of the values before it
 * @returns {string | null} reason why it is skipped
 */
function whySkipped(text, bytes, all) {
  if (text === undefined) return 'gone';
  if (typeof text !== 'string') return 'type';
  return bytes > VALUE_BYTES_MAX || all + bytes > ALL_BYTES_MAX ? 'size' : null;
}

/**
 * @param {SqlSession} session
 * @param {string} table
 * @param {import('./reservoir.js').Reservoir<string | number>} reservoir
 */
async function pageInto(session, table, reservoir) {
  /** @type {string | number | null} */
  let last = null;
  for (let seen = 0; seen < KEYS_SEEN_MAX; ) {
    const where = last === null ? '' : ' where id > ?';
    const sql = `select id from ${table}${where} order by id limit ${PAGE}`;
    const rows = await session.query(sql, last === null ? [] : [last]);
    for (const { id } of rows) {
      if (typeof id !== 'string' && !Number.isSafeInteger(id)) {
        throw targetError(
          '--table: its key is neither a whole number nor a text',
          'name another column as the key',
        );
      }
      reservoir.add(id);
      last = id;
    }
    seen += rows.length;
    if (rows.length < PAGE) return;
  }
}

/**
 * @param {SqlSession} session
 * @param {string} table
 * @param {readonly (string | number)[]} keys
 * @returns {Promise<unknown[]>} in order of the keys; undefined: no such row
 */
async function readOver(session, table, keys) {
  const values = [];
  for (let at = 0; at < keys.length; at += BATCH) {
    const some = keys.slice(at, at + BATCH);
    const marks = some.map(() => '?').join(',');
    const rows = await session.query(`select id, str from ${table} where id in (${marks})`, some);
    if (rows.length > some.length) {
      throw usageError(
        '--table: its key is not unique, some keys have several rows',
        'name a column with a primary key or a unique index as the key',
      );
    }
    const byKey = new Map(rows.map((/** @type {any} */ row) => [String(row.id), row.str]));
    for (const key of some) values.push(byKey.get(String(key)));
  }
  return values;
}

/**
 * @param {ConnectionContext} context
 * @param {Columns} columns
 * @param {readonly (string | number)[]} keys
 * @param {(index: number, text: string | undefined) => void} onValue in the order of the keys
 * @returns {Promise<void>}
 */
export async function readTable(context, columns, keys, onValue) {
  const session = await SqlSession.open(context);
  try {
    const found = await readOver(session, namesOfColumns(columns).table, keys);
    for (const [i, text] of found.entries()) {
      onValue(i, typeof text === 'string' ? text : undefined);
    }
  } finally {
    session.close();
  }
}
