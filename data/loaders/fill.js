/**
 * The steps of every load: check existing rows, write missing ones, count and sample, and only then
 * mark it as complete. Each server implements the steps.
 */

import { parseEndpoint } from '../../lib/address.js';
import { defineLoader } from '../../lib/define.js';
import { targetError } from '../../lib/errors.js';
import { requireLoopback } from '../../lib/safety.js';
import { notOursError } from '../namespaces/mark.js';
import { formatMarker, isWhole, markedDataset, readMarker, rowsToKeep } from './marker.js';
import { Progress } from './progress.js';
import { sampleIds } from './sample.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('./marker.js').Marker} Marker */
/** @typedef {{ complete: boolean, done: number, extent: number }} State state of a load */

/**
 * @typedef {import('../../lib/types.js').ConnectionContext & {
 *   namespace?: import('../../lib/types.js').Namespace,
 *   allowed?: readonly import('../../lib/types.js').Endpoint[] }} StoreContext
 */

/**
 * @typedef {object} RowStore the rows of one namespace, over a connection
 * @property {string} where name of the server in messages
 * @property {string} markedBy carrier of the mark: `table a`
 * @property {string} [kind] prefix for the conflicting data, in the message of a refusal
 * @property {() => Promise<import('../namespaces/mark.js').Ownership>} ownership
 * @property {() => Promise<string | null>} [firstTaken] without a mark: name of conflicting data
 * @property {(dataset: Dataset, marker: Marker | null) => Promise<void>} [prepare] rejects if the
 *   rows cannot be written; changes nothing
 * @property {(dataset: Dataset, marker: Marker | null) => Promise<number>} [rowsThere] number of
 *   leading ids that need not be written again; absent: as stated by the marker
 * @property {(dataset: Dataset, load: { keep: number, marker: Marker | null, progress: Progress,
 *   mark: (state: State) => string }) => Promise<void>} write marks the rows as incomplete, then
 *   writes those above `keep` and removes those above the last; mark: the text of a marker
 * @property {(dataset: Dataset) => Promise<string | null>} fault description of a wrong number of
 *   rows
 * @property {(id: number) => Promise<string | null | undefined>} read
 * @property {(text: string) => Promise<unknown>} setMark
 * @property {(rows: number) => Promise<Record<string, number>>} [countNodes] rows by node
 * @property {() => void} close
 */

/**
 * @param {object} loader
 * @param {string} loader.name
 * @param {string} loader.server
 * @param {string} loader.title title of the server
 * @param {string} loader.summary
 * @param {string} [loader.endpoint] endpoint that is written to; absent: all
 * @param {(context: StoreContext, writes: boolean) => Promise<RowStore | null>} loader.open writes:
 *   rows are to be written; null: nothing exists, and an error has been reported
 * @returns {import('../../lib/types.js').LoaderDefinition}
 */
export function defineRowsLoader({ name, server, title, summary, endpoint, open }) {
  /** @param {import('../../lib/types.js').SeedContext} given */
  const withChecks = async ({ allowTargets = [], ...given }) => {
    const address = { ...given.address };
    for (const which of endpoint === undefined ? Object.keys(address) : [endpoint]) {
      address[which] = await requireLoopback(address[which], allowTargets, title);
    }
    const allowed = allowTargets.map((text) => parseEndpoint(text, '--allow-target'));
    return { ...given, address, allowed };
  };
  return defineLoader({
    name,
    server,
    summary,
    async inspect(context) {
      const store = await open(context, false);
      if (store === null) return { dataset: null, notOurs: null };
      try {
        const { marker, notOurs } = await readOwnMarker(store);
        if (marker?.complete) return { dataset: markedDataset(marker), notOurs: null };
        const isFree = marker === null && notOurs === null;
        const taken = isFree ? await store.firstTaken?.() : notOurs;
        return { dataset: null, notOurs: taken ?? null };
      } finally {
        store.close();
      }
    },
    async verify(given) {
      const store = await open(await withChecks(given), false);
      if (store === null) return null;
      try {
        const { marker } = await readOwnMarker(store);
        return await verifyWhole(store, marker, given.dataset);
      } finally {
        store.close();
      }
    },
    async seed(context) {
      const { dataset } = context;
      const store = /** @type {RowStore} */ (await open(await withChecks(context), true));
      try {
        const { marker, notOurs } = await readOwnMarker(store);
        if (notOurs !== null) {
          throw notOursError(store.where, `${store.kind ?? ''}${notOurs}`, server);
        }
        await store.prepare?.(dataset, marker);
        return await fill(store, marker, context, `npx dragstrip seed ${name}`);
      } finally {
        store.close();
      }
    },
  });
}

