/** Common row operations of the drivers of MariaDB and MySQL. Pure. */

import { inOrder } from './in-order.js';

/** @param {string} table */
export const sqlStatements = (table) => ({
  select: `select str from ${table} where id=?`,
  update: `update ${table} set str=? where id=?`,
  selectMany: createSelectMany(table),
  insert: `insert into ${table} (id, str) values (?, ?)`,
  remove: `delete from ${table} where id=?`,
  range: `select id, str from ${table} where id between ? and ? order by id`,
});

/**
 * A statement per length of the `IN` list. The driver prepares it at its first use and keeps it.
 * @param {string} table
 * @returns {(length: number) => string}
 */
function createSelectMany(table) {
  /** @type {string[]} by length */
  const texts = [];
  return (length) => {
    texts[length] ??=
      `select id, str from ${table} where id in (${Array(length).fill('?').join(',')})`;
    return texts[length];
  };
}

/**
 * @param {ReturnType<typeof sqlStatements>} statements
 * @param {(sql: string, values: readonly any[], done?: any) => any} run
 * @param {(reply: any) => any} [result] reply: rows, or the effect of a statement
 * @returns {Omit<import('../lib/types.js').RowsHandle, 'close'>}
 */
export function sqlOperations(statements, run, result = (reply) => reply) {
  const { select, update, selectMany, insert, remove, range } = statements;
  const isOne = (/** @type {any} */ reply) => result(reply).affectedRows === 1;
  return {
    get: (id, done) => run(select, [id], done),
    value(reply) {
      const rows = result(reply);
      return rows.length === 0 ? undefined : rows[0].str;
    },
    mget: (ids, done) => run(selectMany(ids.length), ids, done),
    values: (reply, ids) => inOrder(result(reply), ids),
    set: (id, text, done) => run(update, [text, id], done),
    stored: isOne,
    add: (id, text, done) => run(insert, [id, text], done),
    added: isOne,
    del: (id, done) => run(remove, [id], done),
    deleted: isOne,
    scan: (first, count, done) => run(range, [first, first + count - 1], done),
    scanned: (reply) => pairsOf(result(reply)),
  };
}

/**
 * @param {{ id: number, str: string }[]} rows
 * @returns {[number, string][]} ids and values
 */
export function pairsOf(rows) {
  return rows.map(({ id, str }) => [id, str]);
}
