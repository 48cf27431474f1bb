/**
 * Interface between a protocol and the wire loop, and the registry of the four. A new protocol is a
 * file in this folder and a line here.
 */

import { usageError } from '../../lib/errors.js';

/**
 * @typedef {object} WireReply a complete reply, for verification
 * @property {number} end offset after it
 * @property {number | null} id the row it belongs to, if the protocol includes it; null: in order
 * @property {string | null} value null: no row
 * @property {string | null} error error message of the server
 */

/**
 * @typedef {object} WireProtocol
 * @property {string} name
 * @property {string} server name of the server definition
 * @property {string} endpoint endpoint name in its address
 * @property {(wire: import('./wire-socket.js').WireSocket,
 *   credentials: import('../../lib/types.js').Credentials,
 *   names: import('../../lib/types.js').NamespaceNames) => Promise<any>} greet handshake before the
 *   reads of rows with these names; returns the session
 * @property {(session: any, id: number) => Buffer} encode encodes one read by key
 * @property {(session: any, dataset: Pick<import('../../lib/types.js').Dataset,
 *   'valueSize' | 'minSize'>) => import('../../protocols/framer.js').Framer} createFramer
 * @property {(session: any, bytes: Buffer, at: number, valueSize: number) => WireReply | null} read
 *   null: incomplete; throws for a reply that is longer than any row
 */

/** @type {Readonly<Record<string, () => Promise<WireProtocol>>>} */
const REGISTRY = Object.freeze({
  redis: async () => (await import('./redis.js')).redis,
  handlersocket: async () => (await import('./handlersocket.js')).handlersocket,
  tarantool: async () => (await import('./tarantool.js')).tarantool,
  mysql: async () => (await import('./mysql.js')).mysql,
});

export const PROTOCOL_NAMES = Object.freeze(Object.keys(REGISTRY));

/**
 * @param {string} name
 * @returns {Promise<WireProtocol>}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE unknown name
 */
export async function loadProtocol(name) {
  if (Object.hasOwn(REGISTRY, name)) return REGISTRY[name]();
  throw usageError(`no wire protocol "${name}"`, `available: ${PROTOCOL_NAMES.join(', ')}`);
}

/**
 * The protocol of a storage; the storage names it if its server has several.
 * @param {Pick<import('../../lib/types.js').StorageDefinition, 'protocol' | 'server'>} storage
 * @returns {string | null} a name of PROTOCOL_NAMES; null: embedded, or not one of them
 */
export function protocolOf({ protocol, server }) {
  const name = protocol ?? server;
  return name !== null && Object.hasOwn(REGISTRY, name) ? name : null;
}
