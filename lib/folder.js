/**
 * Folders made with all above them. Node's own `recursive` does not end where a folder refuses new
 * ones as if it were not there itself, as /proc does (ENOENT is taken for a missing parent, and
 * the parent is there). Not for removing any.
 */

import { mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * @param {string} folder
 * @param {{ mode?: number }} [options] mode: permissions of those that are made
 * @throws {NodeJS.ErrnoException} ENOTDIR, EACCES, ENOENT, EROFS …: the first that could not be
 *   made
 */
export function makeFolder(folder, { mode = 0o777 } = {}) {
  const target = path.resolve(folder);
  /** @type {string[]} */
  const missing = [];
  for (let at = target; ; at = path.dirname(at)) {
    const there = statSync(at, { throwIfNoEntry: false });
    if (there?.isDirectory()) break;
    if (there !== undefined) {
      throw Object.assign(new Error(`ENOTDIR: not a folder, '${at}'`), { code: 'ENOTDIR' });
    }
    missing.push(at);
  }
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each, { mode });
    } catch (error) {
      // Another process may have made it in the meantime.
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

/**
 * @param {string} folder
 * @returns {string[]} names of what is in it; none where it cannot be read
 */
export function listFolder(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
