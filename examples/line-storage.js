/**
 * A storage of a server that Dragstrip does not know, examples/line-server.js:
 *
 *   node examples/line-server.js 7411 &
 *   LINE_SERVER=127.0.0.1:7411 npx dragstrip check ./examples/line-storage.js
 */

import { once } from 'node:events';
import net from 'node:net';
import { defineStorage } from 'dragstrip';

const AT_ONCE = 1000;

/**
 * @param {{ seed: number, valueSize: number, valueSizes?: string }} dataset
 * @returns {string} prefix of its keys; another dataset has another one
 */
function prefixOf({ seed, valueSize, valueSizes }) {
  return `dragstrip:${seed}:${valueSizes ?? valueSize}:`;
}

export default defineStorage({
  name: 'line-storage',
  summary: 'one connection, pipelined',
  package: null, // no npm package
  server: null, // unknown to Dragstrip: this file has the address and writes the rows
  rows: ['get', 'set'],
  profiles: { default: { summary: 'one write per request', options: { noDelay: true } } },

  /** Called before each run, in the parent process: writes the rows that are missing. */
  async fill({ dataset, signal }) {
    const client = await connect();
    const prefix = prefixOf(dataset);
    const written = Number(await client.send(`GET ${prefix}rows`)) || 0;
    for (let first = written + 1; first <= dataset.rows; first += AT_ONCE) {
      signal?.throwIfAborted();
      const count = Math.min(AT_ONCE, dataset.rows - first + 1);
      const ids = Array.from({ length: count }, (_, i) => first + i);
      await Promise.all(ids.map((id) => client.send(`SET ${prefix}${id} ${dataset.value(id)}`)));
      await client.send(`SET ${prefix}rows ${first + count - 1}`);
    }
    await client.close();
  },

  async open({ dataset }) {
    const client = await connect();
    const prefix = prefixOf(dataset);
    return {
      get: (id) => client.send(`GET ${prefix}${id}`),
      value: (line) => (line === '-' ? undefined : line),
      set: (id, value) => client.send(`SET ${prefix}${id} ${value}`),
      stored: (line) => line === 'OK',
      close: () => client.close(),
    };
  },
});

/** The driver, instead of yours: outstanding requests reject when the connection is lost. */
async function connect() {
  const [host, port] = (process.env['LINE_SERVER'] ?? '127.0.0.1:7411').split(':');
  const socket = net.connect({ host, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  /** @type {{ resolve: (line: string) => void, reject: (error: Error) => void }[]} */
  let pending = [];
  let head = 0; // the oldest outstanding request
  let rest = '';
  socket.setEncoding('latin1').on('error', () => {}); // 'close' follows
  socket.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      pending[head].resolve(line);
      head += 1;
    }
    if (head < pending.length) return;
    pending = [];
    head = 0;
  });
  const lost = () => Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' });
  socket.on('close', () => {
    for (const { reject } of pending.slice(head)) reject(lost());
  });
  return {
    /** @param {string} line @returns {Promise<string>} */
    send: (line) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(lost());
        pending.push({ resolve, reject });
        socket.write(`${line}\n`, 'latin1');
      }),
    async close() {
      if (socket.closed) return;
      socket.destroy();
      await once(socket, 'close');
    },
  };
}
