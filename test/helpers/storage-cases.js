/** Every storage with each profile, for the contract suites, and a reader for every call style. */

import assert from 'node:assert/strict';
import { hasOperation, ROW_OPERATIONS } from '../../lib/capabilities.js';
import { createDataset, ROW_NAMES } from '../../lib/dataset.js';
import {
  checkAvailable,
  loadStorage,
  requireProfile,
  storageNamesFor,
} from '../../storages/index.js';

/** @typedef {import('../../lib/types.js').StorageDefinition} StorageDefinition */
/** @typedef {import('../../lib/types.js').RowsHandle} RowsHandle */
/** @typedef {import('../../lib/types.js').OpenContext['profile']} Profile */

/**
 * @typedef {object} StorageCase
 * @property {string} label `ioredis:tuned`
 * @property {StorageDefinition} definition
 * @property {Profile} profile
 * @property {string | undefined} skip reason why it cannot run here
 */

/** @returns {Promise<StorageCase[]>} cases of storages with rows, in the registry's order */
export async function listCases() {
  return (await Promise.all((await storageNamesFor(['get'])).map(casesOf))).flat();
}

/**
 * @param {string} source a name, or the path of a file
 * @returns {Promise<StorageCase[]>} one for each profile
 */
export async function casesOf(source) {
  const definition = await loadStorage(source);
  const names = Object.keys(definition.profiles);
  return Promise.all(
    names.map(async (name) => ({
      label: `${definition.name}:${name}`,
      definition,
      profile: requireProfile(definition, name),
      skip: (await checkAvailable(definition, name))?.reason,
    })),
  );
}

/**
 * @param {StorageDefinition} definition
 * @param {Partial<import('../../lib/types.js').OpenContext> & { profile: Profile }} context
 * @returns {Promise<RowsHandle>} on the rows of the race, unless the context differs
 */
export async function openRows({ name, open }, context) {
  if (open.rows === undefined) throw new Error(`${name} has no rows`);
  const usual = { address: {}, credentials: {}, folder: '', names: ROW_NAMES };
  return open.rows({ ...usual, dataset: createDataset(), ...context });
}

/**
 * @param {StorageDefinition} definition
 * @param {RowsHandle} handle handle with exactly the operations of the definition
 */
export function assertDeclared({ name, rows = [] }, handle) {
  const found = ROW_OPERATIONS.filter((operation) => hasOperation(handle, operation));
  assert.deepEqual(found, rows, name);
}

/**
 * @param {RowsHandle} handle
 * @param {Profile} profile
 * @returns {(id: number) => Promise<string | undefined>} reads the value itself, or rejects
 */
export function reader(handle, profile) {
  const value = handle.value ?? ((/** @type {any} */ reply) => reply);
  switch (profile.calls ?? 'promise') {
    case 'sync':
      return async (id) => value(handle.get(id));
    case 'callback':
      return (id) =>
        new Promise((resolve, reject) => {
          handle.get(id, (error, reply) => (error ? reject(error) : resolve(value(reply))));
        });
    default:
      return async (id) => value(await handle.get(id));
  }
}

/**
 * @param {RowsHandle} handle
 * @param {Profile} profile
 * @returns {(ids: number[]) => Promise<any[]>} reads the values themselves, or rejects
 */
export function manyReader(handle, profile) {
  const { mget, values = (reply) => reply } = handle;
  if (mget === undefined) throw new Error('it does not offer mget');
  switch (handle.mgetCalls ?? profile.calls ?? 'promise') {
    case 'sync':
      return async (ids) => [...values(handle.mget?.(ids), ids)];
    case 'callback':
      return (ids) =>
        new Promise((resolve, reject) => {
          handle.mget?.(ids, (error, reply) =>
            error ? reject(error) : resolve([...values(reply, ids)]),
          );
        });
    default:
      return async (ids) => [...values(await handle.mget?.(ids), ids)];
  }
}

/**
 * A closed loop like that of the harness: `depth` in flight, refilled on completion.
 * @param {(id: number) => Promise<string | undefined>} read
 * @param {{ ops: number, depth: number, rows: number }} options
 * @param {(id: number, value: string | undefined) => void} check
 * @returns {Promise<void>}
 */
export function closedLoop(read, { ops, depth, rows }, check) {
  let issued = 0;
  const worker = async () => {
    while (issued < ops) {
      const id = 1 + ((issued * 7919) % rows);
      issued += 1;
      check(id, await read(id));
    }
  };
  return Promise.all(Array.from({ length: Math.min(depth, ops) }, worker)).then(() => {});
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number} limitMs
 * @param {string} what
 * @returns {Promise<T>} rejects if the promise is late, so that a hang is a failure with a name
 */
export function within(promise, limitMs, what) {
  /** @type {NodeJS.Timeout} */
  let timer;
  const late = /** @type {Promise<never>} */ (
    new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${what}: not within ${limitMs} ms`)), limitMs);
    })
  );
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
