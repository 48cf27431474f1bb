/** The user's table named by --table: two of its columns, as text. */

import { usageError } from './errors.js';

/**
 * @typedef {object} Columns
 * @property {string} database
 * @property {string} table
 * @property {string} key
 * @property {string} value
 */

/**
 * @param {string} text `shop.users(id,name)`
 * @returns {Columns}
 * @throws {import('./errors.js').DragstripError} E_USAGE
 */
export function parseColumns(text) {
  const match =
    /^([^.`()\s]{1,64})\.([^.`()\s]{1,64})\(([^,`()\s]{1,64}),([^,`()\s]{1,64})\)$/.exec(text);
  if (match !== null) {
    const [, database, table, key, value] = match;
    return { database, table, key, value };
  }
  throw usageError(
    `--table ${JSON.stringify(text)}: not a table with two columns`,
    'write DATABASE.TABLE(KEY,VALUE), such as "shop.users(id,name)"',
  );
}
