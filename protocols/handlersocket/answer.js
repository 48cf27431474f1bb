/** Replies of HandlerSocket as a server writes them; the client's reply-values.js reads them. */

import { encodeValue } from '../../packages/handlersocket/request-lines.js';

/** @typedef {import('../../packages/handlersocket/request-lines.js').Value} Value */

/**
 * @param {number} columns
 * @param {readonly (readonly Value[])[]} [rows]
 * @returns {Buffer} success, with rows of that many columns
 */
export function encodeRows(columns, rows = []) {
  const tokens = rows.flat().map((value) => `\t${encodeValue(value)}`);
  return Buffer.from(`0\t${columns}${tokens.join('')}\n`, 'latin1');
}

/** @param {number} code @param {string} message @returns {Buffer} */
export function encodeError(code, message) {
  return Buffer.from(`${code}\t1\t${encodeValue(message)}\n`, 'latin1');
}
