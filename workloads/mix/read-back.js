/**
 * Reads written data back when nothing is in flight, outside of every latency: the last
 * acknowledged version of rows and hashes, inserted, deleted and expiring rows. A sample of each; a
 * wrong one fails the round.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { dataError } from '../../lib/errors.js';
import { promised } from '../promised.js';
import { joinFields } from './hashes.js';

/** @typedef {import('./operations.js').State} State */
/** @typedef {import('../../lib/types.js').RowsHandle} RowsHandle */

/** Maximum number of rows read back per kind. */
export const SAMPLE = 256;
/** Concurrency of these reads, and of removing leftovers. */
const TOGETHER = 64;
/** A server expires by a millisecond clock with a different origin. */
const EXPIRY_SLACK_NS = 5e6;
/** Longer times to live are not waited for. */
const WAIT_MS_MAX = 15_000;

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => Promise<unknown>} work
 */
export async function forEachTogether(items, work) {
  for (let i = 0; i < items.length; i += TOGETHER) {
    await Promise.all(items.slice(i, i + TOGETHER).map(work));
  }
}

/** @param {string} what @returns {never} */
function fail(what) {
  throw dataError(`wrong data, read back: ${what}`);
}

/**
 * @param {RowsHandle} handle
 * @param {import('../../lib/types.js').CallStyle} calls
 * @returns {(id: number) => Promise<string | undefined>}
 */
function readerOf(handle, calls) {
  const value = handle.value?.bind(handle) ?? ((/** @type {any} */ reply) => reply);
  return async (id) => value(await promised((at, done) => handle.get(at, done), calls, id));
}

/**
 * @param {State} state
 * @param {RowsHandle} handle
 * @param {import('../../lib/types.js').CallStyle} calls
 * @returns {Promise<import('../../lib/types.js').WorkloadMetrics>} number of rows read back per
 *   kind
 * @throws {Error} E_DATA
 */
export async function readBack(state, handle, calls) {
  const read = readerOf(handle, calls);
  const { ttlMs } = state;
  return {
    readBackSets: await readSets(state, read),
    readBackHashes: await readHashes(state, handle, calls),
    ...(ttlMs === null ? await readOwn(state, read) : await readExpiring(state, read, ttlMs)),
  };
}

/**
 * @param {State} state
 * @param {(id: number) => Promise<string | undefined>} read
 */
async function readSets({ dataset, freshness }, read) {
  const rows = freshness.acknowledged(SAMPLE);
  await forEachTogether(rows, async ({ id, isStale }) => {
    const text = await read(id);
    if (text === undefined) fail(`row ${id} was set and is missing`);
    if (!dataset.matches(id, text)) fail(`row ${id} was set and has another value`);
    if (isStale(text)) fail(`row ${id} has an older version than the one acknowledged last`);
  });
  return rows.length;
}

/**
 * @param {State} state
 * @param {RowsHandle} handle
 * @param {import('../../lib/types.js').CallStyle} calls
 */
async function readHashes({ dataset, hashFreshness }, handle, calls) {
  const rows = hashFreshness.acknowledged(SAMPLE);
  const { hget, fields = (/** @type {any} */ reply) => reply } = handle;
  await forEachTogether(rows, async ({ id, isStale }) => {
    const reply = await promised((at, done) => hget?.call(handle, at, done), calls, id);
    const text = joinFields(fields(reply), dataset.sizeOf(id));
    if (typeof text !== 'string' || !dataset.matches(id, text)) fail(`hash ${id} differs`);
    if (isStale(text)) fail(`hash ${id} has an older version than the one acknowledged last`);
  });
  return rows.length;
}

/**
 * @param {State} state
 * @param {(id: number) => Promise<string | undefined>} read
 */
async function readOwn({ own: ownRows, textOf, firstId }, read) {
  const present = ownRows.present.last(SAMPLE);
  const absent = ownRows.absent.last(SAMPLE);
  await forEachTogether(present, async (row) => {
    const text = await read(firstId + row);
    if (text !== textOf(row)) {
      fail(
        `row ${firstId + row} was inserted and ${text === undefined ? 'is missing' : 'differs'}`,
      );
    }
  });
  await forEachTogether(absent, async (row) => {
    if ((await read(firstId + row)) !== undefined)
      fail(`row ${firstId + row} was deleted but still exists`);
  });
  return { readBackInserts: present.length, readBackDeletions: absent.length };
}

/**
 * A row stored between `sent` and `stored` exists until sent + ttl, and is gone from stored + ttl
 * on; a read between the two proves nothing.
 * @param {State} state
 * @param {(id: number) => Promise<string | undefined>} read
 * @param {number} ttlMs
 */
async function readExpiring({ own: ownRows, textOf, firstId, clock }, read, ttlMs) {
  const rows = ownRows.present.last(SAMPLE);
  const ttlNs = ttlMs * 1e6;
  const counts = { readBackAlive: 0, readBackExpired: 0 };
  const look = async (/** @type {number} */ row) => {
    const startNs = clock.now();
    const text = await read(firstId + row);
    const endNs = clock.now();
    const wasThere = endNs < ownRows.sentNs[row] + ttlNs - EXPIRY_SLACK_NS;
    const wasGone = startNs > ownRows.storedNs[row] + ttlNs + EXPIRY_SLACK_NS;
    if (wasThere && text !== textOf(row)) fail(`row ${firstId + row} expired too early`);
    if (wasGone && text !== undefined) fail(`row ${firstId + row} still existed after its expiry`);
    if (wasThere) counts.readBackAlive += 1;
    if (wasGone) counts.readBackExpired += 1;
  };
  await forEachTogether(rows, look);
  if (rows.length === 0 || ttlMs > WAIT_MS_MAX) return counts;
  const lastNs = Math.max(...rows.map((row) => ownRows.storedNs[row]));
  const leftNs = lastNs + ttlNs + 4 * EXPIRY_SLACK_NS - clock.now();
  await sleep(Math.max(0, leftNs / 1e6));
  await forEachTogether(rows, look);
  return counts;
}
