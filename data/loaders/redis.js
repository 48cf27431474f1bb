/**
 * Fills Redis: one string key for each row, encoded straight from the dataset into pipelined SETs.
 * The marker is a key beside them, rewritten with every batch, so that a load that was broken off
 * goes on where it stopped. Only keys dragstrip:row:1 to the marker's extent are ours; those of
 * another namespace have another prefix and marker.
 */

import { ROW_NAMES, ROWS_NAMESPACE } from '../../lib/dataset.js';
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
import { RespConnection } from '../connections/redis.js';
import { notOursError } from '../namespaces/mark.js';
import { overKeys, readOwnership } from '../namespaces/redis.js';
import { fill } from './fill.js';
import { formatMarker, readMarker, rowsToKeep } from './marker.js';
import { Progress } from './progress.js';
import { sampleIds } from './sample.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('./marker.js').Marker} Marker */

/** Of a SET beside its value: `*3`, lengths, the key with ten digits, line ends. */
const SET_OVERHEAD_BYTES = 80;
const SET_HEAD = `${arrayHead(3)}${bulk('SET')}`;
const COMMAND = 'npx dragstrip seed redis';

export default defineLoader({
  name: 'redis',
  server: 'redis',
  summary: `keys ${ROW_NAMES.redisPrefix}1 and on, by pipelined SET`,
  inspect,
  seed,
});

/** @typedef {{ connection: RespConnection, prefix: string, marker: string }} Rows */

/** @type {import('../../lib/types.js').LoaderDefinition['inspect']} */
async function inspect(context) {
  const rows = await openRows(context);
  try {
    const { marker, notOurs } = await readOwnMarker(rows);
    if (marker !== null) return { dataset: datasetOf(marker), notOurs: null };
    const isTaken = notOurs === null && (await overRows(rows, 'EXISTS', 1, 1)) === 1;
    return { dataset: null, notOurs: isTaken ? `${rows.prefix}1` : notOurs };
  } finally {
    rows.connection.close();
  }
}

/** @type {import('../../lib/types.js').LoaderDefinition['seed']} */
async function seed(given) {
  const checked = await requireLoopback(given.address.main, given.allowTargets, 'Redis');
  const context = { ...given, address: { ...given.address, main: checked } };
  const { dataset } = context;
  const rows = await openRows(context);
  try {
    const marker = await requireOwn(rows, dataset);
    const count = dataset.rows;
    return await fill({
      where: rows.connection.where,
      dataset,
      marker,
      rowsThere: () => rowsToKeep(marker, dataset),
      write: (keep) => write(rows, context, keep, Math.max(marker?.extent ?? 0, count)),
      verify: () => verify(rows, dataset),
      finish: () => setMarker(rows, dataset, { complete: true, done: count, extent: count }),
    });
  } finally {
    rows.connection.close();
  }
}

/**
 * @param {import('../../lib/types.js').ConnectionContext &
 *   { namespace?: import('../../lib/types.js').Namespace }} context
 * @returns {Promise<Rows>}
 */
async function openRows(context) {
  const { redis = ROWS_NAMESPACE.redis } = context.namespace ?? {};
  const { prefix, marker } = /** @type {{ prefix: string, marker: string }} */ (redis);
  return { connection: await RespConnection.connect(context), prefix, marker };
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
function datasetOf({ rows, valueSize, seed, complete }) {
  return complete ? { rows, valueSize, seed } : null;
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
  const { connection, prefix } = rows;
  const { marker, notOurs } = await readOwnMarker(rows);
  if (notOurs !== null) throw notOursError(connection.where, `key ${notOurs}`, 'redis');
  const first = (marker?.extent ?? 0) + 1;
  // One row beyond the last, too: a reader that runs past the end must miss.
  const taken = await overRows(rows, 'EXISTS', first, dataset.rows + 1);
  if (taken > 0)
    throw notOursError(connection.where, `${taken} of the keys from ${prefix}${first} on`, 'redis');
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
  const { connection, marker: key } = rows;
  const progress = new Progress(context, COMMAND);
  progress.rowsDone = keep;
  try {
    await setMarker(rows, dataset, { complete: false, done: keep, extent });
    /** @type {(buffer: Buffer, id: number) => { length: number, next: number }} */
    const encode = (buffer, id) => {
      const end = encodeRows(rows, dataset, buffer, id);
      // Only acknowledged commands count as done: an error reply may still arrive.
      const state = { complete: false, done: progress.rowsDone, extent };
      const marker = ['SET', key, formatMarker(dataset, state)];
      return {
        length: end.length + encodeCommand(marker).copy(buffer, end.length),
        next: end.next,
      };
    };
    await pump({
      first: keep + 1,
      last: dataset.rows,
      bufferBytes: Math.max(BATCH_BYTES, dataset.valueSize + SET_OVERHEAD_BYTES) + 1024,
      encode,
      send: (bytes, id, next) => connection.batch(bytes, next - id + 1),
      onDone: (next) => {
        progress.rowsDone = next - 1;
      },
    });
    await overRows(rows, 'DEL', dataset.rows + 1, extent);
  } catch (error) {
    throw progress.interrupted(error);
  } finally {
    progress.stop();
  }
}

/**
 * As many SETs as the buffer takes, but for the room of the marker behind them.
 * @param {Rows} rows
 * @param {Dataset} dataset
 * @param {Buffer} buffer
 * @param {number} first
 */
function encodeRows({ prefix }, dataset, buffer, first) {
  const { rows, valueSize, write: writeValue } = dataset;
  const limit = buffer.length - 1024 - valueSize - SET_OVERHEAD_BYTES;
  const size = bulkHead(valueSize);
  let at = 0;
  let id = first;
  while (id <= rows && at <= limit) {
    at += buffer.write(`${SET_HEAD}${bulk(`${prefix}${id}`)}${size}`, at, 'latin1');
    at = writeValue(id, buffer, at);
    at = writeBulkEnd(buffer, at);
    id += 1;
  }
  return { length: at, next: id };
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
    if ((await connection.command('GET', `${prefix}${id}`)) !== dataset.value(id)) {
      return { fault: `row ${id} differs from the dataset`, sampled: 0 };
    }
  }
  return { fault: null, sampled: ids.length };
}
