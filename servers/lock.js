/**
 * Mutual exclusion between processes of a user: a file beside what is locked, with the identity of
 * its holder. It is made whole or not at all (link(2)), and the lock of a process that has died is
 * broken by exactly one other. Not suitable for machines that share a folder over a network.
 *
 * A file in a private folder and not a name of the kernel, such as an abstract socket: those can be
 * taken by every local user.
 */

import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { targetError } from '../lib/errors.js';
import { isAlive, ownIdentity, processScope } from '../lib/process-identity.js';

const RETRY_MS = 50;
const UNWRITABLE = Object.freeze(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM']);

/** @typedef {{ id: string, pid: number, startTicks: number, scope: string | null,
 *   purpose?: string }} Holder */

/**
 * @template T
 * @param {string} path what is locked; need not exist. The lock is a file of this name and `.lock`
 * @param {{ signal?: AbortSignal, timeoutMs?: number, onWait?: () => void, purpose?: string,
 *   refuse?: (holder: Holder) => void }} options timeoutMs: maximum wait for another holder,
 *   10 minutes by default; purpose: what the holder is seen to do by others; refuse: throws for a
 *   holder that is not to be waited for
 * @param {() => Promise<T>} work runs while the lock is held
 * @returns {Promise<T>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if the lock stays taken
 */
export async function withLock(path, options, work) {
  const { signal, timeoutMs = 600_000, onWait, purpose, refuse } = options;
  const file = `${path}.lock`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const tryOnce = () => {
    const taken = acquire(file, purpose);
    const holder = taken === null && refuse ? readHolder(file) : null;
    if (holder !== null) refuse?.(holder);
    return taken;
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
 * @param {string} name of something on this machine that has no folder, such as a server's address
 * @returns {string} path of its lock, in a folder of this user alone
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET where that folder is another user's
 */
export function machineLock(name) {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `dragstrip-locks-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const there = lstatSync(folder);
  if (there.uid !== uid || !there.isDirectory() || (there.mode & 0o022) !== 0) {
    throw targetError(
      `${folder} belongs to another user or is writable by others`,
      'remove it, or set TMPDIR to a folder of your own',
    );
  }
  return join(folder, name.replace(/[^\w.@:-]/g, '_'));
}

/**
 * @param {string} file
 * @param {string} [purpose]
 * @returns {(() => void) | null} releases it; null: it is held
 */
function tryAcquire(file, purpose) {
  const id = randomBytes(12).toString('hex');
  const draft = `${file}-${id}`;
  /** @type {Holder} */
  const own = { id, ...ownIdentity(), scope: processScope(), ...(purpose && { purpose }) };
  try {
    writeFileSync(draft, JSON.stringify(own), { flag: 'wx', mode: 0o600 });
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
 * @param {string} file
 * @param {string} [purpose]
 * @returns {(() => void) | null} as tryAcquire
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET where no file can be made
 */
function acquire(file, purpose) {
  try {
    return tryAcquire(file, purpose);
  } catch (error) {
    if (!UNWRITABLE.includes(error.code)) throw error;
    const hint = 'free some space, or look at the rights of its folder';
    throw targetError(`${file}: the lock cannot be written (${error.code})`, hint, error);
  }
}

/**
 * Only who holds the right to break the lock of this very holder removes it, and only if it is
 * still there: otherwise two could find the same dead holder, and the second one remove the lock of
 * the first.
 * @param {string} file
 * @param {Holder} holder that has died
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

/** @param {string} from @param {string} to @returns {boolean} false: it is there already */
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
 * @returns {boolean} also where it cannot be known: in another container
 */
function mayLive({ pid, startTicks, scope }) {
  const here = processScope();
  if (scope === here) return isAlive({ pid, startTicks });
  const bootOf = (/** @type {string | null} */ text) => text?.split('.')[0];
  return bootOf(scope) === bootOf(here);
}
