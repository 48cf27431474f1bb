/**
 * What a storage of rows promises (docs/adding-a-storage.md), each promise as a check: right
 * values, misses, many requests at once, and a server that goes away. It measures nothing.
 */

import { hasOperation, ROW_OPERATIONS } from '../../lib/capabilities.js';
import { promised } from '../../lib/promised.js';
import { within } from '../../lib/within.js';
import { relayTo } from './relay.js';

/** @typedef {import('../../lib/types.js').RowsHandle} RowsHandle */
/** @typedef {import('../../lib/types.js').OpenContext} OpenContext */

/**
 * @typedef {object} Subject
 * @property {import('../../lib/types.js').StorageDefinition} definition
 * @property {OpenContext} context
 *
 * @typedef {object} Check
 * @property {string} name
 * @property {(subject: Subject) => string | null} [skip] why it does not apply
 * @property {(subject: Subject) => Promise<string>} run gives what was seen; rejects with what is
 *   wrong
 */

const COMPARED = 200;
const AT_ONCE = 2000;
const IN_FLIGHT = 500;
const SETTLE_MS = 10_000;
const NO_SERVER = (/** @type {Subject} */ { definition }) =>
  definition.server === null ? 'it has no server' : null;
const needs = (/** @type {'mget' | 'set'} */ operation) => (/** @type {Subject} */ subject) =>
  subject.definition.rows?.includes(operation) ? null : `it does not offer ${operation}`;

/** @type {readonly Check[]} */
export const CHECKS = Object.freeze([
  { name: 'opens, and its handle has the operations it declares', run: checkOpen },
  { name: 'every row has its own value', run: checkValues },
  { name: 'a row that is not there is a miss', run: checkMiss },
  { name: `${AT_ONCE} requests at once get the right replies`, run: checkMany },
  { name: 'many rows at once, in the order of their ids', skip: needs('mget'), run: checkMget },
  { name: 'a row that is written can be read', skip: needs('set'), run: checkSet },
  { name: 'closing settles what is in flight', skip: NO_SERVER, run: checkClose },
  { name: 'a lost connection is an error', skip: NO_SERVER, run: checkCut },
  { name: 'a silent server does not keep it from closing', skip: NO_SERVER, run: checkFreeze },
]);

/**
 * @param {Subject} subject
 * @param {Partial<OpenContext>} [other]
 * @returns {Promise<RowsHandle>}
 */
async function open({ definition, context }, other = {}) {
  const { rows } = definition.open;
  if (rows === undefined) throw new Error('it does not open rows');
  return bounded(rows({ ...context, ...other }), 'open');
}

/**
 * @template T
 * @param {Subject} subject
 * @param {(read: (id: number) => Promise<string | undefined>, handle: RowsHandle) =>
 *   Promise<T>} use
 */
async function withHandle(subject, use) {
  const handle = await open(subject);
  try {
    return await use(readerOf(handle, subject), handle);
  } finally {
    await bounded(handle.close(), 'close');
  }
}

/**
 * @param {RowsHandle} handle
 * @param {Subject} subject
 * @returns {(id: number) => Promise<string | undefined>}
 */
function readerOf(handle, { context }) {
  const { value = (/** @type {any} */ reply) => reply } = handle;
  const { calls = 'promise' } = context.profile;
  return async (id) => value(await promised(calls, (done) => handle.get(id, done)));
}

/** @param {Subject} subject */
async function checkOpen(subject) {
  return withHandle(subject, async (_, handle) => {
    const found = ROW_OPERATIONS.filter((operation) => hasOperation(handle, operation));
    const declared = subject.definition.rows ?? [];
    const lost = declared.filter((operation) => !found.includes(operation));
    if (lost.length > 0) throw new Error(`it declares ${lost.join(', ')}, and the handle has none`);
    return found.join(', ');
  });
}

/** @param {Subject} subject @param {number} n @returns {number[]} ids over all rows */
function idsOf({ context: { dataset } }, n) {
  return Array.from(
    { length: Math.min(n, dataset.rows) },
    (_, i) => 1 + ((i * 7919) % dataset.rows),
  );
}

/**
 * @param {Subject} subject
 * @param {number} id
 * @param {unknown} value
 */
function requireValue({ context: { dataset } }, id, value) {
  if (typeof value === 'string' && dataset.matches(id, value)) return;
  if (typeof value !== 'string') throw new Error(`row ${id}: ${describe(value)}, not its text`);
  const other = dataset.value(id);
  const at = [...other].findIndex((letter, i) => letter !== value[i]);
  throw new Error(`row ${id}: another value, ${value.length} characters, from character ${at} on`);
}

/** @param {unknown} value */
function describe(value) {
  return value === undefined || value === null ? 'a miss' : `a ${typeof value}`;
}

/** @param {Subject} subject */
async function checkValues(subject) {
  return withHandle(subject, async (read) => {
    const ids = idsOf(subject, COMPARED);
    for (const id of ids) requireValue(subject, id, await bounded(read(id), `row ${id}`));
    return `${ids.length} rows compared whole`;
  });
}

