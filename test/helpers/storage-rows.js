/**
 * Single rows with arbitrary contents under the names of the storages, written by drivers that are
 * not under test, for values outside of datasets.
 */

import net from 'node:net';
import mysql from 'mysql2/promise';
import { ROW_NAMES } from '../../lib/dataset.js';
import { arrayHead, bulk, encodeCommand } from '../../protocols/resp/command.js';

/** @typedef {import('../../lib/types.js').Address} Address */
/** @typedef {{ user?: string, username?: string, password: string }} Login */
/**
 * @typedef {{ put(id: number, bytes: Buffer): Promise<void>, replicated?(): Promise<void>,
 *   close(): Promise<void> }} RowWriter
 */

/**
 * @param {'redis' | 'redis-cluster' | 'mariadb' | 'tarantool'} server
 * @param {Address} address
 * @param {Login} login
 * @returns {Promise<RowWriter>}
 */
export function openRowWriter(server, address, login) {
  if (server === 'redis') return redisWriter(address.main, login);
  if (server === 'redis-cluster') return clusterWriter(address, login);
  return server === 'mariadb'
    ? mariadbWriter(address.sql, login)
    : tarantoolWriter(address.main, login);
}

/**
 * Raw RESP without a driver.
 * @param {any} endpoint
 * @param {Login} login
 * @returns {Promise<RowWriter>}
 */
async function redisWriter(endpoint, login) {
  const socket = net.connect(endpoint);
  /** @type {((line: string) => void)[]} */
  const waiting = [];
  socket.on('data', (chunk) => {
    for (const line of chunk.toString('latin1').split('\r\n').filter(Boolean)) {
      waiting.shift()?.(line);
    }
  });
  socket.write(encodeCommand(['AUTH', login.password]));
  await new Promise((resolve) => waiting.push(resolve));
  return {
    async put(id, bytes) {
      const key = `${ROW_NAMES.redisPrefix}${id}`;
      const words = bulk('SET') + bulk(key) + bulk(bytes.toString('latin1'));
      const answer = new Promise((resolve) => waiting.push(resolve));
      socket.write(arrayHead(3) + words, 'latin1');
      if ((await answer) !== '+OK') throw new Error(`SET: ${await answer}`);
    },
    async replicated() {
      const answer = new Promise((resolve) => waiting.push(resolve));
      socket.write(encodeCommand(['WAIT', 1, 5000]));
      if ((await answer) !== ':1') throw new Error(`WAIT: ${await answer}`);
    },
    async close() {
      socket.destroy();
    },
  };
}

/**
 * To each node in turn, until one accepts the row, and then until its replicas have it.
 * @param {Address} address
 * @param {Login} login
 * @returns {Promise<RowWriter>}
 */
async function clusterWriter({ tls: _encrypted, ...nodes }, login) {
  const writers = await Promise.all(Object.values(nodes).map((node) => redisWriter(node, login)));
  return {
    async put(id, bytes) {
      const replies = await Promise.all(
        writers.map((writer) =>
          writer.put(id, bytes).then(
            () => writer,
            () => null,
          ),
        ),
      );
      const owner = replies.find((writer) => writer !== null);
      if (owner === undefined) throw new Error(`row ${id}: no node took it`);
      await owner.replicated?.();
    },
    close: async () => void (await Promise.all(writers.map((writer) => writer.close()))),
  };
}

/**
 * @param {any} endpoint
 * @param {Login} login
 * @returns {Promise<RowWriter>}
 */
async function mariadbWriter(endpoint, login) {
  const place = endpoint.path === undefined ? endpoint : { socketPath: endpoint.path };
  const connection = await mysql.createConnection({
    ...place,
    ...login,
    database: ROW_NAMES.database,
  });
  return {
    async put(id, bytes) {
      // A string in the client's character set; the column converts it.
      await connection.query(
        `replace into ${ROW_NAMES.table} values(?, convert(? using utf8mb4))`,
        [id, bytes],
      );
    },
    close: () => connection.end(),
  };
}

/**
 * @param {any} endpoint
 * @param {Login} login
 * @returns {Promise<RowWriter>}
 */
async function tarantoolWriter(endpoint, login) {
  // @ts-expect-error it ships no types
  const { default: Tarantool } = await import('tarantool-driver');
  const connection = new Tarantool({
    ...endpoint,
    ...login,
    lazyConnect: true,
    retryStrategy: null,
  });
  await connection.connect();
  return {
    async put(id, bytes) {
      await connection.call('dragstrip_load', [[id, bytes.toString()]]); // of box.lua
    },
    async close() {
      connection.disconnect();
    },
  };
}
