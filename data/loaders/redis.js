/**
 * Fills Redis: one string key for each row, encoded straight from the dataset into pipelined SETs.
 * The marker is a key beside them, rewritten with every batch, so that a load that was broken off
 * goes on where it stopped. Only keys dragstrip:row:1 to the marker's extent are ours; those of
 * another place have another prefix and a marker of their own.
 */

import { PLACES } from '../../lib/dataset.js';
import { defineLoader } from '../../lib/define.js';
import { refusedError } from '../../lib/errors.js';
import { requireLoopback } from '../../lib/safety.js';
import { fill } from './fill.js';
import { formatMarker, parseMarker, rowsToKeep } from './marker.js';
import { Progress } from './progress.js';
import { BATCH_BYTES, pump } from './pump.js';
import { encodeCommand, RespLink } from './resp.js';
import { sampleIds } from './sample.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('./marker.js').Marker} Marker */

/** Keys in one EXISTS or DEL: some tens of microseconds of the server's only thread. */
const KEYS_PER_COMMAND = 500;
/** Of a SET beside its value: `*3`, lengths, the key with ten digits, line ends. */
const SET_OVERHEAD_BYTES = 80;
const COMMAND = 'dragstrip seed redis';

export default defineLoader({
  name: 'redis',
  server: 'redis',
  summary: `keys ${PLACES.redisPrefix}1 and on, by pipelined SET`,
  inspect,
  seed,
  remove,
});

/** The connection, and the names of what is ours on it. */
class RowLink extends RespLink {
  /**
   * @param {import('./link.js').LinkOptions} options
   * @param {import('../../lib/types.js').Places} places
   */
  constructor(options, { redisPrefix, redisMarker }) {
    super(options);
    this.prefix = redisPrefix;
    this.marker = redisMarker;
  }

  /** @param {number} id */
  rowKey(id) {
    return `${this.prefix}${id}`;
  }
}

/** @type {import('../../lib/types.js').LoaderDefinition['inspect']} */
async function inspect(context) {
  const link = await openLink(context);
  try {
    const { marker, foreign } = await readMarker(link);
    if (marker !== null) return { dataset: datasetOf(marker), foreign: null };
    const taken =
      foreign ?? ((await link.command('EXISTS', link.rowKey(1))) === 1 ? link.rowKey(1) : null);
    return { dataset: null, foreign: taken };
  } finally {
    link.close();
  }
}

/** @type {import('../../lib/types.js').LoaderDefinition['seed']} */
async function seed(context) {
  const { dataset, address, allowTargets } = context;
  await requireLoopback(address.main, allowTargets, 'Redis');
  const link = await openLink(context);
  try {
    const marker = await readOwnMarker(link, dataset);
    const { rows } = dataset;
    return await fill({
      where: link.where,
      dataset,
      marker,
      rowsThere: () => rowsToKeep(marker, dataset),
      write: (keep) => write(link, context, keep, Math.max(marker?.extent ?? 0, rows)),
      verify: () => verify(link, dataset),
      finish: () => setMarker(link, dataset, { complete: true, done: rows, extent: rows }),
    });
  } finally {
    link.close();
  }
}

/**
 * The rows of an incomplete load too: the marker says how far they may reach. Without a marker
 * nothing is ours.
 * @type {NonNullable<import('../../lib/types.js').LoaderDefinition['remove']>}
 */
async function remove(context) {
  const link = await openLink(context);
  try {
    const { marker } = await readMarker(link);
    if (marker === null) return 0;
    const removed = await overKeys(link, 'DEL', 1, marker.extent);
    await link.command('DEL', link.marker);
    return removed;
  } finally {
    link.close();
  }
}

/**
 * @param {Pick<import('../../lib/types.js').SeedContext, 'address' | 'credentials' | 'signal' |
 *   'timeoutMs' | 'places'>} context
 */
async function openLink({ address, credentials, signal, timeoutMs, places = PLACES }) {
  const options = { what: 'Redis', endpoint: address.main, signal, timeoutMs };
  const link = new RowLink(options, places);
  await link.opened();
  try {
    const { user, password } = credentials;
    if (password !== undefined) {
      await link.command(...(user === undefined ? ['AUTH', password] : ['AUTH', user, password]));
    }
    const { db = 0 } = address.main;
    if (db > 0) await link.command('SELECT', db);
  } catch (error) {
    link.close();
    throw error;
  }
  return link;
}

/** @param {Marker} marker */
function datasetOf({ rows, valueSize, seed, complete }) {
  return complete ? { rows, valueSize, seed } : null;
}

/**
 * @param {RowLink} link
 * @returns {Promise<{ marker: Marker | null, foreign: string | null }>}
 */
async function readMarker(link) {
  const key = link.marker;
  const type = await link.command('TYPE', key);
  if (type === 'none') return { marker: null, foreign: null };
  if (type !== 'string') return { marker: null, foreign: `${key}, of type ${type}` };
  const marker = parseMarker(await link.command('GET', key));
  return { marker, foreign: marker === null ? key : null };
}

