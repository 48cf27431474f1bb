/**
 * The fake server: accepts connections on a loopback port and replies from a table, to determine a
 * driver's maximum throughput. It is no store: it holds some rows of the dataset and accepts no
 * writes.
 */

import net from 'node:net';
import { usageError } from '../../lib/errors.js';
import { WriteBuffer } from './write-buffer.js';

/**
 * @typedef {object} Conversation
 * @property {(bytes: Buffer, out: WriteBuffer) => number} consume writes the replies to complete
 *   requests into `out`; returns the length of the requests in bytes; throws on other input
 */

/**
 * @typedef {object} FakeServer
 * @property {Buffer | null} greeting sent on connect
 * @property {() => Conversation} converse handles one connection
 */

/**
 * @type {Readonly<Record<string, (dataset: import('../../lib/types.js').Dataset) =>
 *   Promise<FakeServer>>>}
 */
const REGISTRY = Object.freeze({
  redis: async (dataset) => (await import('./redis.js')).createRedis(dataset),
  handlersocket: async (dataset) =>
    (await import('./handlersocket.js')).createHandlerSocket(dataset),
  tarantool: async (dataset) => (await import('./tarantool.js')).createTarantool(dataset),
  mysql: async (dataset) => (await import('./mysql.js')).createMysql(dataset),
});

/**
 * @param {string} protocol a name of the wire protocols
 * @param {import('../../lib/types.js').Dataset} dataset
 * @returns {Promise<{ port: number, close: () => Promise<void> }>} listening on 127.0.0.1
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: unknown protocol
 */
export async function listen(protocol, dataset) {
  if (!Object.hasOwn(REGISTRY, protocol)) throw usageError(`no fake server for "${protocol}"`);
  const fakeServer = await REGISTRY[protocol](dataset);
  /** @type {Set<net.Socket>} */
  const sockets = new Set();
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket, fakeServer);
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** @param {net.Socket} socket @param {FakeServer} fakeServer */
function serve(socket, { greeting, converse }) {
  const conversation = converse();
  const out = new WriteBuffer(socket);
  /** @type {Buffer | null} */
  let rest = null;
  // A driver closed with outstanding replies resets the connection.
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    const bytes = rest === null ? chunk : Buffer.concat([rest, chunk]);
    try {
      const end = conversation.consume(bytes, out);
      rest = end === bytes.length ? null : bytes.subarray(end);
      out.flush();
    } catch {
      socket.destroy(); // like a server with unreadable input
    }
  });
  if (greeting !== null) socket.write(greeting);
}
