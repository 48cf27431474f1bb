/**
 * Fills Redis, one server or a cluster: one string key per row, encoded directly from the dataset
 * into pipelined SETs to the node of the key. The marker is a separate key, rewritten with every
 * batch of its node, so that an interrupted load continues where it stopped. Only keys
 * dragstrip:row:1 to the marker's extent are Dragstrip's; those of another namespace have another
 * prefix and marker.
 */

import { formatPlace } from '../../lib/address.js';
import { ROWS_NAMESPACE } from '../../lib/dataset.js';
import {
  arrayHead,
  bulk,
  bulkHead,
  encodeCommand,
  writeBulkEnd,
} from '../../protocols/resp/command.js';
import { BATCH_BYTES, pump } from '../connections/pump.js';
import { notOursError } from '../namespaces/mark.js';
import { countKeys, overKeys, readOwnership } from '../namespaces/redis.js';
import { defineRowsLoader } from './fill.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */

/** Bytes of a SET in addition to its value: `*3`, lengths, the key with ten digits, line ends. */
const SET_OVERHEAD_BYTES = 80;
const SET_HEAD = `${arrayHead(3)}${bulk('SET')}`;

/** @typedef {import('../connections/redis.js').RespConnection} RespConnection */
/** @typedef {import('../connections/redis-cluster.js').RespCluster} RespCluster */

/**
 * @typedef {object} Family
 * @property {string} name name of the loader and of its server
 * @property {string} title
 * @property {string} summary
 * @property {(context: import('./fill.js').StoreContext) =>
 *   Promise<RespConnection | RespCluster>} connect
 */

/** @typedef {{ connection: RespConnection | RespCluster, prefix: string, marker: string }} Rows */

/**
 * @param {Family} family
 * @returns {import('../../lib/types.js').LoaderDefinition}
 */
export function defineRedisLoader({ connect, ...family }) {
  return defineRowsLoader({
    ...family,
    server: family.name,
    async open(context) {
      const { redis = ROWS_NAMESPACE.redis } = context.namespace ?? {};
      const { prefix, marker } = /** @type {{ prefix: string, marker: string }} */ (redis);
      return storeOf({ connection: await connect(context), prefix, marker }, family.name);
    },
  });
}

/**
 * @param {Rows} keyspace
 * @param {string} server
 * @returns {import('./fill.js').RowStore}
 */
function storeOf(keyspace, server) {
  const { connection, prefix, marker: key } = keyspace;
  const { where } = connection;
  const over = (
    /** @type {'EXISTS' | 'DEL'} */ name,
    /** @type {number} */ first,
    /** @type {number} */ last,
  ) => overKeys(connection, name, prefix, first, last);
  return {
    where,
    markedBy: key,
    kind: 'key ',
    ownership: () => readOwnership(connection, key),
    firstTaken: async () => ((await over('EXISTS', 1, 1)) === 1 ? `${prefix}1` : null),
    // Checks every key that the load would write, before changing anything. One row beyond the
    // last, too, since a reader beyond the end must miss.
    async prepare({ rows }, marker) {
      const first = (marker?.extent ?? 0) + 1;
      const taken = await over('EXISTS', first, rows + 1);
      if (taken > 0) {
        throw notOursError(where, `${taken} of the keys from ${prefix}${first} on`, server);
      }
    },
    async write(dataset, { keep, marker, progress, mark }) {
      // The highest id that Dragstrip may own from now on.
      const extent = Math.max(marker?.extent ?? 0, dataset.rows);
      // Rows up to this are acknowledged by the node; the marker includes only those acknowledged
      // by all nodes.
      const done = connection.nodes.map(() => keep);
      const text = () => mark({ complete: false, done: progress.rowsDone, extent });
      await connection.command('SET', key, text());
      await Promise.all(
        connection.nodes.map((node, i) =>
          writeNode(keyspace, dataset, node, {
            first: keep + 1,
            // Only acknowledged commands count as done, since an error reply may still arrive.
            mark: text,
            onDone(next) {
              done[i] = next - 1;
              progress.rowsDone = Math.min(...done);
            },
          }),
        ),
      );
      await over('DEL', dataset.rows + 1, extent);
    },
    async fault({ rows }) {
      const count = await over('EXISTS', 1, rows);
      if (count !== rows) return `${count} of ${rows} rows found`;
      const beyond = (await over('EXISTS', rows + 1, rows + 1)) !== 0;
      return beyond ? `${prefix}${rows + 1} exists, beyond the last row` : null;
    },
    read: (id) => connection.command('GET', `${prefix}${id}`),
    setMark: (text) => connection.command('SET', key, text),
    ...(connection.nodes.length > 1 && { countNodes: (rows) => countNodes(keyspace, rows) }),
    close: () => connection.close(),
  };
}

/**
 * @param {Rows} own
 * @param {number} last
 * @returns {Promise<Record<string, number>>} rows by the address of their node, as counted by the
 *   node
 */
async function countNodes({ connection, prefix }, last) {
  const counts = await countKeys(connection, 'EXISTS', prefix, 1, last);
  return Object.fromEntries(
    connection.nodes.map(({ endpoint }, i) => [formatPlace(endpoint), counts[i]]),
  );
}

/**
 * The rows of one node, each batch followed by the marker if that is on the same node.
 * @param {Rows} rows
 * @param {Dataset} dataset
 * @param {RespConnection} node
 * @param {{ first: number, mark: () => string, onDone: (next: number) => void }} load mark: the
 *   current marker
 */
async function writeNode({ connection, prefix, marker: key }, dataset, node, load) {
  const hasMarker = connection.ownerOf(key) === node;
  let commands = 0; // size of the last encoded batch
  await pump({
    first: load.first,
    last: dataset.rows,
    bufferBytes: Math.max(BATCH_BYTES, dataset.valueSize + SET_OVERHEAD_BYTES) + 1024,
    encode(buffer, id) {
      const isHere = (/** @type {string} */ name) => connection.ownerOf(name) === node;
      const batch = encodeRows({ prefix, isHere }, dataset, buffer, id);
      commands = batch.rows;
      if (!hasMarker) return batch;
      commands += 1;
      const marker = encodeCommand(['SET', key, load.mark()]);
      return { length: batch.length + marker.copy(buffer, batch.length), next: batch.next };
    },
    send: async (bytes) => (commands === 0 ? 0 : node.batch(bytes, commands)),
    onDone: load.onDone,
  });
}

/**
 * As many SETs as fit into the buffer, reserving space for the marker after them.
 * @param {{ prefix: string, isHere: (key: string) => boolean }} which
 * @param {Dataset} dataset
 * @param {Buffer} buffer
 * @param {number} first
 * @returns {{ length: number, next: number, rows: number }}
 */
function encodeRows({ prefix, isHere }, dataset, buffer, first) {
  const { rows, valueSize, minSize, sizeOf, write: writeValue } = dataset;
  const limit = buffer.length - 1024 - valueSize - SET_OVERHEAD_BYTES;
  const head = bulkHead(valueSize);
  let at = 0;
  let id = first;
  let written = 0;
  for (; id <= rows && at <= limit; id += 1) {
    const key = `${prefix}${id}`;
    if (!isHere(key)) continue;
    const size = minSize === valueSize ? head : bulkHead(sizeOf(id));
    at += buffer.write(`${SET_HEAD}${bulk(key)}${size}`, at, 'latin1');
    at = writeValue(id, buffer, at);
    at = writeBulkEnd(buffer, at);
    written += 1;
  }
  return { length: at, next: id, rows: written };
}
