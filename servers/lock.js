/**
 * Mutual exclusion between processes of a user: a file beside the locked path, with the identity of
 * its holder. It is created atomically (link(2)), and the lock of a dead process is broken by
 * exactly one other process. Not suitable for machines that share a folder over a network.
 *
 * Sharers of a lock have a file each, created and searched for while holding the lock exclusively,
 * so that each sees all earlier ones. It adds its record to theirs, so they see it when they end,
 * even if it has ended before.
 *
 * A file in a private folder instead of a kernel name such as an abstract socket, which every local
 * user can take.
 */

import { randomBytes } from 'node:crypto';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { targetError } from '../lib/errors.js';
import { listFolder, makeFolder } from '../lib/folder.js';
import { isAlive, ownIdentity, processScope } from '../lib/process-identity.js';

const RETRY_MS = 50;
/** Separators of the name of a lock, the id of a sharer, and the id of a sharer met by it. */
const SHARED = '-shared-';
const MET = '-met-';
const UNWRITABLE = Object.freeze(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM']);

/** @typedef {{ id: string, pid: number, startTicks: number, scope: string | null,
 *   purpose?: string }} Holder */

/**
 * @typedef {object} LockOptions
 * @property {AbortSignal} [signal]
 * @property {number} [timeoutMs] maximum wait for another holder, 10 minutes by default
 * @property {() => void} [onWait]
 * @property {string} [purpose] the holder's command, for others
 * @property {(holder: Holder, file: string) => void} [refuse] throws if waiting for a holder is not
 *   allowed; file: its lock
 * @property {boolean} [shared] together with other sharers, but not with an exclusive holder
 * @property {(other: Holder) => void} [onMeet] for sharers: called per sharer of another process,
 *   at the start or at the end
 */

/**
 * @template T
 * @param {string} path path to lock; need not exist. The lock file has the suffix `.lock`
 * @param {LockOptions} options
 * @param {() => Promise<T>} work called while the lock is held
 * @returns {Promise<T>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: timeout
 */
export async function withLock(path, options, work) {
  const { signal, timeoutMs = 600_000, onWait, purpose, refuse, shared, onMeet } = options;
  const file = `${path}.lock`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const acquire = () => (shared ? enter(file, purpose, onMeet) : acquireAlone(file, purpose));
  const tryOnce = () => {
    const { release, by, at } = withCode(file, acquire);
    if (by) refuse?.(by, at ?? file);
    return release;
  };
  let release = tryOnce();
  if (release === null) onWait?.();
  for (let waitedMs = 0; release === null; waitedMs += RETRY_MS) {
    if (waitedMs >= timeoutMs) {
      throw targetError(
        `${path}: locked by another Dragstrip process for more than ${timeoutMs / 1000} s`,
        `stop the other command; if there is none, remove ${file}`,
      );
    }
    await sleep(RETRY_MS, undefined, { signal });
    release = tryOnce();
  }
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * Commands with different state folders, environments and working directories must find the same
 * lock. Therefore it is in the home of the user's account, independent of HOME, TMPDIR and
 * XDG_RUNTIME_DIR: temporary folders are shared with users who may take the name, and the runtime
 * folder is removed at logout, while a run continues. The name contains the boot id, since several
 * machines may share the home.
 * @param {string} name name of a resource of this machine without a folder, such as a server's
 *   address
 * @param {string} home the state folder, for accounts without a usable home; then only commands
 *   with the same state folder see each other
 * @param {string | null} [account] home of the account
 * @returns {string} path of its lock, in a folder private to this user
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: neither can be used
 */
export function machineLock(name, home, account = accountHome()) {
  const leaf = `${processScope()?.slice(0, 8)}-${name.replace(/[^\w.@:-]/g, '_')}`;
  if (account !== null) {
    const folder = join(account, '.local/state/dragstrip/locks');
    if (makePrivate(folder)) return join(folder, leaf);
  }
  const folder = join(home, 'locks');
  if (makePrivate(folder)) return join(folder, leaf);
  throw targetError(
    `${folder} cannot be created, belongs to another user or is writable by others`,
    'set DRAGSTRIP_HOME to a folder of your own',
  );
}

/** @returns {string | null} null: the user has no account */
export function accountHome() {
  try {
    return userInfo().homedir;
  } catch {
    return null;
  }
}

/**
 * @param {string} folder @returns {boolean} whether it exists, and only this user can write to it
 */
function makePrivate(folder) {
  try {
    makeFolder(folder, { mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    return uid === (process.getuid?.() ?? uid) && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}

/**
 * @param {string} file
 * @param {string} [purpose]
 * @returns {(() => void) | null} releases it; null: it is held
 */
function tryAcquire(file, purpose) {
  const record = describeOwn(purpose);
  const draft = `${file}-${record.id}`;
  try {
    writeFileSync(draft, JSON.stringify(record), { flag: 'wx', mode: 0o600 });
    if (tryLink(draft, file)) return () => rmSync(file, { force: true });
    const holder = readHolder(file);
    if (holder === null || mayLive(holder)) return null;
    breakLock(file, holder);
    return tryLink(draft, file) ? () => rmSync(file, { force: true }) : null;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @typedef {object} Attempt
 * @property {(() => void) | null} release null: it is held
 * @property {Holder | null} [by] another holder
 * @property {string} [at] its file
 */

/**
 * @param {string} file
 * @param {string} [purpose]
 * @returns {Attempt}
 */
function acquireAlone(file, purpose) {
  const release = tryAcquire(file, purpose);
  if (release === null) return { release, by: readHolder(file) };
  const [sharer] = sharersOf(file);
  if (sharer === undefined) return { release };
  release();
  return { release: null, by: sharer, at: sharedFile(file, sharer) };
}

/**
 * @param {string} file
 * @param {string | undefined} purpose
 * @param {LockOptions['onMeet']} [onMeet]
 * @returns {Attempt}
 */
function enter(file, purpose, onMeet) {
  const leave = tryAcquire(file);
  if (leave === null) return { release: null, by: readHolder(file) };
  try {
    const others = sharersOf(file).filter(({ pid }) => pid !== process.pid);
    const holder = describeOwn(purpose);
    const record = sharedFile(file, holder);
    // Renamed when complete, because processes with other locks of the folder also read it.
    writeFileSync(`${file}-${holder.id}`, JSON.stringify(holder), { flag: 'wx', mode: 0o600 });
    renameSync(`${file}-${holder.id}`, record);
    for (const other of others) {
      onMeet?.(other);
      tryLink(record, `${sharedFile(file, other)}${MET}${holder.id}`);
    }
    return { release: () => leaveShared(record, onMeet) };
  } finally {
    leave();
  }
}

/** @param {string} record @param {LockOptions['onMeet']} [onMeet] */
function leaveShared(record, onMeet) {
  rmSync(record, { force: true });
  for (const left of besides(`${record}${MET}`)) {
    const other = readHolder(left);
    rmSync(left, { force: true });
    if (other !== null) onMeet?.(other);
  }
}

/**
 * @param {string} file lock file held by the caller
 * @returns {Holder[]} live ones; files of dead ones are removed, including those of other locks in
 *   the folder, whose ports may never be used again
 */
function sharersOf(file) {
  const sharerPrefix = `${file}${SHARED}`;
  /** @type {Map<string, Holder>} */
  const living = new Map();
  const all = listFolder(dirname(file)).map((leaf) => join(dirname(file), leaf));
  for (const record of all.filter((one) => one.includes(SHARED) && !one.includes(MET))) {
    const holder = readHolder(record);
    if (holder !== null && mayLive(holder)) living.set(record, holder);
    else for (const left of besides(record)) rmSync(left, { force: true });
  }
  for (const left of all.filter((one) => one.startsWith(sharerPrefix) && one.includes(MET))) {
    if (!living.has(left.slice(0, left.lastIndexOf(MET)))) rmSync(left, { force: true });
  }
  return [...living].flatMap(([one, holder]) => (one.startsWith(sharerPrefix) ? holder : []));
}

/** @param {string} begin prefix of paths @returns {string[]} */
function besides(begin) {
  const leaves = listFolder(dirname(begin)).filter((leaf) => leaf.startsWith(basename(begin)));
  return leaves.map((leaf) => join(dirname(begin), leaf));
}

/** @param {string} file @param {Holder} sharer */
function sharedFile(file, { id }) {
  return `${file}${SHARED}${id}`;
}

/**
 * @param {string} file
 * @param {() => Attempt} acquire
 * @returns {Attempt}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: the file cannot be created
 */
function withCode(file, acquire) {
  try {
    return acquire();
  } catch (error) {
    if (!UNWRITABLE.includes(error.code)) throw error;
    const hint = 'free some space, or check the permissions of its folder';
    throw targetError(`${file}: the lock cannot be written (${error.code})`, hint, error);
  }
}

/** @param {string} [purpose] @returns {Holder} */
function describeOwn(purpose) {
  const id = randomBytes(12).toString('hex');
  return { id, ...ownIdentity(), scope: processScope(), ...(purpose && { purpose }) };
}

/**
 * Only a process with the right to break the lock of this holder removes it, and only if it still
 * exists; otherwise two could detect the same dead holder, and the second one could remove the lock
 * of the first.
 * @param {string} file
 * @param {Holder} holder dead holder
 */
function breakLock(file, { id }) {
  const release = tryAcquire(`${file}-of-${id}`);
  if (release === null) return;
  try {
    if (readHolder(file)?.id === id) rmSync(file, { force: true });
  } finally {
    release();
  }
}

/** @param {string} from @param {string} to @returns {boolean} false: it exists already */
function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} file @returns {Holder | null} null: it was released in the meantime */
function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw targetError(`${file} is not a lock of Dragstrip`, 'remove it', error);
  }
}

/**
 * @param {Holder} holder
 * @returns {boolean} also if unknown, as in another container
 */
function mayLive({ pid, startTicks, scope }) {
  const here = processScope();
  if (scope === here) return isAlive({ pid, startTicks });
  const bootOf = (/** @type {string | null} */ text) => text?.split('.')[0];
  return bootOf(scope) === bootOf(here);
}