/**
 * @param {RowStore} store
 * @returns {Promise<{ marker: Marker | null, notOurs: string | null }>}
 */
async function readOwnMarker(store) {
  const { mark, notOurs } = await store.ownership();
  const marker = readMarker(mark);
  return { marker, notOurs: notOurs ?? (mark !== null && marker === null ? store.markedBy : null) };
}

/**
 * @param {RowStore} store
 * @param {Marker | null} marker the mark found, if any
 * @param {import('../../lib/types.js').SeedContext} context
 * @param {string} command command that continues a load
 * @returns {Promise<import('../../lib/types.js').SeedReport>}
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: written rows were not stored
 */
async function fill(store, marker, context, command) {
  const { dataset } = context;
  const { rows } = dataset;
  const there = await verifyWhole(store, marker, dataset);
  if (there !== null) return there;
  const isComplete = isWhole(marker, dataset);
  const { rowsThere = async () => rowsToKeep(marker, dataset) } = store;
  let keep = isComplete ? 0 : await rowsThere(dataset, marker);
  for (;;) {
    const progress = new Progress(context, command);
    progress.rowsDone = keep;
    const mark = (/** @type {State} */ state) => formatMarker(dataset, state);
    try {
      await store.write(dataset, { keep, marker, progress, mark });
    } catch (error) {
      throw progress.interrupted(error);
    } finally {
      progress.stop();
    }
    const { fault, sampled } = await verify(store, dataset);
    if (fault === null) {
      await store.setMark(mark({ complete: true, done: rows, extent: rows }));
      return report(store, { rows, written: true, sampled });
    }
    if (keep === 0) {
      throw targetError(
        `${store.where}: rows just written are missing: ${fault}`,
        'check whether it evicts or expires rows, or whether another client changes them',
      );
    }
    // The rows differ from an earlier load's marker, so all are written again, once.
    keep = 0;
  }
}

/**
 * @param {RowStore} store
 * @param {Marker | null} marker the mark found, if any
 * @param {Dataset} dataset
 * @returns {Promise<import('../../lib/types.js').SeedReport | null>} null: it is incomplete
 */
async function verifyWhole(store, marker, dataset) {
  if (!isWhole(marker, dataset)) return null;
  const { fault, sampled } = await verify(store, dataset);
  return fault === null ? report(store, { rows: dataset.rows, written: false, sampled }) : null;
}

/**
 * @param {RowStore} store
 * @param {Dataset} dataset
 * @returns {Promise<{ fault: string | null, sampled: number }>} sampled: rows compared in full
 */
async function verify(store, dataset) {
  const fault = await store.fault(dataset);
  if (fault !== null) return { fault, sampled: 0 };
  const ids = sampleIds(dataset);
  for (const id of ids) {
    if (!dataset.matches(id, (await store.read(id)) ?? '')) {
      return { fault: `row ${id} differs from the dataset`, sampled: 0 };
    }
  }
  return { fault: null, sampled: ids.length };
}

/**
 * @param {RowStore} store
 * @param {import('../../lib/types.js').SeedReport} own
 * @returns {Promise<import('../../lib/types.js').SeedReport>}
 */
async function report(store, own) {
  const nodes = await store.countNodes?.(own.rows);
  return { ...own, ...(nodes && { nodes }) };
}
