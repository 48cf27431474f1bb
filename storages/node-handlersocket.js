/**
 * node-handlersocket 0.1.0 (2011) on MariaDB's HandlerSocket plugin.
 *
 * Its queue is an array whose shift() moves all of it beyond some 16,000 in flight: the slowdown in
 * deep bursts is a property of the driver and is kept. Fixes here only prevent crashes of the
 * process: on a disconnect with requests in flight it throws an uncaught ReferenceError
 * (`_notifyError` passes an undefined variable), and it leaves the socket half open.
 */

import { defineStorage } from '../lib/define.js';
import { closeSocket, openOrThrow, targetOf, watchLoss, withCode } from './connection.js';

/**
 * Cost per request, and per request and pending request: bursts of 100,000, 200,000 and 400,000
 * took 4.2, 17.9 and 77 s on an idle machine with two cores.
 */
const REQUEST_NS = 10_000;
const PENDING_NS = 0.45;

/** @param {string[][]} reply rows of the single column */
const value = (reply) => (reply.length === 0 ? undefined : reply[0][0]);

export const storage = defineStorage({
  name: 'node-handlersocket',
  summary: 'node-handlersocket of 2011',
  package: 'node-handlersocket',
  server: 'mariadb',
  protocol: 'handlersocket',
  rows: ['get'],
  burstNs: (operations) => operations * (REQUEST_NS + operations * PENDING_NS),
  profiles: {
    default: {
      summary: 'index.find by primary key; it has callbacks only',
      options: { fixed: 'uncaught error on a disconnect or an unexpected reply' },
      calls: 'callback',
    },
  },
  async open(context) {
    const target = targetOf(context, 'read', 'node-handlersocket');
    const { endpoint, credentials } = target;
    // @ts-expect-error it ships no types
    const { default: driver } = await import('node-handlersocket');
    const connection = driver.connect({
      host: endpoint.host,
      port: endpoint.path ?? endpoint.port, // net.connect also accepts a path
      auth: credentials.secret,
    });
    const socket = connection._socket; // the driver drops it when the connection ends
    mendNotifyError(connection);
    codeRefusals(connection, socket);
    guardReplies(connection, socket);
    connection.on('close', () => socket.destroy());
    const index = await openOrThrow(target, openIndex(connection, context.names), () => {
      socket.destroy();
    });
    /** @type {import('../lib/types.js').RowsHandle} */
    const handle = {
      get: (id, done) => index.find('=', id, done),
      value,
      close: () => closeSocket(socket),
    };
    // It would still write to the half-closed socket.
    socket.once('end', () => socket.destroy());
    return watchLoss(socket, handle, 'callback');
  },
});

/**
 * @param {any} connection
 * @param {import('../lib/types.js').NamespaceNames} names
 * @returns {Promise<any>} the index, opened on the column to read
 */
function openIndex(connection, { database, table }) {
  return new Promise((resolve, reject) => {
    connection.on('error', (/** @type {Error} */ error) => reject(withCode(error)));
    connection.once('close', () => reject(new Error('the connection was closed')));
    connection.once('connect', () => {
      connection.openIndex(
        database,
        table,
        'PRIMARY',
        ['str'],
        (/** @type {Error | null} */ error, /** @type {any} */ index) =>
          error ? reject(new Error(`no index was opened: ${error.message}`)) : resolve(index),
      );
    });
  });
}

/** @param {any} connection */
function mendNotifyError(connection) {
  connection._notifyError = (/** @type {Error | undefined} */ error) => {
    const callbacks = connection._callbacks;
    connection._callbacks = [];
    const cause = withCode(error ?? new Error('connection closed'));
    for (const callback of callbacks) callback(cause);
  };
}

/**
 * It refuses requests with an error without a code when its socket is no longer open; after a
 * failed write there is no event before the next tick. The test adds some 0.2 % to a request.
 * @param {any} connection
 * @param {import('node:net').Socket} socket
 */
function codeRefusals(connection, socket) {
  const { _execute } = connection;
  connection._execute = (/** @type {any} */ request, /** @type {any} */ callback) => {
    if (socket.readyState === 'open') _execute.call(connection, request, callback);
    else process.nextTick(callback, withCode(new Error('connection closed')));
  };
}

/**
 * An unexpected reply makes it call undefined; the order of requests and replies is lost.
 * @param {any} connection
 * @param {import('node:net').Socket} socket
 */
function guardReplies(connection, socket) {
  const [listener] = socket.listeners('data');
  socket.removeListener('data', /** @type {any} */ (listener));
  socket.on('data', (chunk) => {
    try {
      listener(chunk);
    } catch (error) {
      // Errors thrown by the caller's callback are not caught.
      if (error.message !== 'callback is not a function') throw error;
      connection.emit('error', withCode(error, 'EPROTO'));
      socket.destroy();
    }
  });
}
