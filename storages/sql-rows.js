/** Statements on rows, as the drivers of MariaDB and MySQL share them. Pure. */

/** @param {string} table */
export const sqlStatements = (table) => ({
  select: `select str from ${table} where id=?`,
  update: `update ${table} set str=? where id=?`,
  selectMany: createSelectMany(table),
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
