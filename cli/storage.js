/**
 * Destination of a result: checked before the measurement, written atomically after each benchmark
 * (a temporary file beside it, synced, renamed).
 */

import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { sealResult } from '../lib/digest.js';
import { DragstripError, usageError } from '../lib/errors.js';
import { makeFolder } from '../lib/folder.js';
import { SCHEMA_NAME } from '../lib/schema-name.js';

/**
 * @typedef {object} ResultStore
 * @property {() => string | null} file the last file written
 * @property {(document: { id: string }, how?: { sync?: boolean }) => Promise<void>} write writes a
 *   result or similar data, after earlier writes; sync: false does not wait for the disk, which a
 *   server may be using; rejects with E_STORE
 */

/**
 * @param {{ json?: string, out?: string, force?: boolean }} options
 * @returns {Promise<ResultStore | null>} null: nothing is to be stored
 * @throws {DragstripError} E_USAGE: the file cannot be written, or exists
 */
export async function openStore({ json, out, force }) {
  if (json === undefined && out === undefined) return null;
  if (json === undefined) await requireWritable(path.resolve(out ?? ''), '--out', out ?? '');
  else await requireFree(path.resolve(json), json, force === true);
  /** @type {string | null} */
  let file = null;
  let last = Promise.resolve();
  return {
    file: () => file,
    write(result, how) {
      const isResult = /** @type {any} */ (result).schema === SCHEMA_NAME;
      const document = isResult ? sealResult(/** @type {any} */ (result)) : result;
      const text = `${inLines(document)}\n`;
      last = last
        .catch(() => {}) // each write tries again, since space may have been freed
        .then(async () => {
          if (file !== null) return writeWhole(file, text, how);
          const { target, made } = await reserve(result.id);
          try {
            await writeWhole(target, text, how);
          } catch (error) {
            if (made) await rm(target, { force: true }).catch(() => {});
            throw error;
          }
          file = target;
        });
      return last;
    },
  };

  /**
   * @param {string} id
   * @returns {Promise<{ target: string, made: boolean }>} made: newly created
   */
  async function reserve(id) {
    if (json === undefined) {
      const target = await reserveInFolder(path.resolve(/** @type {string} */ (out)), id);
      return { target, made: true };
    }
    const target = path.resolve(json);
    const made = await createNew(target);
    if (!made && !force) {
      throw new DragstripError(
        'E_STORE',
        `--json ${json}: another process has created the file meanwhile`,
        {
          hint: 'choose another file, or use --force to overwrite it',
        },
      );
    }
    return { target, made };
  }
}

/**
 * Runs started in the same second have the same id; a number is appended to the later one.
 * @param {string} folder
 * @param {string} id
 * @returns {Promise<string>} a newly created file
 */
async function reserveInFolder(folder, id) {
  for (let n = 1; ; n += 1) {
    const target = path.join(folder, `${id}${n === 1 ? '' : `-${n}`}.json`);
    if (await createNew(target)) return target;
  }
}

/**
 * @param {string} file
 * @returns {Promise<boolean>} false: it exists already
 */
async function createNew(file) {
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw notStored(file, error);
  }
}

/**
 * @param {string} file absolute
 * @param {string} written as written by the user
 * @param {boolean} force
 * @param {string} [flag] flag of the option
 * @throws {DragstripError} E_USAGE: it exists or cannot be written
 */
export async function requireFree(file, written, force, flag = '--json') {
  const there = await stat(file).catch(() => null);
  if (there?.isDirectory()) {
    const hint = flag === '--json' ? 'name a file, or use --out' : 'name a file';
    throw usageError(`${flag} ${written}: it is a folder`, hint);
  }
  if (there !== null && !there.isFile()) {
    throw usageError(`${flag} ${written}: not a regular file`, `name a file, or leave ${flag} out`);
  }
  if (there !== null && !force) {
    throw usageError(
      `${flag} ${written}: the file exists`,
      'choose another file, or use --force to overwrite it',
    );
  }
  await requireWritable(path.dirname(file), flag, written);
}

/**
 * @param {string} folder absolute; created
 * @param {string} flag
 * @param {string} written
 * @throws {DragstripError} E_USAGE
 */
export async function requireWritable(folder, flag, written) {
  try {
    makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
    // access() checks permission bits; only a real write detects a read-only file system.
    const probe = path.join(folder, `.dragstrip-${randomBytes(6).toString('hex')}.tmp`);
    await (await open(probe, 'wx')).close();
    await rm(probe);
  } catch (error) {
    throw usageError(
      `${flag} ${written}: ${folder} cannot be written (${error.code ?? error.message})`,
      'name a folder that you may write to',
    );
  }
}

/**
 * @param {string} file
 * @param {string | Uint8Array} text
 * @param {{ sync?: boolean }} [how] sync: resolve when it is on disk
 * @throws {DragstripError} E_STORE
 */
export async function writeWhole(file, text, { sync = true } = {}) {
  // In a shared folder a predictable name may already be a symlink; wx does not follow it.
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx');
    try {
      await handle.writeFile(text);
      if (sync) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
    if (sync) await syncFolder(path.dirname(file));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw notStored(file, error);
  }
}

/**
 * Syncing the folder writes the new name to disk; some file systems do not support this.
 * @param {string} folder
 */
async function syncFolder(folder) {
  const handle = await open(folder, 'r').catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/**
 * @param {string} file
 * @param {NodeJS.ErrnoException} error
 */
function notStored(file, error) {
  return new DragstripError('E_STORE', `${file}: the result could not be stored (${error.code})`, {
    hint: 'free some space or choose another location with --json or --out',
    cause: error,
  });
}

/** One line per round of a benchmark. */
const LINES_DEPTH = 4;

/**
 * @param {unknown} value
 * @param {number} [depth] depth of the enclosing value
 * @returns {string} JSON with line breaks down to this depth
 */
function inLines(value, depth = 0) {
  const isList = Array.isArray(value);
  const isNested = typeof value === 'object' && value !== null && !('toJSON' in value);
  if (depth >= LINES_DEPTH || !isNested) return JSON.stringify(value) ?? 'null';
  const parts = isList
    ? value.map((one) => inLines(one, depth + 1))
    : Object.entries(value)
        .filter(([, one]) => one !== undefined)
        .map(([key, one]) => `${JSON.stringify(key)}: ${inLines(one, depth + 1)}`);
  const [open, close] = isList ? '[]' : '{}';
  if (parts.length === 0) return open + close;
  const indent = `\n${' '.repeat(depth)}`;
  return `${open}${indent} ${parts.join(`,${indent} `)}${indent}${close}`;
}