/**
 * The marker, after a look at every key that the load would write: nothing is touched before.
 * @param {RowLink} link
 * @param {Dataset} dataset
 * @returns {Promise<Marker | null>}
 */
async function readOwnMarker(link, dataset) {
  const { marker, foreign } = await readMarker(link);
  if (foreign !== null) throw foreignError(link, foreign);
  const first = (marker?.extent ?? 0) + 1;
  // One row beyond the last, too: a reader that runs past the end must miss.
  const taken = await overKeys(link, 'EXISTS', first, dataset.rows + 1);
  if (taken > 0) throw foreignError(link, `${taken} of the keys from ${link.rowKey(first)} on`);
  return marker;
}

/** @param {RowLink} link @param {string} what */
function foreignError(link, what) {
  return refusedError(
    `${link.where}: ${what} is there and was not made by Dragstrip: nothing was touched`,
    'use another server (`dragstrip servers start redis`), or remove what is yours to remove',
  );
}

/**
 * @param {RowLink} link
 * @param {Dataset} dataset
 * @param {{ complete: boolean, done: number, extent: number }} state
 */
async function setMarker(link, dataset, state) {
  await link.command('SET', link.marker, formatMarker(dataset, state));
}

/**
 * @param {RowLink} link
 * @param {import('../../lib/types.js').SeedContext} context
 * @param {number} keep rows that are there already
 * @param {number} extent the highest id that may be ours from now on
 */
async function write(link, context, keep, extent) {
  const { dataset } = context;
  const progress = new Progress(context, COMMAND);
  progress.rowsDone = keep;
  try {
    await setMarker(link, dataset, { complete: false, done: keep, extent });
    /** @type {(buffer: Buffer, id: number) => { length: number, next: number }} */
    const encode = (buffer, id) => {
      const end = encodeRows(link, dataset, buffer, id);
      // Only what was acknowledged counts as done: an error reply may be under way to us.
      const state = { complete: false, done: progress.rowsDone, extent };
      const marker = ['SET', link.marker, formatMarker(dataset, state)];
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
      send: (bytes, id, next) => link.batch(bytes, next - id + 1),
      onDone: (next) => {
        progress.rowsDone = next - 1;
      },
    });
    await overKeys(link, 'DEL', dataset.rows + 1, extent);
  } catch (error) {
    throw progress.interrupted(error);
  } finally {
    progress.stop();
  }
}

/**
 * As many SETs as the buffer takes, but for the room of the marker behind them.
 * @param {RowLink} link
 * @param {Dataset} dataset
 * @param {Buffer} buffer
 * @param {number} first
 */
function encodeRows(link, dataset, buffer, first) {
  const { rows, valueSize, write: writeValue } = dataset;
  const limit = buffer.length - 1024 - valueSize - SET_OVERHEAD_BYTES;
  let at = 0;
  let id = first;
  while (id <= rows && at <= limit) {
    const key = link.rowKey(id);
    const head = `*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$${valueSize}\r\n`;
    at += buffer.write(head, at, 'latin1');
    at = writeValue(id, buffer, at);
    buffer[at] = 13;
    buffer[at + 1] = 10;
    at += 2;
    id += 1;
  }
  return { length: at, next: id };
}

/**
 * A command of many keys over a range of rows, pipelined.
 * @param {RowLink} link
 * @param {'EXISTS' | 'DEL'} name
 * @param {number} first
 * @param {number} last
 * @returns {Promise<number>} the sum of the replies: how many keys there were
 */
async function overKeys(link, name, first, last) {
  let count = 0;
  await pump({
    first,
    last,
    bufferBytes: KEYS_PER_COMMAND * 64,
    encode: (buffer, id) => {
      const next = Math.min(id + KEYS_PER_COMMAND, last + 1);
      const keys = Array.from({ length: next - id }, (_, index) => link.rowKey(id + index));
      return { length: encodeCommand([name, ...keys]).copy(buffer), next };
    },
    send: (bytes) => link.batch(bytes, 1),
    onDone: (_next, sum) => {
      count += sum;
    },
  });
  return count;
}

/**
 * @param {RowLink} link
 * @param {Dataset} dataset
 * @returns {Promise<import('./fill.js').Finding>}
 */
async function verify(link, dataset) {
  const { rows } = dataset;
  const count = await overKeys(link, 'EXISTS', 1, rows);
  if (count !== rows) return { fault: `${count} of ${rows} rows are there`, sampled: 0 };
  if ((await overKeys(link, 'EXISTS', rows + 1, rows + 1)) !== 0) {
    return { fault: `${link.rowKey(rows + 1)} is there, beyond the last row`, sampled: 0 };
  }
  const ids = sampleIds(dataset);
  for (const id of ids) {
    if ((await link.command('GET', link.rowKey(id))) !== dataset.value(id)) {
      return { fault: `row ${id} is not what was written`, sampled: 0 };
    }
  }
  return { fault: null, sampled: ids.length };
}
