/**
 * Servers started by root run as an unprivileged user without an account. Not as `nobody`, because
 * other programs of that user could read the files of the servers. Each server has a different
 * user; a proxy has the user of its Redis, whose socket it opens.
 */

import { chmodSync, lchownSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { refusedError } from '../lib/errors.js';
import { listFolder, makeFolder } from '../lib/folder.js';
import { closedFolder } from '../lib/home.js';
import { bySetpriv, UNTIL_PARENT_DIES } from '../lib/parent-death.js';

/** @typedef {{ uid: number, gid: number }} ServerUser */

/** User ids that are neither used for accounts of people nor of packages: ten per server. */
const FIRST_UID = 61_000;
const LAST_UID = 61_099;
const UIDS = 10;
/** Options of a server under that user, which prevent gaining privileges by executing programs. */
const CONFINED = Object.freeze([
  ...['--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'],
]);
/** Others may traverse, but not list. */
const ENTER = 0o011;

/** Environment variable equivalent to --as-root. */
export const AS_ROOT_VARIABLE = 'DRAGSTRIP_AS_ROOT';

/**
 * @param {number} nth index among all servers, which have distinct users
 * @param {{ home: string, packagesHome?: string, paths: readonly string[], socket?: string,
 *   asRoot?: boolean }} context paths: programs and library folders that the server must access;
 *   socket: socket of another server that it opens
 * @returns {ServerUser | undefined} undefined: the user of this process, which is not root or
 *   requested it
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: such a user cannot access the
 *   files
 */
export function serverUser(nth, context) {
  const { home, packagesHome = home, paths, socket, asRoot = wantsRoot() } = context;
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
  const uid = ownerOf(socket) ?? freeUid(nth);
  return { uid, gid: uid };
}

function wantsRoot() {
  return process.env[AS_ROOT_VARIABLE] === 'yes';
}

/** @param {string} folder state folder; only folders created by root are changed */
function letEnter(folder) {
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there === undefined || there.uid !== 0 || (there.mode & ENTER) === ENTER) return;
  chmodSync(folder, (there.mode | ENTER) & 0o7777);
}

/**
 * @param {string} path
 * @returns {string | null} the first folder of the path that others cannot traverse
 */
function closedFolderOf(path) {
  const real = realpathSync(path);
  return closedFolder(statSync(real).isDirectory() ? real : dirname(real));
}

/**
 * @param {ServerUser} user
 * @param {string} program path
 * @param {readonly string[]} args
 * @param {{ owned: boolean }} how owned: killed when this process ends
 * @returns {[string, string[]] | null} the wrapped command of root; null: root lacks the permission
 */
export function asUser({ uid, gid }, program, args, { owned }) {
  const numbers = ['--reuid', String(uid), '--regid', String(gid)];
  const options = [...numbers, ...CONFINED, ...(owned ? UNTIL_PARENT_DIES : [])];
  return bySetpriv(options, program, args);
}

/**
 * @param {string} [socket]
 * @returns {number | undefined} the server's user, if it is unprivileged
 */
function ownerOf(socket) {
  const uid = socket && statSync(socket, { throwIfNoEntry: false })?.uid;
  return uid && isServerUid(uid) ? uid : undefined;
}

/** @param {number} uid @returns {boolean} whether it is reserved for servers */
export function isServerUid(uid) {
  return uid >= FIRST_UID && uid <= LAST_UID;
}

/**
 * @param {number} nth
 * @returns {number} a free user of the server; if all are in use, one of them
 */
function freeUid(nth) {
  const first = FIRST_UID + UIDS * nth;
  const taken = new Set(readLines('/etc/passwd').map((line) => Number(line.split(':')[2])));
  const own = Array.from({ length: UIDS }, (_, i) => first + i).filter((uid) => !taken.has(uid));
  if (own.length === 0) throw refusedError(`accounts have the numbers from ${first} on`);
  const pids = listFolder('/proc').filter((leaf) => /^\d+$/.test(leaf));
  const living = new Set(
    pids.map((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid),
  );
  return own.find((uid) => !living.has(uid)) ?? own[0];
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
 * Makes the server the owner of its folder and contents, except files with secrets of clients.
 * @param {string} folder
 * @param {ServerUser | undefined} user
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: root lacks the permission
 */
export function handOver(folder, user) {
  if (user === undefined) return;
  try {
    lchownSync(folder, user.uid, user.gid);
  } catch (error) {
    // Root of a container without capabilities, or with few user ids.
    throw refusedError(
      `servers are not started as root, and this root cannot change file owners (${error.code})`,
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
