/**
 * Fills Redis, one server or a cluster: one string key for each row, encoded straight from the
 * dataset into pipelined SETs to the node that has the key. The marker is a key beside them,
 * rewritten with every batch of its node, so that a load that was broken off goes on where it
 * stopped. Only keys dragstrip:row:1 to the marker's extent are ours; those of another namespace
 * have another prefix and marker.
 */

import { formatPlace, parseEndpoint } from '../../lib/address.js';
import { ROWS_NAMESPACE } from '../../lib/dataset.js';
import { defineLoader } from '../../lib/define.js';
import { requireLoopback } from '../../lib/safety.js';
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
import { fill } from './fill.js';
import { formatMarker, markedDataset, readMarker, rowsToKeep } from './marker.js';
import { Progress } from './progress.js';
import { sampleIds } from './sample.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('./marker.js').Marker} Marker */

/** Of a SET beside its value: `*3`, lengths, the key with ten digits, line ends. */
const SET_OVERHEAD_BYTES = 80;
const SET_HEAD = `${arrayHead(3)}${bulk('SET')}`;

/** @typedef {import('../connections/redis.js').RespConnection} RespConnection */
/** @typedef {import('../connections/redis-cluster.js').RespCluster} RespCluster */

/**
 * @typedef {object} Family
 * @property {string} name of the loader and of its server
 * @property {string} title
 * @property {string} summary
 * @property {(context: import('../../lib/types.js').ConnectionContext &
 *   { allowed?: readonly import('../../lib/types.js').Endpoint[] }) =>
 *   Promise<RespConnection | RespCluster>} connect
 */

/**
 * @typedef {{ connection: RespConnection | RespCluster, prefix: string, marker: string,
 *   name: string }} Rows name: of the loader
 */

/**
 * @param {Family} family
 * @returns {import('../../lib/types.js').LoaderDefinition}
 */
export function defineRedisLoader(family) {
  const { name, summary } = family;
  return defineLoader({
    ...{ name, server: name, summary },
    inspect: (context) => inspect(family, context),
    seed: (context) => seed(family, context),
  });
}

/**
 * @param {Family} family
 * @param {Parameters<import('../../lib/types.js').LoaderDefinition['inspect']>[0]} context
 */
async function inspect(family, context) {
  const rows = await openRows(family, context);
  try {
    const { marker, notOurs } = await readOwnMarker(rows);
    if (marker !== null) return { dataset: datasetOf(marker), notOurs: null };
    const isTaken = notOurs === null && (await overRows(rows, 'EXISTS', 1, 1)) === 1;
    return { dataset: null, notOurs: isTaken ? `${rows.prefix}1` : notOurs };
  } finally {
    rows.connection.close();
  }
}

/**
 * @param {Family} family
 * @param {import('../../lib/types.js').SeedContext} given
 * @returns {Promise<import('../../lib/types.js').SeedReport>}
 */
async function seed(family, given) {
  const { allowTargets = [], dataset } = given;
  const checked = { ...given.address };
  for (const [which, endpoint] of Object.entries(given.address)) {
    checked[which] = await requireLoopback(endpoint, allowTargets, family.title);
  }
  const context = { ...given, address: checked };
  const allowed = allowTargets.map((text) => parseEndpoint(text, '--allow-target'));
  const rows = await openRows(family, { ...context, allowed });
  try {
    const marker = await requireOwn(rows, dataset);
    const count = dataset.rows;
    const report = await fill({
      where: rows.connection.where,
      dataset,
      marker,
      rowsThere: () => rowsToKeep(marker, dataset),
      write: (keep) => write(rows, context, keep, Math.max(marker?.extent ?? 0, count)),
      verify: () => verify(rows, dataset),
      finish: () => setMarker(rows, dataset, { complete: true, done: count, extent: count }),
    });
    if (rows.connection.nodes.length === 1) return report;
    return { ...report, nodes: await countNodes(rows, count) };
  } finally {
    rows.connection.close();
  }
}

/**
 * @param {Family} family
 * @param {Parameters<Family['connect']>[0] &
 *   { namespace?: import('../../lib/types.js').Namespace }} context
 * @returns {Promise<Rows>}
 */
async function openRows({ name, connect }, context) {
  const { redis = ROWS_NAMESPACE.redis } = context.namespace ?? {};
  const { prefix, marker } = /** @type {{ prefix: string, marker: string }} */ (redis);
  return { connection: await connect(context), prefix, marker, name };
}

/**
 * @param {Rows} rows
 * @param {number} last
 * @returns {Promise<Record<string, number>>} rows by the address of their node, as it counts them
 */
async function countNodes({ connection, prefix }, last) {
  const counts = await countKeys(connection, 'EXISTS', prefix, 1, last);
  return Object.fromEntries(
    connection.nodes.map(({ endpoint }, i) => [formatPlace(endpoint), counts[i]]),
  );
}

