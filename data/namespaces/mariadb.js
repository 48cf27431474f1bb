/**
 * A namespace in MariaDB: one table, marked by its comment. The database may belong to anyone: it
 * is created if missing, and stays.
 */

import { SqlSession } from '../connections/mariadb.js';
import { namespaceHandle, parseMark } from './mark.js';

/** @typedef {{ database: string, table: string, definition?: string }} TableNames */

/**
 * @param {import('../../lib/types.js').ConnectionContext} context
 * @param {import('../../lib/types.js').Namespace & { mariadb: TableNames }} namespace
 * @returns {Promise<import('../../lib/types.js').NamespaceHandle>}
 */
export async function openNamespace(context, { name, rows = false, mariadb }) {
  const { database, table, definition } = mariadb;
  const full = `${database}.${table}`;
  const session = await SqlSession.open(context);
  return namespaceHandle({
    where: session.where,
    server: 'mariadb',
    name,
    ownership: () => readOwnership(session, mariadb),
    async create(mark, text) {
      if (mark !== null) await session.query(`DROP TABLE ${full}`);
      await session.query(`CREATE DATABASE IF NOT EXISTS ${database}`);
      await session.query(`CREATE TABLE ${full} ${definition} COMMENT = ?`, [text]);
    },
    async remove() {
      const sql = `SELECT COUNT(*) AS count FROM ${full}`;
      const [{ count }] = rows ? await session.query(sql) : [{ count: 0 }];
      await session.query(`DROP TABLE ${full}`);
      return Number(count);
    },
    close: () => session.close(),
  });
}

/**
 * @param {SqlSession} session
 * @param {TableNames} names
 * @returns {Promise<import('./mark.js').Ownership>}
 */
export async function readOwnership(session, { database, table }) {
  const [found] = await session.query(
    'SELECT table_type AS type, table_comment AS comment FROM information_schema.tables ' +
      'WHERE table_schema = ? AND table_name = ?',
    [database, table],
  );
  if (found === undefined) return { mark: null, notOurs: null };
  const mark = found.type === 'BASE TABLE' ? parseMark(found.comment) : null;
  const kind = found.type === 'BASE TABLE' ? 'table' : found.type.toLowerCase();
  return { mark, notOurs: mark === null ? `${kind} ${database}.${table}` : null };
}
