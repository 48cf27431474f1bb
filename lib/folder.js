/**
 * Creates folders with their parents. Node's own `recursive` does not terminate in a folder that
 * refuses new ones with ENOENT, such as /proc (ENOENT is mistaken for a missing parent, which
 * exists). It removes nothing.
 */

import { mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * @param {string} folder
 * @param {{ mode?: number }} [options] mode: permissions of created folders
 * @throws {NodeJS.ErrnoException} ENOTDIR, EACCES, ENOENT, EROFS …: the first that could not be
 *   created
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
      // Another process may have created it in the meantime.
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

/**
 * @param {string} folder
 * @returns {string[]} names of its entries; empty if it is unreadable
 */
export function listFolder(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
