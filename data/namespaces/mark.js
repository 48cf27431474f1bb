/**
 * The mark of ownership: a line of JSON that identifies data as created by Dragstrip, stored as a
 * key, the comment of a table or a tuple, depending on the server.
 */

import { hostname } from 'node:os';
import { refusedError } from '../../lib/errors.js';
import { isAlive, ownIdentity, processScope } from '../../lib/process-identity.js';

const OWNER = 'dragstrip';
/**
 * Increased when the guarantees of a mark change; data with another version are never overwritten.
 */
const VERSION = 1;

/**
 * @typedef {object} Maker the process that claimed a namespace
 * @property {string} host host name for messages
 * @property {string | null} scope scope of its pid (lib/process-identity.js)
 * @property {number} pid
 * @property {number} startTicks
 */

/**
 * @param {Record<string, string | number | boolean>} fields
 * @returns {string} one line of ASCII without quotes that SQL, CQL or Lua would have to escape; it
 *   identifies the claiming process
 */
export function formatMark(fields) {
  const host = hostname().replace(/[^\w.-]/g, '_');
  const maker = { host, scope: processScope(), ...ownIdentity() };
  return JSON.stringify({ owner: OWNER, version: VERSION, ...fields, maker });
}

/**
 * Whether another run uses the marked data. A dead process has left them behind; for a process in
 * another container or on another machine this is unknown.
 * @param {Record<string, any> | null} mark
 * @returns {Maker | null} null: no other run
 */
function otherUser(mark) {
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
 * @param {string} where name of the server in messages
 * @param {string} what namespace
 * @throws {import('../../lib/errors.js').DragstripError} E_REFUSED: another run may be using it
 */
function requireUnused(mark, where, what) {
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
 * @returns {Record<string, any> | null} its fields; null if Dragstrip did not write it
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
 * @property {Record<string, any> | null} mark fields of the mark, if it exists
 * @property {string | null} notOurs name of existing data that Dragstrip did not create
 */

/**
 * @param {string} where name of the server in messages
 * @param {string} what name of the existing data: `key a`, `table b`
 * @param {string} server name of the server
 * @returns {import('../../lib/errors.js').DragstripError} E_REFUSED
 */
export function notOursError(where, what, server) {
  return refusedError(
    `${where}: ${what} exists and was not created by Dragstrip; nothing was changed`,
    `use another server (\`npx dragstrip servers start ${server}\`), or move your data away`,
  );
}

/**
 * How a namespace is claimed and released, the same on every server.
 * @param {object} store
 * @param {string} store.where name of the server in messages
 * @param {string} store.server name of the server
 * @param {string} store.name name of the namespace
 * @param {(claims: boolean) => Promise<Ownership>} store.ownership claims: it is to be created
 * @param {(mark: Record<string, any> | null, text: string) => Promise<unknown>} store.create
 *   removes the remains of a killed run, creates it and marks it with `text`
 * @param {(mark: Record<string, any>) => Promise<number>} store.remove resolves to the number of
 *   keys or rows removed, as far as known
 * @param {() => unknown} store.close
 * @returns {import('../../lib/types.js').NamespaceHandle}
 */
export function namespaceHandle({ where, server, name, ownership, create, remove, close }) {
  return {
    async check() {
      requireUnused((await ownership(false)).mark, where, name);
    },
    async claim() {
      const { mark, notOurs } = await ownership(true);
      if (notOurs !== null) throw notOursError(where, notOurs, server);
      requireUnused(mark, where, name);
      await create(mark, formatMark({ what: name }));
    },
    async release() {
      const { mark } = await ownership(false);
      return mark === null || otherUser(mark) !== null ? 0 : remove(mark);
    },
    async close() {
      await close();
    },
  };
}
