/**
 * Fills Tarantool: the space that box.lua makes, by calls of its bulk function with a few hundred
 * rows each. The marker is a tuple in a space beside it. A server that was not started from box.lua
 * has neither, and is left alone.
 */

import { PLACES } from '../../lib/dataset.js';
import { defineLoader } from '../../lib/define.js';
import { refusedError, targetError } from '../../lib/errors.js';
import { requireLoopback } from '../../lib/safety.js';
import { fill } from './fill.js';
import { rowBufferBytes, TarantoolLink } from './iproto.js';
import { formatMarker, parseMarker, rowsToKeep } from './marker.js';
import { Progress } from './progress.js';
import { BATCH_BYTES, pump } from './pump.js';
import { sampleIds } from './sample.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('./marker.js').Marker} Marker */
/** @typedef {{ link: TarantoolLink, rowsId: number, markerId: number }} Place */

const COMMAND = 'dragstrip seed tarantool';
const MARKER_KEY = 'dataset';

export default defineLoader({
  name: 'tarantool',
  server: 'tarantool',
  summary: `space ${PLACES.space}, by the bulk function of box.lua`,
  inspect,
  seed,
});

/** @type {import('../../lib/types.js').LoaderDefinition['inspect']} */
async function inspect(context) {
  const link = await openLink(context);
  try {
    const place = await findPlace(link);
    if (place === null) return { dataset: null, foreign: null };
    const { marker, foreign } = await readMarker(place);
    if (marker === null || !marker.complete) return { dataset: null, foreign };
    const { rows, valueSize, seed } = marker;
    return { dataset: { rows, valueSize, seed }, foreign: null };
  } finally {
    link.close();
  }
}

/** @type {import('../../lib/types.js').LoaderDefinition['seed']} */
async function seed(context) {
  const { dataset, address, allowTargets } = context;
  const { rows } = dataset;
  await requireLoopback(address.main, allowTargets, 'Tarantool');
  const link = await openLink(context);
  try {
    const place = await findPlace(link);
    if (place === null) throw notOurs(link);
    const { marker, foreign } = await readMarker(place);
    if (foreign !== null) throw foreignError(link, foreign);
    // Rows beyond the last cannot be told one by one here: fewer rows than there were begin anew.
    const fewer = (marker?.extent ?? 0) > rows;
    return await fill({
      where: link.where,
      dataset,
      marker,
      rowsThere: () => (fewer ? 0 : rowsToKeep(marker, dataset)),
      write: (keep) => write(place, context, keep),
      verify: () => verify(place, dataset),
      finish: () => setMarker(place, dataset, { complete: true, done: rows, extent: rows }),
    });
  } finally {
    link.close();
  }
}

/**
 * @param {Pick<import('../../lib/types.js').SeedContext, 'address' | 'credentials' | 'signal' |
 *   'timeoutMs'>} context
 */
async function openLink({ address, credentials, signal, timeoutMs }) {
  const link = new TarantoolLink({ what: 'Tarantool', endpoint: address.main, signal, timeoutMs });
  try {
    await link.greet(credentials);
    return link;
  } catch (error) {
    link.close();
    throw error;
  }
}

/**
 * @param {TarantoolLink} link
 * @returns {Promise<Place | null>}
 */
async function findPlace(link) {
  const rowsId = await link.spaceId(PLACES.space);
  const markerId = await link.spaceId(PLACES.tarantoolMarker);
  return rowsId === null || markerId === null ? null : { link, rowsId, markerId };
}

/** @param {TarantoolLink} link */
function notOurs(link) {
  return targetError(
    `${link.where}: it has no space ${PLACES.space}: it was not started from box.lua`,
    'start it from there: `dragstrip servers start tarantool`, or `tarantool box.lua`',
  );
}

/** @param {TarantoolLink} link @param {string} what */
function foreignError(link, what) {
  return refusedError(
    `${link.where}: ${what} was not made by Dragstrip: nothing was touched`,
    'use another server (`dragstrip servers start tarantool`)',
  );
}

/**
 * @param {Place} place
 * @returns {Promise<{ marker: Marker | null, foreign: string | null }>}
 */
async function readMarker({ link, markerId }) {
  const [tuple] = await link.select(markerId, 0, [MARKER_KEY]);
  if (tuple !== undefined) {
    const marker = typeof tuple[1] === 'string' ? parseMarker(tuple[1]) : null;
    return { marker, foreign: marker === null ? `what space ${PLACES.tarantoolMarker} has` : null };
  }
  const count = await link.call('dragstrip_count');
  return { marker: null, foreign: count === 0 ? null : `what space ${PLACES.space} has` };
}

/**
 * @param {Place} place
 * @param {Dataset} dataset
 * @param {{ complete: boolean, done: number, extent: number }} state
 */
function setMarker({ link, markerId }, dataset, state) {
  return link.replace(markerId, [MARKER_KEY, formatMarker(dataset, state)]);
}

/**
 * @param {Place} place
 * @param {import('../../lib/types.js').SeedContext} context
 * @param {number} keep rows that are there already
 */
async function write(place, context, keep) {
  const { link } = place;
  const { dataset } = context;
  const extent = dataset.rows;
  const progress = new Progress(context, COMMAND);
  progress.rowsDone = keep;
  try {
    if (keep === 0) await link.call('dragstrip_reset');
    await setMarker(place, dataset, { complete: false, done: keep, extent });
    await pump({
      first: keep + 1,
      last: dataset.rows,
      bufferBytes: Math.max(BATCH_BYTES, rowBufferBytes(dataset.valueSize)),
      encode: (buffer, id) => link.encodeRows('dragstrip_load_from', dataset, buffer, id),
      send: async (bytes) => {
        // What was acknowledged by now goes into the marker; it travels behind the rows.
        const loaded = link.sendRows(bytes);
        const state = { complete: false, done: progress.rowsDone, extent };
        await Promise.all([loaded, setMarker(place, dataset, state)]);
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
 * @param {Place} place
 * @param {Dataset} dataset
 * @returns {Promise<import('./fill.js').Finding>}
 */
async function verify({ link, rowsId }, dataset) {
  const { rows } = dataset;
  const count = await link.call('dragstrip_count');
  if (count !== rows) return { fault: `${count} rows are there, not ${rows}`, sampled: 0 };
  const ids = sampleIds(dataset);
  for (const id of ids) {
    const [tuple] = await link.select(rowsId, 0, [id]);
    if (tuple?.[1] !== dataset.value(id)) {
      return { fault: `row ${id} is not what was written`, sampled: 0 };
    }
  }
  return { fault: null, sampled: ids.length };
}
