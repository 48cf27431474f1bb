/**
 * Shared by the embedded stores: one file per dataset in the state folder, filled once. A file is
 * built under a temporary name and linked when complete, so readers never see a partial file; files
 * not created by Dragstrip are refused. Not for reading rows.
 *
 * Runs share the state folder. An existing file is never replaced, because a process with it open
 * would share LMDB's lock file with a different data file, and read wrong pages.
 */

import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { datasetOptions, isSameDataset } from '../lib/dataset.js';
import { refusedError, targetError } from '../lib/errors.js';
import { makeFolder } from '../lib/folder.js';
import { formatBytes } from '../lib/format.js';
import { ownerMayLive, ownerName } from '../lib/process-identity.js';
import { shortSizesName } from '../lib/value-sizes.js';
import { systemClock } from '../measure/clock.js';

/** @typedef {import('../lib/types.js').Dataset} Dataset */
/** @typedef {import('../lib/types.js').DatasetOptions} DatasetOptions */

/** Rows per transaction: some ten megabytes with the default size. */
const BATCH_ROWS = 10_000;
/** A file of another dataset that no benchmark has opened for this time is removed. */
const UNUSED_MS = 3_600_000;
/** Partial files and companion files of their library: final name, identity of the writer. */
const FILLING = /^(.+)\.filling-(\d+\.\d+\.[0-9a-f]{8})(-[a-z]+)?$/;
const FILE_NAME = /^dragstrip(-2)?(-\d+x\d+(-[0-9a-f]{8})?-\d+)?\.[a-z]+$/;

/**
 * @typedef {object} FileStore file of a store
 * @property {string} storage
 * @property {string} file absolute path
 * @property {(file: string) => DatasetOptions | null | Promise<DatasetOptions | null>} inspect the
 *   dataset of the file; null: not created by Dragstrip
 * @property {(file: string, dataset: Dataset) => RowWriter | Promise<RowWriter>} create
 */

/**
 * @typedef {object} RowWriter
 * @property {(from: number, to: number) => void} write rows from..to, both inclusive, as one
 *   transaction
 * @property {() => unknown} finish writes the marker and closes the file
 * @property {() => unknown} abandon closes the file
 */

/**
 * @param {string} storage
 * @param {DatasetOptions} dataset
 * @returns {string} name of its file in the state folder; 2: version of rows whose bodies are
 *   pieces of one text
 */
export function fileOf(storage, { rows, valueSize, valueSizes, seed }) {
  const sizes = valueSizes === undefined ? '' : `-${shortSizesName(valueSizes)}`;
  return `dragstrip-2-${rows}x${valueSize}${sizes}-${seed}.${storage}`;
}

/**
 * @param {FileStore} store
 * @param {Dataset} dataset
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: a different file exists
 */
export async function fillFile(store, dataset, signal) {
  signal?.throwIfAborted();
  if (existsSync(store.file)) return requireFilled(store, dataset);
  makeFolder(path.dirname(store.file));
  removeLeftovers(store);
  await removeUnused(store);
  requireSpace(path.dirname(store.file), dataset);
  const building = `${store.file}.filling-${ownerName()}`;
  try {
    await build(store, building, dataset, signal);
    linkWhole(building, store.file);
  } finally {
    removeFile(building);
  }
}

/** Pages are not completely filled, and contain metadata. */
const SPACE_FACTOR = 2;

/**
 * On a full disk a process that writes by mapped memory, such as lmdb, is killed by SIGBUS.
 * @param {string} folder
 * @param {Dataset} dataset
 * @throws {Error} ENOSPC
 */
function requireSpace(folder, { rows, meanSize }) {
  const { bavail, bsize } = statfsSync(folder);
  const needed = SPACE_FACTOR * rows * meanSize;
  if (bavail * bsize >= needed) return;
  const message =
    `no space: they need up to ${formatBytes(needed)}, ` +
    `${formatBytes(bavail * bsize)} are free in ${folder}`;
  throw Object.assign(new Error(message), { code: 'ENOSPC' });
}

/**
 * @param {string} building
 * @param {string} file unchanged if another process was faster
 */
