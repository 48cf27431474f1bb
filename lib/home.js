/**
 * The state folder of Dragstrip: where fetched servers, their data and their records are kept.
 * Not for results: those go where the user says.
 */

import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { usageError } from './errors.js';
import { makeFolder } from './folder.js';

/** Name of the state folder. */
export const HOME_NAME = '.dragstrip';

/**
 * @param {{ env?: Record<string, string | undefined>, cwd?: string }} [options]
 * @returns {string} absolute path: DRAGSTRIP_HOME; else the nearest `.dragstrip` at or above cwd,
 *   as git looks for its folder; else cwd/.dragstrip. It need not exist yet
 */
export function findHome({ env = process.env, cwd = process.cwd() } = {}) {
  if (env['DRAGSTRIP_HOME']) return resolve(cwd, env['DRAGSTRIP_HOME']);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const candidate = join(folder, HOME_NAME);
    if (statSync(candidate, { throwIfNoEntry: false })?.isDirectory()) return candidate;
    if (folder === dirname(folder)) return resolve(cwd, HOME_NAME);
  }
}

/**
 * The state folder is private as a whole: sockets without passwords and data lie in it.
 * @param {string} home absolute path
 * @throws {import('./errors.js').DragstripError} E_USAGE where it cannot be made or written
 */
export function makeHome(home) {
  try {
    makeFolder(home, { mode: 0o700 });
    accessSync(home, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw usageError(
      `the state folder ${home} cannot be written (${error.code})`,
      'set DRAGSTRIP_HOME to a folder that you may write to',
    );
  }
}
