/** A fake Redis Cluster of one primary, which announces an address chosen by the test. */

import { createServer } from 'node:net';
import { readCommand } from '../../protocols/resp/command.js';
import { errorReply, itemReply, OK_REPLY, statusReply } from '../../protocols/resp/reply.js';

/**
 * @typedef {object} FakeCluster
 * @property {{ host: string, port: number }} endpoint
 * @property {(place: string | null, replica?: string) => void} announce `host:port` address of the
 *   only primary from now on; null: its own
 * @property {(error: string | null) => void} fail error reply to GET and SET, such as `MOVED 0
 *   127.0.0.1:6379`
 * @property {() => number} connections open connections
 * @property {() => Promise<void>} close
 */

/** @returns {Promise<FakeCluster>} */
export async function startFakeCluster() {
  /** @type {string | null} */
  let announced = null;
  /** @type {string[]} */
  let replicas = [];
  /** @type {string | null} */
  let failure = null;
  let address = '';
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
        socket.write(answer(command.words, [announced ?? address, ...replicas], failure), 'latin1');
      }
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  address = `127.0.0.1:${port}`;
  return {
    endpoint: { host: '127.0.0.1', port },
    announce: (place, replica) => {
      announced = place;
      replicas = replica === undefined ? [] : [replica];
    },
    fail: (error) => {
      failure = error;
    },
    connections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/**
 * @param {string[]} words
 * @param {string[]} announced
 * @param {string | null} failure
 * @returns {string}
 */
function answer([name, sub = ''], announced, failure) {
  switch (`${name} ${name.toUpperCase() === 'CLUSTER' ? sub : ''}`.trim().toUpperCase()) {
    case 'PING':
      return statusReply('PONG');
    case 'CLUSTER INFO':
      return itemReply(
        'cluster_state:ok\r\ncluster_slots_ok:16384\r\ncluster_known_nodes:1\r\ncluster_size:1\r\n',
      );
    case 'CLUSTER SLOTS':
      return `*1\r\n*${2 + announced.length}\r\n:0\r\n:16383\r\n${announced.map(nodeReply).join('')}`;
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
      if (failure !== null) return errorReply(failure);
      return name.toUpperCase() === 'GET' ? itemReply('a value') : OK_REPLY;
    default:
      return OK_REPLY;
  }
}

/** @param {string} place */
function nodeReply(place) {
  const colon = place.lastIndexOf(':');
  const words = [place.slice(0, colon), Number(place.slice(colon + 1)), 'a'.repeat(40)];
  return `*3\r\n${words.map(itemReply).join('')}`;
}
