/** Statements on rows, as the drivers of MariaDB and MySQL share them. Pure. */

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
 * `IN` takes a list of one length: a statement for each. The driver prepares it at its first use
 * and keeps it.
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
 * @param {{ id: number, str: string }[]} rows
 * @returns {[number, string][]} ids and values
 */
export function pairsOf(rows) {
  return rows.map(({ id, str }) => [id, str]);
}
