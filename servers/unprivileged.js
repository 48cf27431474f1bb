/**
 * Servers started by root run as a user without rights and without an account: one of its own,
 * since `nobody` is shared with other programs, which could read the files of the servers then.
 */

import { chmodSync, lchownSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { refusedError } from '../lib/errors.js';
import { makeFolder } from '../lib/folder.js';
import { closedFolder } from '../lib/home.js';

/** @typedef {{ uid: number, gid: number }} ServerUser */

/** Numbers that neither accounts of people nor those of packages have; the first free one. */
const FIRST_UID = 61_000;
const LAST_UID = 61_100;
/** Entering is allowed to others, listing is not. */
const ENTER = 0o011;

/** Environment variable in place of the option --as-root. */
export const AS_ROOT_VARIABLE = 'DRAGSTRIP_AS_ROOT';

/**
 * @param {{ home: string, packagesHome?: string, paths: readonly string[], asRoot?: boolean }}
 *   context paths: programs and folders of libraries that the server must reach
 * @returns {ServerUser | undefined} undefined: the user of this process, who is not root or wants
 *   it so
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED where such a user cannot reach the
 *   files
 */
export function serverUser({ home, packagesHome = home, paths, asRoot = wantsRoot() }) {
  if (process.getuid?.() !== 0 || asRoot) return undefined;
  makeFolder(join(home, 'servers'), { mode: 0o700 });
  for (const each of new Set([home, packagesHome])) {
    for (const folder of [each, join(each, 'servers'), join(each, 'packages')]) letEnter(folder);
  }
  for (const path of [join(home, 'servers'), ...paths]) {
    const closed = closedFolderOf(path);
    if (closed === null) continue;
    throw refusedError(
      `servers are not started as root, and other users may not enter ${closed}`,
      'set DRAGSTRIP_HOME to a folder that they may enter, such as /var/lib/dragstrip, work as an ' +
        `ordinary user, or set ${AS_ROOT_VARIABLE}=yes to start them as root`,
    );
  }
  const uid = freeUid();
  return { uid, gid: uid };
}

function wantsRoot() {
  return process.env[AS_ROOT_VARIABLE] === 'yes';
}

/** @param {string} folder of the state folder; only what root itself made is changed */
function letEnter(folder) {
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there === undefined || there.uid !== 0 || (there.mode & ENTER) === ENTER) return;
  chmodSync(folder, (there.mode | ENTER) & 0o7777);
}

/**
 * @param {string} path
 * @returns {string | null} the first folder of it, from the root on, that others may not enter
 */
function closedFolderOf(path) {
  const real = realpathSync(path);
  return closedFolder(statSync(real).isDirectory() ? real : dirname(real));
}

/** @returns {number} */
function freeUid() {
  const taken = new Set(readLines('/etc/passwd').map((line) => Number(line.split(':')[2])));
  for (let uid = FIRST_UID; uid <= LAST_UID; uid += 1) if (!taken.has(uid)) return uid;
  throw refusedError(`accounts have all the numbers from ${FIRST_UID} to ${LAST_UID}`);
}

/** @param {string} path */
function readLines(path) {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/**
 * Gives a server its folder and all in it, but not the files with the secrets of its clients.
 * @param {string} folder
 * @param {ServerUser | undefined} user
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED where this root may not do that
 */
export function handOver(folder, user) {
  if (user === undefined) return;
  try {
    lchownSync(folder, user.uid, user.gid);
  } catch (error) {
    // A container's root without capabilities, or with few numbers of users.
    throw refusedError(
      `servers are not started as root, and this root may not give files away (${error.code})`,
      `work as an ordinary user, or set ${AS_ROOT_VARIABLE}=yes to start them as root`,
    );
  }
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === 'secrets') continue;
    if (entry.isDirectory()) handOver(path, user);
    else lchownSync(path, user.uid, user.gid);
  }
}
