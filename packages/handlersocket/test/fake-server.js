/**
 * A scriptable HandlerSocket server: its replies, their splitting, and its disconnects. By default
 * it behaves normally: opens any index, finds `v` and the key for every key but 0, and counts
 * changes.
 */

import { once } from 'node:events';
import { createServer } from 'node:net';

/** @typedef {import('node:net').Socket} Socket */

/**
 * @typedef {object} Asked
 * @property {string} line without its line feed, a binary string
 * @property {Socket} socket
 * @property {number} connection from 1
 * @property {number} request on this connection, from 1
 */

/**
 * The response to a request: a string (without line feed: one is added), a Buffer (sent unchanged),
 * or undefined for no reply.
 * @typedef {(asked: Asked) => string | Buffer | undefined} Answer
 */

/**
 * @param {string} line
 * @returns {string} approximately the reply of a real server
 */
export function goodAnswer(line) {
  const [first, op, , key] = line.split('\t');
  if (first === 'P' || first === 'A') return '0\t1';
  if (line === '') return '2\t1\tcmd';
  if (op === '+') return '0\t1';
  if (/\t[UD+-]/.test(line)) return '0\t1\t1';
  return key === '0' ? '0\t1' : `0\t1\tv${key}`;
}

/**
 * @param {object} [options]
 * @param {Answer} [options.answer]
 * @param {(socket: Socket, connection: number) => void} [options.onConnection]
 * @param {string} [options.path] a unix socket instead of a port
 */
export async function startFake({ answer, onConnection, path } = {}) {
  /** @type {Set<Socket>} */
  const sockets = new Set();
  /** @type {string[]} all received lines */
  const lines = [];
  let connections = 0;
  let script = answer ?? (({ line }) => goodAnswer(line));
  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    const connection = connections;
    let request = 0;
    let rest = '';
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    onConnection?.(socket, connection);
    socket.on('data', (chunk) => {
      const parts = (rest + chunk.toString('latin1')).split('\n');
      rest = /** @type {string} */ (parts.pop());
      const out = [];
      for (const line of parts) {
        request += 1;
        lines.push(line);
        const reply = script({ line, socket, connection, request });
        if (typeof reply === 'string') out.push(Buffer.from(`${reply}\n`, 'latin1'));
        else if (reply !== undefined) out.push(reply);
      }
      if (out.length > 0 && socket.writable) socket.write(Buffer.concat(out));
    });
  });
  server.listen(path ?? { port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    lines,
    sockets,
    get connections() {
      return connections;
    },
    /** @param {Answer} next */
    setAnswer(next) {
      script = next;
    },
    /** Stops listening and closes every connection; `listen` reuses the port. */
    async close() {
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
    async listen() {
      server.listen(path ?? { port, host: '127.0.0.1' });
      await once(server, 'listening');
    },
  };
}

/**
 * @param {Promise<unknown>} promise
 * @returns {Promise<any>} the error of the rejection
 * @throws if it resolves
 */
export async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it resolved, but was to reject');
}
