/** lmdb-js: a memory-mapped B+ tree in a file, read in this process. */

import path from 'node:path';
import { defineStorage } from '../lib/define.js';
import { fileOf, fillFile, formatMarker, headOf, parseMarker, requireFilled } from './embedded.js';
import { LMDB_INSERTS, openLmdbInserter } from './inserts/lmdb.js';

const MARKER = 'dragstrip:dataset';
const ROWS = 'rows';

// Integer keys and plain strings; the defaults are ordered keys of any type and msgpack.
const OPTIONS = { encoding: 'string', keyEncoding: 'uint32' };

/** @param {unknown} reply */
const isTrue = (reply) => reply === true;

export const storage = defineStorage({
  name: 'lmdb',
  summary: 'lmdb-js, a memory-mapped tree in this process',
  package: 'lmdb',
  server: null,
  rows: ['get', 'mget', 'set', 'add', 'del', 'scan'],
  inserts: LMDB_INSERTS,
  profiles: {
    default: {
      summary: 'db.get, no promises; file opened read-only if the workload only reads',
      options: { ...OPTIONS, readOnly: true },
      calls: 'sync',
    },
  },
  fill: ({ dataset, folder, signal }) => fillFile(describeStore(folder, dataset), dataset, signal),
  open: { rows: openRows, insert: openLmdbInserter },
});

/** @type {NonNullable<import('../lib/types.js').StorageDefinition['open']['rows']>} */
async function openRows({ dataset, folder, profile, writes = false }) {
  const store = describeStore(folder, dataset);
  await requireFilled(store, dataset);
  const { encoding, keyEncoding } = /** @type {any} */ (profile.options);
  const { open } = await import('lmdb');
  const root = open({ path: store.file, readOnly: !writes });
  const rows = root.openDB({ name: ROWS, encoding, keyEncoding });
  const { mget, idle } = createMany(rows);
  return {
    get: (id) => rows.get(id),
    mget,
    mgetCalls: 'callback',
    // One transaction, on disk when it returns, which is the store's default.
    set: (id, text) => rows.putSync(id, text),
    stored: isTrue,
    add: (id, text) => rows.putSync(id, text, { noOverwrite: true }),
    added: isTrue,
    del: (id) => rows.removeSync(id),
    deleted: isTrue,
    scan: (start, limit) => [...rows.getRange({ start, limit })],
    scanned: (/** @type {{ key: number, value: string }[]} */ reply) =>
      reply.map(({ key, value }) => [key, value]),
    async close() {
      await idle();
      await root.close();
    },
  };
}

/**
 * getMany fetches the pages in another thread, then reads like get; it must finish before the store
 * is closed, otherwise it reads a closed store.
 * @param {any} rows
 * @returns {{ mget: NonNullable<import('../lib/types.js').RowsHandle['mget']>,
 *   idle: () => Promise<void> }}
 */
function createMany(rows) {
  let pending = 0;
  let onIdle = () => {};
  return {
    mget(ids, done) {
      pending += 1;
      rows.getMany(ids, (/** @type {any} */ error, /** @type {any} */ values) => {
        pending -= 1;
        done?.(error, values);
        if (pending === 0) onIdle();
      });
    },
    idle: () =>
      new Promise((resolve) => {
        onIdle = resolve;
        if (pending === 0) resolve();
      }),
  };
}

/**
 * @param {string} folder
 * @param {import('../lib/types.js').Dataset} dataset
 * @returns {import('./embedded.js').FileStore}
 */
function describeStore(folder, dataset) {
  return { storage: 'lmdb', file: path.join(folder, fileOf('lmdb', dataset)), inspect, create };
}

/**
 * @param {string} file
 * @returns {Promise<import('../lib/types.js').DatasetOptions | null>}
 */
async function inspect(file) {
  if (!isLmdb(file)) return null;
  const { open } = await import('lmdb');
  const root = open({ path: file, readOnly: true });
  try {
    return parseMarker(root.get(MARKER));
  } catch {
    return null; // a value of another program may not be decodable
  } finally {
    await root.close();
  }
}

/**
 * The magic number of LMDB's first meta page follows its 24-byte page header (lmdb's mdb.c,
 * MDB_MAGIC).
 * @param {string} file
 */
function isLmdb(file) {
  return headOf(file, 28)?.readUInt32LE(24) === 0xbeefc0de;
}

/**
 * @param {string} file
 * @param {import('../lib/types.js').Dataset} dataset
 * @returns {Promise<import('./embedded.js').RowWriter>}
 */
async function create(file, dataset) {
  const { open } = await import('lmdb');
  const root = open({ path: file });
  const rows = root.openDB({ name: ROWS, .../** @type {any} */ (OPTIONS) });
  return {
    write(from, to) {
      rows.transactionSync(() => {
        // In key order, so that pages are filled completely.
        for (let id = from; id <= to; id += 1) rows.putSync(id, dataset.value(id));
      });
    },
    async finish() {
      root.putSync(MARKER, formatMarker(dataset));
      await root.flushed;
      await root.close();
    },
    abandon: () => root.close(),
  };
}