/**
 * @param {Rows} rows
 * @param {'EXISTS' | 'DEL'} name
 * @param {number} first
 * @param {number} last
 */
function overRows({ connection, prefix }, name, first, last) {
  return overKeys(connection, name, prefix, first, last);
}

/** @param {Marker} marker */
function datasetOf(marker) {
  return marker.complete ? markedDataset(marker) : null;
}

/**
 * @param {Rows} rows
 * @returns {Promise<{ marker: Marker | null, notOurs: string | null }>}
 */
async function readOwnMarker({ connection, marker: key }) {
  const { mark, notOurs } = await readOwnership(connection, key);
  const marker = readMarker(mark);
  return { marker, notOurs: notOurs ?? (mark !== null && marker === null ? key : null) };
}

/**
 * The marker, after a look at every key that the load would write: nothing is touched before.
 * @param {Rows} rows
 * @param {Dataset} dataset
 * @returns {Promise<Marker | null>}
 */
async function requireOwn(rows, dataset) {
  const { connection, prefix, name } = rows;
  const { marker, notOurs } = await readOwnMarker(rows);
  if (notOurs !== null) throw notOursError(connection.where, `key ${notOurs}`, name);
  const first = (marker?.extent ?? 0) + 1;
  // One row beyond the last, too: a reader that runs past the end must miss.
  const taken = await overRows(rows, 'EXISTS', first, dataset.rows + 1);
  if (taken > 0)
    throw notOursError(connection.where, `${taken} of the keys from ${prefix}${first} on`, name);
  return marker;
}

/**
 * @param {Rows} rows
 * @param {Dataset} dataset
 * @param {{ complete: boolean, done: number, extent: number }} state
 */
async function setMarker({ connection, marker }, dataset, state) {
  await connection.command('SET', marker, formatMarker(dataset, state));
}

/**
 * @param {Rows} rows
 * @param {import('../../lib/types.js').SeedContext} context
 * @param {number} keep rows that exist already
 * @param {number} extent the highest id that Dragstrip may own from now on
 */
async function write(rows, context, keep, extent) {
  const { dataset } = context;
  const { connection } = rows;
  const progress = new Progress(context, `npx dragstrip seed ${rows.name}`);
  progress.rowsDone = keep;
  // Rows up to this are acknowledged by the node; only those by all of them are in the marker.
  const done = connection.nodes.map(() => keep);
  try {
    await setMarker(rows, dataset, { complete: false, done: keep, extent });
    await Promise.all(
      connection.nodes.map((node, i) =>
        writeNode(rows, dataset, node, {
          first: keep + 1,
          // Only acknowledged commands count as done: an error reply may still arrive.
          state: () => ({ complete: false, done: progress.rowsDone, extent }),
          onDone(next) {
            done[i] = next - 1;
            progress.rowsDone = Math.min(...done);
          },
        }),
      ),
    );
    await overRows(rows, 'DEL', dataset.rows + 1, extent);
  } catch (error) {
    throw progress.interrupted(error);
  } finally {
    progress.stop();
  }
}

/**
 * The rows of one node, each batch with the marker behind it where that is on the same node.
 * @param {Rows} rows
 * @param {Dataset} dataset
 * @param {RespConnection} node
 * @param {{ first: number, state: () => { complete: boolean, done: number, extent: number },
 *   onDone: (next: number) => void }} load
 */
async function writeNode({ connection, prefix, marker: key }, dataset, node, load) {
  const hasMarker = connection.ownerOf(key) === node;
  let commands = 0; // of the batch that was encoded last
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
      const marker = encodeCommand(['SET', key, formatMarker(dataset, load.state())]);
      return { length: batch.length + marker.copy(buffer, batch.length), next: batch.next };
    },
    send: async (bytes) => (commands === 0 ? 0 : node.batch(bytes, commands)),
    onDone: load.onDone,
  });
}

/**
 * As many SETs as the buffer takes, but for the room of the marker behind them.
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

/**
 * @param {Rows} own
 * @param {Dataset} dataset
 * @returns {Promise<import('./fill.js').Finding>}
 */
async function verify(own, dataset) {
  const { connection, prefix } = own;
  const { rows } = dataset;
  const count = await overRows(own, 'EXISTS', 1, rows);
  if (count !== rows) return { fault: `${count} of ${rows} rows found`, sampled: 0 };
  if ((await overRows(own, 'EXISTS', rows + 1, rows + 1)) !== 0) {
    return { fault: `${prefix}${rows + 1} exists, beyond the last row`, sampled: 0 };
  }
  const ids = sampleIds(dataset);
  for (const id of ids) {
    if (!dataset.matches(id, (await connection.command('GET', `${prefix}${id}`)) ?? '')) {
      return { fault: `row ${id} differs from the dataset`, sampled: 0 };
    }
  }
  return { fault: null, sampled: ids.length };
}
