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
/** @typedef {import('../../lib/types.js').Places} Places */
/** @typedef {{ link: TarantoolLink, rowsId: number, markerId: number, places: Places }} Place */

const COMMAND = 'dragstrip seed tarantool';

export default defineLoader({
  name: 'tarantool',
  server: 'tarantool',
  summary: `space ${PLACES.space}, by the bulk function of box.lua`,
  inspect,
  seed,
  remove,
});

/** @type {import('../../lib/types.js').LoaderDefinition['inspect']} */
async function inspect(context) {
  const link = await openLink(context);
  try {
    const place = await findPlace(link, context.places);
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
    const place = await findPlace(link, context.places);
    if (place === null) throw notOurs(link, context.places);
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

/** @type {NonNullable<import('../../lib/types.js').LoaderDefinition['remove']>} */
async function remove(context) {
  const link = await openLink(context);
  try {
    const place = await findPlace(link, context.places);
    if (place === null) return 0;
    const { marker } = await readMarker(place);
    if (marker === null) return 0;
    const count = await link.call('dragstrip_count', [place.places.space]);
    await link.call('dragstrip_reset', [place.places.space]);
    return count;
  } finally {
    link.close();
  }
}

/**
 * @param {TarantoolLink} link
 * @param {Places} [places]
 * @returns {Promise<Place | null>}
 */
async function findPlace(link, places = PLACES) {
  const rowsId = await link.spaceId(places.space);
  const markerId = await link.spaceId(places.tarantoolMarker);
  return rowsId === null || markerId === null ? null : { link, rowsId, markerId, places };
}

/** @param {TarantoolLink} link @param {Places} [places] */
function notOurs(link, { space } = PLACES) {
  return targetError(
    `${link.where}: it has no space ${space}: it was not started from this box.lua`,
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
async function readMarker({ link, markerId, places }) {
  const [tuple] = await link.select(markerId, 0, [places.tarantoolKey]);
  if (tuple !== undefined) {
    const marker = typeof tuple[1] === 'string' ? parseMarker(tuple[1]) : null;
    return { marker, foreign: marker === null ? `what space ${places.tarantoolMarker} has` : null };
  }
  const count = await link.call('dragstrip_count', [places.space]);
  return { marker: null, foreign: count === 0 ? null : `what space ${places.space} has` };
}

/**
 * @param {Place} place
 * @param {Dataset} dataset
 * @param {{ complete: boolean, done: number, extent: number }} state
 */
function setMarker({ link, markerId, places }, dataset, state) {
  return link.replace(markerId, [places.tarantoolKey, formatMarker(dataset, state)]);
}

/**
 * @param {Place} place
 * @param {import('../../lib/types.js').SeedContext} context
 * @param {number} keep rows that are there already
 */
async function write(place, context, keep) {
  const { link } = place;
  const { space } = place.places;
  const { dataset } = context;
  const extent = dataset.rows;
  const progress = new Progress(context, COMMAND);
  progress.rowsDone = keep;
  try {
    if (keep === 0) await link.call('dragstrip_reset', [space]);
    await setMarker(place, dataset, { complete: false, done: keep, extent });
    await pump({
      first: keep + 1,
      last: dataset.rows,
      bufferBytes: Math.max(BATCH_BYTES, rowBufferBytes(dataset.valueSize)),
      encode: (buffer, id) => link.encodeRows('dragstrip_load_from', dataset, buffer, id, space),
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
async function verify({ link, rowsId, places }, dataset) {
  const { rows } = dataset;
  const count = await link.call('dragstrip_count', [places.space]);
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
