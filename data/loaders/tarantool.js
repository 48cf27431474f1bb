/**
 * Fills Tarantool: the space that box.lua makes, by calls of its bulk function with a few hundred
 * rows each. The marker is a tuple in a space beside it. A server that was not started from box.lua
 * has neither, and is left alone.
 */

import { ROW_NAMES, ROWS_NAMESPACE } from '../../lib/dataset.js';
import { defineLoader } from '../../lib/define.js';
import { requireLoopback } from '../../lib/safety.js';
import { BATCH_BYTES, pump } from '../connections/pump.js';
import { rowBufferBytes, TarantoolConnection } from '../connections/tarantool.js';
import { notOursError } from '../namespaces/mark.js';
import { clear, findSpace, readOwnership, requireSpace, setMark } from '../namespaces/tarantool.js';
import { fill } from './fill.js';
import { formatMarker, markedDataset, readMarker, rowsToKeep } from './marker.js';
import { Progress } from './progress.js';
import { sampleIds } from './sample.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('./marker.js').Marker} Marker */
/** @typedef {import('../namespaces/tarantool.js').Space} Space */

const COMMAND = 'npx dragstrip seed tarantool';

export default defineLoader({
  name: 'tarantool',
  server: 'tarantool',
  summary: `space ${ROW_NAMES.space}, by the bulk function of box.lua`,
  inspect,
  seed,
});

/** @type {import('../../lib/types.js').LoaderDefinition['inspect']} */
async function inspect(context) {
  const connection = await TarantoolConnection.connect(context);
  try {
    const space = await findSpace(connection, namesOf(context));
    if (space === null) return { dataset: null, notOurs: null };
    const { marker, notOurs } = await readOwnMarker(space);
    if (marker === null || !marker.complete) return { dataset: null, notOurs };
    return { dataset: markedDataset(marker), notOurs: null };
  } finally {
    connection.close();
  }
}

/** @type {import('../../lib/types.js').LoaderDefinition['seed']} */
async function seed(given) {
  const checked = await requireLoopback(given.address.main, given.allowTargets, 'Tarantool');
  const context = { ...given, address: { ...given.address, main: checked } };
  const { dataset } = context;
  const { rows } = dataset;
  const connection = await TarantoolConnection.connect(context);
  try {
    const space = await requireSpace(connection, namesOf(context));
    const { marker, notOurs } = await readOwnMarker(space);
    if (notOurs !== null) throw notOursError(connection.where, notOurs, 'tarantool');
    // Surplus rows cannot be removed one by one here: a smaller dataset is written from the start.
    const fewer = (marker?.extent ?? 0) > rows;
    return await fill({
      where: connection.where,
      dataset,
      marker,
      rowsThere: () => (fewer ? 0 : rowsToKeep(marker, dataset)),
      write: (keep) => write(space, context, keep),
      verify: () => verify(space, dataset),
      finish: () => setMarker(space, dataset, { complete: true, done: rows, extent: rows }),
    });
  } finally {
    connection.close();
  }
}

/** @param {{ namespace?: import('../../lib/types.js').Namespace }} context */
function namesOf({ namespace = ROWS_NAMESPACE }) {
  return /** @type {{ space: string, marker: string, key: string }} */ (namespace.tarantool);
}

/**
 * @param {Space} space
 * @returns {Promise<{ marker: Marker | null, notOurs: string | null }>}
 */
async function readOwnMarker(space) {
  const { mark, notOurs } = await readOwnership(space);
  const marker = readMarker(mark);
  const other = mark !== null && marker === null ? `tuple ${space.key}` : null;
  return { marker, notOurs: notOurs ?? other };
}

/**
 * @param {Space} space
 * @param {Dataset} dataset
 * @param {{ complete: boolean, done: number, extent: number }} state
 */
function setMarker(space, dataset, state) {
  return setMark(space, formatMarker(dataset, state));
}

/**
 * @param {Space} own
 * @param {import('../../lib/types.js').SeedContext} context
 * @param {number} keep rows that exist already
 */
async function write(own, context, keep) {
  const { connection, space } = own;
  const { dataset } = context;
  const extent = dataset.rows;
  const progress = new Progress(context, COMMAND);
  progress.rowsDone = keep;
  try {
    if (keep === 0) await clear(own);
    await setMarker(own, dataset, { complete: false, done: keep, extent });
    await pump({
      first: keep + 1,
      last: dataset.rows,
      bufferBytes: Math.max(BATCH_BYTES, rowBufferBytes(dataset.valueSize)),
      encode: (buffer, id) =>
        connection.encodeRows('dragstrip_load_from', dataset, buffer, id, space),
      send: async (bytes) => {
        // What was acknowledged by now goes into the marker; it travels behind the rows.
        const loaded = connection.sendRows(bytes);
        const state = { complete: false, done: progress.rowsDone, extent };
        await Promise.all([loaded, setMarker(own, dataset, state)]);
      },
      onDone: (next) => {
        progress.rowsDone = Math.max(progress.rowsDone, next - 1);
      },
    });
  } catch (error) {
    throw progress.interrupted(error);
  } finally {
    progress.stop();
  }
}

/**
 * @param {Space} space
 * @param {Dataset} dataset
 * @returns {Promise<import('./fill.js').Finding>}
 */
async function verify({ connection, spaceId, space }, dataset) {
  const { rows } = dataset;
  const count = await connection.call('dragstrip_count', [space]);
  if (count !== rows) return { fault: `${count} rows found instead of ${rows}`, sampled: 0 };
  const ids = sampleIds(dataset);
  for (const id of ids) {
    const [tuple] = await connection.select(spaceId, 0, [id]);
    if (!dataset.matches(id, tuple?.[1] ?? '')) {
      return { fault: `row ${id} differs from the dataset`, sampled: 0 };
    }
  }
  return { fault: null, sampled: ids.length };
}
