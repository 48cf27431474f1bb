/** Inserting by lmdb-js, into a temporary file: keys are numbers, values plain strings. */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from '../../lib/folder.js';
import { rowsOf, storedOf } from './rows.js';

const FILE = 'insert.lmdb';
const ROWS = 'rows';
const NEW_ONLY = { noOverwrite: true };

/** Descriptions of the strategies, for the tables. */
export const LMDB_INSERTS = Object.freeze({
  one: 'putSync, a transaction each',
  async: 'put, if new; joined into transactions',
  logged_batch: 'transactionSync of putSync',
});

/**
 * @param {import('../../lib/types.js').InsertContext} context
 * @returns {Promise<import('../../lib/types.js').Inserter>}
 */
export async function openLmdbInserter({ folder, numberOf, profile }) {
  const { open } = await import('lmdb');
  const { encoding, keyEncoding } = /** @type {any} */ (profile.options);
  const file = path.join(folder, FILE);
  makeFolder(folder);
  const create = () => {
    for (const leaf of [file, `${file}-lock`]) rmSync(leaf, { force: true });
    const root = open({ path: file });
    return { root, rows: root.openDB({ name: ROWS, encoding, keyEncoding }) };
  };
  let store = create();
  const number = (/** @type {number} */ a) => String(numberOf(a));
  return {
    async clear() {
      await store.root.close();
      store = create();
    },
    async read(see) {
      await store.root.flushed;
      for (const { key, value } of store.rows.getRange()) see(Number(key), Number(value));
    },
    async durability() {
      // The driver's report on the open store, since not every requested flag is applied.
      const {
        noSync = false,
        noMetaSync = false,
        overlappingSync,
      } = /** @type {any} */ (store.root);
      return `noSync ${noSync}, noMetaSync ${noMetaSync}, overlappingSync ${overlappingSync}`;
    },
    ways: {
      one: {
        build: (from) => [from, number(from)],
        send: ([a, b]) => store.rows.putSync(a, b, NEW_ONLY),
        stored: (reply) => (reply === true ? 1 : -1),
        calls: 'sync',
      },
      async: {
        build: (from) => [from, number(from)],
        send: ([a, b]) => store.rows.ifNoExists(a, () => store.rows.put(a, b)),
        stored: (reply) => (reply === true ? 1 : -1),
      },
      atomic: {
        build: (from, to) => rowsOf(from, to, (a) => [a, number(a)]),
        send: (rows) => store.root.transactionSync(() => putAll(store.rows, rows)),
        stored: (reply) => reply,
        calls: 'sync',
      },
    },
    async close() {
      await store.root.close();
    },
  };
}

/**
 * @param {any} store
 * @param {[number, string][]} rows
 * @returns {number} number of stored rows; negative: number of existing ones
 */
function putAll(store, rows) {
  return storedOf(rows, ([a, b]) => store.putSync(a, b, NEW_ONLY));
}
