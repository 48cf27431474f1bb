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
 * Programs of the state folder are executed. One above the working directory is taken only where
 * it is the user's own (as git does, safe.directory): in /tmp anybody may lay one.
 * @param {{ env?: Record<string, string | undefined>, cwd?: string, uid?: number }} [options]
 * @returns {string} absolute path: DRAGSTRIP_HOME; else the nearest `.dragstrip` at or above cwd,
 *   as git looks for its folder; else cwd/.dragstrip. It need not exist yet
 * @throws {import('./errors.js').DragstripError} E_USAGE where that of cwd is another user's
 */
export function findHome({
  env = process.env,
  cwd = process.cwd(),
  uid = process.getuid?.() ?? 0,
} = {}) {
  if (env['DRAGSTRIP_HOME']) return resolve(cwd, env['DRAGSTRIP_HOME']);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const candidate = join(folder, HOME_NAME);
    const there = statSync(candidate, { throwIfNoEntry: false });
    if (there?.isDirectory()) {
      if (isTrusted(there.uid, uid)) return candidate;
      if (folder === resolve(cwd)) {
        throw usageError(
          `the state folder ${candidate} belongs to another user`,
          'set DRAGSTRIP_HOME to a folder of your own',
        );
      }
    }
    if (folder === dirname(folder)) return resolve(cwd, HOME_NAME);
  }
}

/**
 * @param {number} owner
 * @param {number} uid the superuser trusts all: it works in folders of others, as containers do.
 *   Windows has no such numbers, there both are 0
 */
function isTrusted(owner, uid) {
  return owner === uid || uid === 0;
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