function linkWhole(building, file) {
  try {
    linkSync(building, file);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/**
 * @param {FileStore} store
 * @param {string} building
 * @param {Dataset} dataset
 * @param {AbortSignal} [signal]
 */
async function build(store, building, dataset, signal) {
  const writer = await store.create(building, dataset);
  try {
    for (let from = 1; from <= dataset.rows; from += BATCH_ROWS) {
      signal?.throwIfAborted();
      writer.write(from, Math.min(dataset.rows, from + BATCH_ROWS - 1));
      await nextTurn(); // lets interrupts be handled
    }
  } catch (error) {
    await writer.abandon();
    throw error;
  }
  await writer.finish();
}

/**
 * @param {FileStore} store
 * @param {Dataset} dataset
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: the file is missing or has a
 *   different dataset; E_REFUSED: not created by Dragstrip
 */
export async function requireFilled(store, dataset) {
  const hint = 'it is filled by the race itself; from a program, call its fill() first';
  if (!existsSync(store.file)) throw targetError(`${store.storage}: no file ${store.file}`, hint);
  const present = await store.inspect(store.file);
  if (present === null) refuse(store);
  if (present !== null && isSameDataset(present, dataset)) {
    const now = new Date(systemClock.date());
    utimesSync(store.file, now, now); // see removeUnused
    return;
  }
  throw targetError(`${store.storage}: ${store.file} holds another dataset`, hint);
}

/**
 * @param {FileStore} store
 * @returns {never}
 */
function refuse(store) {
  throw refusedError(
    `${store.storage}: ${store.file} exists and was not created by Dragstrip`,
    'move it away, or choose another folder',
  );
}

/**
 * Removes partial files of killed writers, and keeps those of live ones.
 * @param {FileStore} store
 */
function removeLeftovers({ storage, file }) {
  const folder = path.dirname(file);
  for (const name of readdirSync(folder)) {
    const [, stem = '', maker = ''] = FILLING.exec(name) ?? [];
    if (path.extname(stem) !== `.${storage}`) continue;
    if (maker !== ownerName() && ownerMayLive(maker)) continue;
    rmSync(path.join(folder, name), { force: true });
  }
}

/**
 * Removes Dragstrip's files of other datasets that no benchmark has opened lately; opening sets
 * their time.
 * @param {FileStore} store
 */
async function removeUnused({ storage, file, inspect }) {
  const folder = path.dirname(file);
  const beforeMs = Date.parse(systemClock.date()) - UNUSED_MS;
  for (const name of readdirSync(folder)) {
    const other = path.join(folder, name);
    if (!FILE_NAME.test(name) || path.extname(name) !== `.${storage}` || other === file) continue;
    if (statSync(other).mtimeMs > beforeMs || (await inspect(other)) === null) continue;
    removeFile(other);
  }
}

/** @param {string} file file to remove with its companion files */
function removeFile(file) {
  for (const suffix of ['', '-lock', '-journal', '-wal', '-shm']) {
    rmSync(file + suffix, { force: true });
  }
}

/**
 * @param {unknown} text JSON of a marker
 * @returns {DatasetOptions | null} null: not a marker
 */
export function parseMarker(text) {
  if (typeof text !== 'string') return null;
  try {
    const dataset = datasetOptions(JSON.parse(text));
    const { rows, valueSize, seed } = dataset;
    return [rows, valueSize, seed].every(Number.isInteger) ? dataset : null;
  } catch {
    return null;
  }
}

/**
 * @param {DatasetOptions} dataset
 * @returns {string} input of parseMarker
 */
export function formatMarker(dataset) {
  return JSON.stringify({ madeBy: 'dragstrip', ...datasetOptions(dataset) });
}

/**
 * Checks the file type, because other files may crash the library.
 * @param {string} file
 * @param {number} length
 * @returns {Buffer | null} its first bytes; null: it is shorter
 */
export function headOf(file, length) {
  const head = Buffer.alloc(length);
  const descriptor = openSync(file, 'r');
  try {
    return readSync(descriptor, head, 0, length, 0) === length ? head : null;
  } finally {
    closeSync(descriptor);
  }
}