/** @param {Subject} subject */
async function checkMiss(subject) {
  return withHandle(subject, async (read) => {
    const value = await bounded(read(subject.context.dataset.rows + 1), 'a miss');
    if (value !== undefined) throw new Error(`it gives ${JSON.stringify(value)}, not undefined`);
    return 'undefined';
  });
}

/** @param {Subject} subject */
async function checkMany(subject) {
  return withHandle(subject, async (read) => {
    const ids = Array.from({ length: AT_ONCE }, (_, i) => 1 + (i % subject.context.dataset.rows));
    const values = await bounded(Promise.all(ids.map(read)), `${AT_ONCE} requests`);
    for (const [i, id] of ids.entries()) requireValue(subject, id, values[i]);
    return `${AT_ONCE} replies compared whole`;
  });
}

/** @param {Subject} subject */
async function checkMget(subject) {
  return withHandle(subject, async (_, handle) => {
    const { values = (/** @type {any} */ reply) => reply } = handle;
    const calls = handle.mgetCalls ?? subject.context.profile.calls ?? 'promise';
    const missing = subject.context.dataset.rows + 1;
    const ids = [...idsOf(subject, 50).reverse(), missing];
    const reply = await bounded(
      promised(calls, (done) => handle.mget?.(ids, done)),
      'mget',
    );
    const found = [...values(reply, ids)];
    for (const [i, id] of ids.slice(0, -1).entries()) requireValue(subject, id, found[i]);
    const last = found[ids.length - 1];
    if (found.length !== ids.length || (last !== null && last !== undefined)) {
      throw new Error(
        `${found.length} values for ${ids.length} ids, the missing one ${describe(last)}`,
      );
    }
    return `${ids.length} ids, one of them missing`;
  });
}

/** @param {Subject} subject */
async function checkSet(subject) {
  return withHandle(subject, async (read, handle) => {
    const { stored = () => true } = handle;
    const { calls = 'promise' } = subject.context.profile;
    const [id] = idsOf(subject, 1);
    const value = subject.context.dataset.value(id); // rows stay as they are
    const reply = await bounded(
      promised(calls, (done) => handle.set?.(id, value, done)),
      'set',
    );
    if (!stored(reply)) throw new Error('it says that the row was not written');
    requireValue(subject, id, await bounded(read(id), `row ${id}`));
    return 'one row, with its own value';
  });
}

/** @param {Subject} subject */
async function checkClose(subject) {
  const handle = await open(subject);
  const read = readerOf(handle, subject);
  const requests = Promise.allSettled(idsOf(subject, IN_FLIGHT).map(read));
  await bounded(handle.close(), `close with ${IN_FLIGHT} in flight`);
  const settled = await bounded(requests, 'requests in flight');
  const answered = settled.filter(({ status }) => status === 'fulfilled').length;
  return `${answered} answered, ${settled.length - answered} rejected`;
}

/**
 * Requests in flight through a relay that no longer passes anything on.
 * @param {Subject} subject
 * @param {(waiting: { relay: Awaited<ReturnType<typeof relayTo>>, handle: RowsHandle,
 *   read: ReturnType<typeof readerOf>, requests: Promise<PromiseSettledResult<any>[]> }) =>
 *   Promise<string>} then
 * @returns {Promise<string>}
 */
async function whileFrozen(subject, then) {
  const relay = await relayTo(subject.context.address);
  try {
    const handle = await open(subject, { address: relay.address });
    const read = readerOf(handle, subject);
    await bounded(read(1), 'a first read');
    const arrived = relay.freeze();
    const requests = Promise.allSettled(idsOf(subject, IN_FLIGHT).map(read));
    await bounded(arrived, 'sending requests'); // a driver may have a thread that sends them
    return await then({ relay, read, handle, requests });
  } finally {
    relay.close();
  }
}

/** @param {Subject} subject */
function checkCut(subject) {
  return whileFrozen(subject, async ({ relay, read, handle, requests }) => {
    relay.cut();
    const settled = await bounded(requests, 'requests in flight when the connection was lost');
    const errors = settled.flatMap((one) => (one.status === 'rejected' ? one.reason : []));
    const bare = errors.filter((error) => typeof error?.code !== 'string').length;
    const noError = errors.find((error) => !(error instanceof Error));
    if (errors.length === 0) throw new Error('none of the requests in flight rejected');
    if (noError !== undefined) throw new Error(`it rejects with a ${typeof noError}`);
    const late = await bounded(Promise.allSettled([read(1), read(2)]), 'requests after the loss');
    if (late.some(({ status }) => status === 'fulfilled')) {
      throw new Error('it reconnected behind the reader’s back: switch reconnection off');
    }
    await bounded(handle.close(), 'close');
    const codes = bare === 0 ? `first ${errors[0].code}` : `${bare} without a code`;
    return `${errors.length} rejected, ${codes}`;
  });
}

/** @param {Subject} subject */
function checkFreeze(subject) {
  return whileFrozen(subject, async ({ handle, requests }) => {
    await bounded(handle.close(), 'close');
    const settled = await bounded(requests, 'requests in flight');
    return `${settled.length} requests settled`;
  });
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {string} what
 * @returns {Promise<T>}
 */
function bounded(promise, what) {
  const late = () => new Error(`${what}: not settled within ${SETTLE_MS / 1000} s`);
  return within(promise, SETTLE_MS, late);
}
