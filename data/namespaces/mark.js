/**
 * The mark of ownership: a line of JSON that says that Dragstrip created what lies beside it. Each
 * server has a place of its own for it: a key, the comment of a table, a tuple.
 */

import { hostname } from 'node:os';
import { refusedError } from '../../lib/errors.js';
import { isAlive, ownIdentity, processScope } from '../../lib/process-identity.js';

const OWNER = 'dragstrip';
/** Raised when what a mark promises changes; other versions are not ours to overwrite. */
const VERSION = 1;

/**
 * @typedef {object} Maker the process that claimed a namespace
 * @property {string} host for messages
 * @property {string | null} scope of its pid (lib/process-identity.js)
 * @property {number} pid
 * @property {number} startTicks
 */

/**
 * @param {Record<string, string | number | boolean>} fields
 * @returns {string} one line of ASCII without quotes that SQL, CQL or Lua would have to escape; it
 *   names its maker
 */
export function formatMark(fields) {
  const host = hostname().replace(/[^\w.-]/g, '_');
  const maker = { host, scope: processScope(), ...ownIdentity() };
  return JSON.stringify({ owner: OWNER, version: VERSION, ...fields, maker });
}

/**
 * Whether another run is using what lies beside the mark. One that has died left it behind; of one
 * in another container or on another machine that cannot be known.
 * @param {Record<string, any> | null} mark
 * @returns {Maker | null} null: nobody else
 */
export function otherUser(mark) {
  /** @type {Maker | undefined} */
  const maker = mark?.['maker'];
  const scope = processScope();
  if (maker == null || scope === null || typeof maker.scope !== 'string') return null;
  if (maker.scope !== scope) return maker;
  const isOurs = maker.pid === process.pid;
  return isAlive(maker) && !isOurs ? maker : null;
}

/**
 * @param {Record<string, any> | null} mark
 * @param {string} where the server as messages call it
 * @param {string} what namespace
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED if another run may be using it
 */
export function requireUnused(mark, where, what) {
  const maker = otherUser(mark);
  if (maker === null) return;
  const { host, pid } = maker;
  throw refusedError(
    `${where}: another run is using the data of ${what}: process ${pid} on ${host}`,
    maker.scope === processScope()
      ? 'wait until it has ended, or use another server'
      : 'wait until it has ended; if it was killed, remove the data and its mark by hand',
  );
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
