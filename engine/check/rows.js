/**
 * Requirements for a storage of rows (docs/adding.md), one check each: correct values, misses, many
 * concurrent requests, and loss of the server. It measures nothing.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { openCounter } from '../../data/counts/index.js';
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
 * @property {(subject: Subject) => string | null} [skip] reason why it does not apply
 * @property {(subject: Subject) => Promise<string>} run resolves to the observation; rejects with
 *   the defect, or with NotChecked
 */

/** A check that is impossible with this server or on this machine. */
export class NotChecked extends Error {}

const COMPARED = 200;
const AT_ONCE = 2000;
const IN_FLIGHT = 500;
const SETTLE_MS = 10_000;
/** Operations during this pause belong to other clients. */
const LOOK_MS = 20;
const NO_SERVER = (/** @type {Subject} */ { definition }) =>
  definition.server === null ? 'it has no server' : null;
const needs = (/** @type {'mget' | 'set'} */ operation) => (/** @type {Subject} */ subject) =>
  subject.definition.rows?.includes(operation) ? null : `it does not offer ${operation}`;

/** @type {readonly Check[]} */
export const CHECKS = Object.freeze([
  { name: 'opens, and its handle has the declared operations', run: checkOpen },
  { name: 'every row has its own value', run: checkValues },
  { name: 'a missing row is a miss', run: checkMiss },
  { name: `${AT_ONCE} concurrent requests get the correct replies`, run: checkMany },
  { name: 'the server executes every read', skip: NO_SERVER, run: checkServed },
  { name: 'many rows at once, in order of ids', skip: needs('mget'), run: checkMget },
  { name: 'a row that is written can be read', skip: needs('set'), run: checkSet },
  { name: 'closing settles requests in flight', skip: NO_SERVER, run: checkClose },
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
    if (lost.length > 0)
      throw new Error(`it declares ${lost.join(', ')}, but the handle does not implement it`);
    return found.join(', ');
  });
}

/** @param {Subject} subject @param {number} n @returns {number[]} ids spread over all rows */
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
    return `${ids.length} rows compared in full`;
  });
}

/** @param {Subject} subject */
async function checkMiss(subject) {
  return withHandle(subject, async (read) => {
    const value = await bounded(read(subject.context.dataset.rows + 1), 'a miss');
    if (value !== undefined) {
      throw new Error(`it returns ${JSON.stringify(value).slice(0, 40)} instead of undefined`);
    }
    return 'undefined';
  });
}

/** @param {Subject} subject */
async function checkMany(subject) {
  return withHandle(subject, async (read) => {
    const ids = Array.from({ length: AT_ONCE }, (_, i) => 1 + (i % subject.context.dataset.rows));
    const values = await bounded(Promise.all(ids.map(read)), `${AT_ONCE} requests`);
    for (const [i, id] of ids.entries()) requireValue(subject, id, values[i]);
    return `${AT_ONCE} replies compared in full`;
  });
}

/**
 * Reads rows one at a time, then all concurrently and each of them twice: a storage that caches
 * replies or joins equal reads sends fewer requests to its server.
 * @param {Subject} subject
 */
async function checkServed(subject) {
  const { definition, context } = subject;
  const counter = await openCounter(String(definition.server), context).catch((error) => {
    if (error.code !== 'E_TARGET') throw error;
    return error;
  });
  if (counter === null || counter instanceof Error) {
    throw new NotChecked(counter?.message ?? `no count of ${definition.server} is known`);
  }
  try {
    return await withHandle(subject, async (read) => {
      const ids = idsOf(subject, COMPARED);
      const idle = await counter.read();
      await sleep(LOOK_MS);
      const before = await counter.read();
      if (before.operations !== idle.operations) throw new NotChecked('other clients use it');
      for (const id of ids) await bounded(read(id), `row ${id}`);
      const all = [...ids, ...ids];
      await bounded(Promise.all(all.map(read)), `${all.length} requests`);
      return servedText(before, await counter.read(), ids.length + all.length);
    });
  } finally {
    counter.close();
  }
}

/**
 * @param {import('../../data/counts/index.js').ServerCount} before
 * @param {import('../../data/counts/index.js').ServerCount} after
 * @param {number} reads
 * @throws {Error} the server executed fewer operations
 */
function servedText(before, after, reads) {
  if (before.operations === null || after.operations === null) {
    throw new NotChecked('the server has no count');
  }
  const operations = after.operations - before.operations;
  // A driver may read the keys of several requests with one command.
  const lookups = (after.lookups ?? 0) - (before.lookups ?? 0);
  const executed = Math.max(operations, lookups);
  if (executed < reads)
    throw new Error(`the server executed ${executed} operations for ${reads} reads`);
  const hidden = (after.errors ?? 0) - (before.errors ?? 0);
  const errors = hidden === 0 ? '' : `, and sent ${hidden} errors that the driver did not report`;
  return `${operations} operations for ${reads} reads${errors}`;
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
    const received = [...values(reply, ids)];
    for (const [i, id] of ids.slice(0, -1).entries()) requireValue(subject, id, received[i]);
    const last = received[ids.length - 1];
    if (received.length !== ids.length || (last !== null && last !== undefined)) {
      throw new Error(
        `${received.length} values for ${ids.length} ids, the missing one ${describe(last)}`,
      );
    }
    return `${ids.length} ids, one missing`;
  });
}

/** @param {Subject} subject */
async function checkSet(subject) {
  return withHandle(subject, async (read, handle) => {
    const { stored = () => true } = handle;
    const { calls = 'promise' } = subject.context.profile;
    const [id] = idsOf(subject, 1);
    const value = subject.context.dataset.value(id); // rows do not change
    const reply = await bounded(
      promised(calls, (done) => handle.set?.(id, value, done)),
      'set',
    );
    if (!stored(reply)) throw new Error('it reports that the row was not written');
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
 * Issues requests through a relay that no longer forwards.
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
    await bounded(arrived, 'sending requests'); // a driver may send them from a thread
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
    requireNoReply(settled);
    const errors = settled.flatMap((one) => (one.status === 'rejected' ? one.reason : []));
    const bare = errors.filter((error) => typeof error?.code !== 'string').length;
    const noError = errors.find((error) => !(error instanceof Error));
    if (errors.length === 0) throw new Error('none of the requests in flight rejected');
    if (noError !== undefined) throw new Error(`it rejects with a ${typeof noError}`);
    const late = await bounded(Promise.allSettled([read(1), read(2)]), 'requests after the loss');
    if (late.some(({ status }) => status === 'fulfilled')) {
      throw new Error('it reconnected without an error: switch off reconnection');
    }
    await bounded(handle.close(), 'close');
    const codes = bare === 0 ? `first ${errors[0].code}` : `${bare} without a code`;
    return `${errors.length} rejected, ${codes}`;
  });
}

/**
 * @param {readonly PromiseSettledResult<any>[]} settled outcomes of requests to a server that did
 *   not reply
 */
function requireNoReply(settled) {
  const count = settled.filter(({ status }) => status === 'fulfilled').length;
  if (count > 0) throw new Error(`${count} requests were replied to while the server was silent`);
}

/** @param {Subject} subject */
function checkFreeze(subject) {
  return whileFrozen(subject, async ({ handle, requests }) => {
    await bounded(handle.close(), 'close');
    const settled = await bounded(requests, 'requests in flight');
    requireNoReply(settled);
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
