/**
 * A node that says it is a Redis Cluster of one primary, at the address that the test chooses: what
 * it announces may be another than its own.
 */

import { createServer } from 'node:net';
import { readCommand } from '../../protocols/resp/command.js';
import { errorReply, itemReply, OK_REPLY, statusReply } from '../../protocols/resp/reply.js';

/**
 * @typedef {object} FakeCluster
 * @property {{ host: string, port: number }} endpoint
 * @property {(place: string | null) => void} announce `host:port` of the only node from now on;
 *   null: its own
 * @property {(place: string | null) => void} move GET and SET are answered with MOVED to this
 * @property {() => Promise<void>} close
 */

/** @returns {Promise<FakeCluster>} */
export async function startFakeCluster() {
  /** @type {string | null} */
  let announced = null;
  /** @type {string | null} */
  let moved = null;
  let own = '';
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (;;) {
        const command = readCommand(bytes, 0);
        if (command === null) return;
        bytes = bytes.subarray(command.end);
        socket.write(answer(command.words, announced ?? own, moved), 'latin1');
      }
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  own = `127.0.0.1:${port}`;
  return {
    endpoint: { host: '127.0.0.1', port },
    announce: (place) => {
      announced = place;
    },
    move: (place) => {
      moved = place;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/**
 * @param {string[]} words
 * @param {string} announced
 * @param {string | null} moved
 * @returns {string}
 */
function answer([name, sub = '', ...rest], announced, moved) {
  const colon = announced.lastIndexOf(':');
  const [host, port] = [announced.slice(0, colon), Number(announced.slice(colon + 1))];
  switch (`${name} ${name.toUpperCase() === 'CLUSTER' ? sub : ''}`.trim().toUpperCase()) {
    case 'PING':
      return statusReply('PONG');
    case 'CLUSTER INFO':
      return itemReply(
        'cluster_state:ok\r\ncluster_slots_ok:16384\r\ncluster_known_nodes:1\r\ncluster_size:1\r\n',
      );
    case 'CLUSTER SLOTS':
      return (
        `*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n` +
        `${itemReply(host)}${itemReply(port)}${itemReply('a'.repeat(40))}`
      );
    case 'INFO':
      return itemReply('# Server\r\nredis_version:7.0.15\r\nredis_mode:cluster\r\nloading:0\r\n');
    case 'CONFIG':
      return '*0\r\n';
    case 'TYPE':
      return statusReply('none');
    case 'EXISTS':
      return ':0\r\n';
    case 'HELLO':
      return `%2\r\n${itemReply('proto')}:3\r\n${itemReply('role')}${itemReply('master')}`;
    case 'GET':
    case 'SET':
      if (moved !== null) return errorReply(`MOVED ${rest.length} ${moved}`);
      return name.toUpperCase() === 'GET' ? itemReply('a value') : OK_REPLY;
    default:
      return OK_REPLY;
  }
}
