/**
 * dragstrip-handlersocket, or dragstrip/handlersocket: a client for MariaDB's HandlerSocket plugin.
 * See README.md.
 */

import { HandlerSocketClient } from './client.js';

export { HandlerSocketClient } from './client.js';
export {
  ENGINE_ERRORS,
  ERROR_CODES,
  HandlerSocketError,
} from './handlersocket-error.js';
export { OpenIndex } from './open-index.js';
export { RequestBatch } from './request-batch.js';
export { baseTableGuard } from './table-guard.js';

/**
 * Connects a client to HandlerSocket.
 * @param {import('./client-options.js').ClientOptions & { signal?: AbortSignal }} [options]
 * @returns {Promise<HandlerSocketClient>} resolves when every connection has received a reply
 * @throws {HandlerSocketError} HS_ARGUMENT, HS_CONNECT, HS_CONNECT_TIMEOUT,
 *   HS_HANDSHAKE_TIMEOUT, HS_AUTH, HS_ABORTED
 */
export async function connect(options = {}) {
  const client = new HandlerSocketClient(options);
  await client.connect({ signal: options.signal });
  return client;
}
