/**
 * The state folder of Dragstrip: the location of fetched servers, their data and their records.
 * Results are not stored here, but where the user specifies.
 */

import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { usageError } from './errors.js';
import { makeFolder } from './folder.js';

/**
 * State folder of root if other users cannot enter its working directory, since its servers need
 * to.
 */
export const ROOT_HOME = '/var/lib/dragstrip';
/** Name of the state folder. */
export const HOME_NAME = '.dragstrip';

/**
 * Programs in the state folder are executed. One above the working directory is used only if it
 * belongs to the user and nobody else may write to it (like git's safe.directory), since anyone may
 * create one in /tmp.
 * @param {{ env?: Record<string, string | undefined>, cwd?: string, uid?: number }} [options]
 * @returns {string} absolute path: DRAGSTRIP_HOME; otherwise the nearest `.dragstrip` at or above
 *   cwd, as git finds its folder; otherwise cwd/.dragstrip. It need not exist yet. Untrusted ones
 *   above cwd are skipped; for root, /var/lib/dragstrip instead of one that others cannot reach
 * @throws {import('./errors.js').DragstripError} E_USAGE: the folder in cwd belongs to another
 *   user, or the user's own is writable by others
 */
export function findHome({
  env = process.env,
  cwd = process.cwd(),
  uid = process.getuid?.() ?? 0,
} = {}) {
  if (env['DRAGSTRIP_HOME']) return resolve(cwd, env['DRAGSTRIP_HOME']);
  const home = nearestHome(cwd, uid, env);
  return uid === 0 && closedFolder(dirname(home)) !== null ? ROOT_HOME : home;
}

/**
 * @param {string} cwd
 * @param {number} uid
 * @param {Record<string, string | undefined>} env
 */
function nearestHome(cwd, uid, env) {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const candidate = join(folder, HOME_NAME);
    const distrust = distrustOf(candidate, trustedOwners(uid, env));
    if (distrust === null) return candidate;
    if (distrust === 'writable') {
      throw usageError(
        `the state folder ${candidate} is writable by other users, but Dragstrip executes programs in it`,
        `run \`chmod go-w ${candidate}\` if only you have written to it, or remove it`,
      );
    }
    if (distrust === 'owner' && folder === resolve(cwd)) {
      throw usageError(
        `the state folder ${candidate} belongs to another user`,
        'set DRAGSTRIP_HOME to a folder of your own',
      );
    }
    if (folder === dirname(folder)) return resolve(cwd, HOME_NAME);
  }
}

/**
 * @param {string} folder
 * @returns {string | null} the first folder in its path, from the root on, that others may not
 *   enter; null: none
 */
export function closedFolder(folder) {
  const above = dirname(folder);
  const closed = above === folder ? null : closedFolder(above);
  if (closed !== null) return closed;
  const there = statSync(folder, { throwIfNoEntry: false });
  return there === undefined || (there.mode & 0o001) !== 0 ? null : folder;
}

/**
 * @param {number} uid
 * @param {Record<string, string | undefined>} env
 * @returns {number[]} the user; for root through sudo also the user who called it, as in git.
 *   Windows has no such numbers: all are 0
 */
function trustedOwners(uid, env) {
  const caller = Number(env['SUDO_UID']);
  return uid === 0 && env['SUDO_UID'] && Number.isInteger(caller) ? [uid, caller] : [uid];
}

/**
 * @param {string} candidate
 * @param {readonly number[]} owners
 * @returns {'missing' | 'owner' | 'writable' | null} null if it can be trusted
 */
function distrustOf(candidate, owners) {
  const there = statSync(candidate, { throwIfNoEntry: false });
  if (!there?.isDirectory()) return 'missing';
  // Another user's link may point to any folder of this user.
  if (![there, lstatSync(candidate)].every(({ uid }) => owners.includes(uid))) return 'owner';
  return process.platform !== 'win32' && (there.mode & 0o022) !== 0 ? 'writable' : null;
}

/**
 * The whole state folder is private, since it contains data and secrets.
 * @param {string} home absolute path
 * @throws {import('./errors.js').DragstripError} E_USAGE: it cannot be created or written
 */
export function makeHome(home) {
  try {
    makeFolder(home, { mode: 0o700 });
    accessSync(home, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw usageError(
      `the state folder ${home} cannot be written (${error.code})`,
      'set DRAGSTRIP_HOME to a writable folder',
    );
  }
}
