/**
 * Where a result is stored: checked before anything is measured, written after each benchmark,
 * whole or not at all (a temporary file beside it, synced, renamed).
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
 * @property {() => string | null} file the last one written
 * @property {(document: { id: string }, how?: { sync?: boolean }) => Promise<void>} write a result
 *   or the like; later writes wait for earlier ones; sync: false: not waiting for the disk, which a
 *   server may be using; rejects E_STORE
 */

/**
 * @param {{ json?: string, out?: string, force?: boolean }} options
 * @returns {Promise<ResultStore | null>} null where nothing is to be stored
 * @throws {DragstripError} E_USAGE where the place cannot be written, or is taken
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
        .catch(() => {}) // each writing tries anew: space may have been freed
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
   * @returns {Promise<{ target: string, made: boolean }>} made: it was not there
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
        `--json ${json}: another process created the file in the meantime`,
        {
          hint: 'choose another file, or use --force to overwrite it',
        },
      );
    }
    return { target, made };
  }
}

/**
 * Two runs of one second have the same id: the later one gets a number behind it.
 * @param {string} folder
 * @param {string} id
 * @returns {Promise<string>} a file that was not there and is now
 */
async function reserveInFolder(folder, id) {
  for (let n = 1; ; n += 1) {
    const target = path.join(folder, `${id}${n === 1 ? '' : `-${n}`}.json`);
    if (await createNew(target)) return target;
  }
}

/**
 * @param {string} file
 * @returns {Promise<boolean>} false: there is one already
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
 * @param {string} given as the user wrote it
 * @param {boolean} force
 * @param {string} [flag] of the option
 * @throws {DragstripError} E_USAGE where it is taken or cannot be written
 */
export async function requireFree(file, given, force, flag = '--json') {
  const there = await stat(file).catch(() => null);
  if (there?.isDirectory()) {
    const hint = flag === '--json' ? 'name a file, or use --out' : 'name a file';
    throw usageError(`${flag} ${given}: it is a folder`, hint);
  }
  if (there !== null && !there.isFile()) {
    throw usageError(`${flag} ${given}: not a regular file`, `name a file, or leave ${flag} out`);
  }
  if (there !== null && !force) {
    throw usageError(
      `${flag} ${given}: the file exists`,
      'choose another file, or use --force to overwrite it',
    );
  }
  await requireWritable(path.dirname(file), flag, given);
}

/**
 * @param {string} folder absolute; made
 * @param {string} flag
 * @param {string} given
 * @throws {DragstripError} E_USAGE
 */
export async function requireWritable(folder, flag, given) {
  try {
    makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
    // access() is about permission bits; a read-only file system shows only in a real write.
    const probe = path.join(folder, `.dragstrip-${randomBytes(6).toString('hex')}.tmp`);
    await (await open(probe, 'wx')).close();
    await rm(probe);
  } catch (error) {
    throw usageError(
      `${flag} ${given}: ${folder} cannot be written (${error.code ?? error.message})`,
      'name a folder that you may write to',
    );
  }
}

/**
 * @param {string} file
 * @param {string | Uint8Array} text
 * @param {{ sync?: boolean }} [how] sync: it is on the disk when this resolves
 * @throws {DragstripError} E_STORE
 */
export async function writeWhole(file, text, { sync = true } = {}) {
  // In a folder of others a name that can be guessed may be a link already: wx does not follow it.
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
 * The new name is on disk when its folder is; some file systems cannot do that, and need not.
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

/** A round of a benchmark is one line. */
const LINES_DEPTH = 4;

/**
 * @param {unknown} value
 * @param {number} [depth] of what it stands in
 * @returns {string} JSON, with line breaks down to a depth
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
