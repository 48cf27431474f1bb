/**
 * The mark of ownership: a line of JSON that says that Dragstrip created what lies beside it. Each
 * server has a place of its own for it: a key, the comment of a table, a tuple.
 */

import { refusedError } from '../../lib/errors.js';

const OWNER = 'dragstrip';
/** Raised when what a mark promises changes; other versions are not ours to overwrite. */
const VERSION = 1;

/**
 * @param {Record<string, string | number | boolean>} fields
 * @returns {string} one line of ASCII without quotes that SQL, CQL or Lua would have to escape
 */
export function formatMark(fields) {
  return JSON.stringify({ owner: OWNER, version: VERSION, ...fields });
}

/**
 * @param {unknown} text
 * @returns {Record<string, any> | null} its fields; null where it is not a mark of ours
 */
export function parseMark(text) {
  if (typeof text !== 'string') return null;
  try {
    const fields = JSON.parse(text);
    return fields?.owner === OWNER && fields.version === VERSION ? fields : null;
  } catch {
    return null;
  }
}

/**
 * @typedef {object} Ownership
 * @property {Record<string, any> | null} mark fields of our mark
 * @property {string | null} notOurs what is there that Dragstrip did not create
 */

/**
 * @param {string} where the server as messages call it
 * @param {string} what is there
 * @param {string} server its name
 * @returns {import('../../lib/errors.js').DragstripError} E_REFUSED
 */
export function notOursError(where, what, server) {
  return refusedError(
    `${where}: ${what} is there and was not made by Dragstrip: nothing was touched`,
    `use another server (\`npx dragstrip servers start ${server}\`), or remove what is yours`,
  );
}
