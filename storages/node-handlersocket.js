/**
 * node-handlersocket 0.1.0 (2011) on MariaDB's HandlerSocket plugin.
 *
 * Its queue is an array whose shift() moves all of it beyond some 16,000 in flight: the fall in
 * deep bursts is the driver's own and is left as it is. What is mended here keeps it from taking
 * the process down: on a disconnect with requests in flight it throws a ReferenceError out of the
 * event loop (`_notifyError` passes a variable that does not exist), and it leaves the socket half
 * open.
 */

import { defineStorage } from '../lib/define.js';
import { closeSocket, openOrThrow, targetOf, watchLoss, withCode } from './connection.js';

/** @param {string[][]} reply rows of the one column */
const value = (reply) => (reply.length === 0 ? undefined : reply[0][0]);

export const storage = defineStorage({
  name: 'node-handlersocket',
  summary: 'node-handlersocket of 2011',
  package: 'node-handlersocket',
  server: 'mariadb',
  protocol: 'handlersocket',
  rows: ['get'],
  profiles: {
    default: {
      summary: 'index.find by primary key; it has callbacks only',
      options: { mended: 'a disconnect, or a reply too many, throws out of the event loop' },
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
      port: endpoint.path ?? endpoint.port, // a path is as good to net.connect
      auth: credentials.secret,
    });
    const socket = connection._socket; // it forgets it when the connection ends
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
    // On the half that the server closed it would still write.
    socket.once('end', () => socket.destroy());
    return watchLoss(socket, handle, 'callback');
  },
});

/**
 * @param {any} connection
 * @param {import('../lib/types.js').NamespaceNames} names
 * @returns {Promise<any>} the index, opened on the one column that is read
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
          error ? reject(new Error(`no index is opened: ${error.message}`)) : resolve(index),
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
 * It refuses with an error without a code what is asked when its socket is no longer open, which
 * begins with a failed write emits no event before the next tick. The test costs some 0.2
 * % of what a request costs here.
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
 * An unexpected reply makes it call undefined: request and reply order are lost.
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
      // Errors thrown by the caller's callback are not caught here.
      if (error.message !== 'callback is not a function') throw error;
      connection.emit('error', withCode(error, 'EPROTO'));
      socket.destroy();
    }
  });
}
