/**
 * Mutual exclusion between processes for a folder: a kernel lock that is released when its holder
 * ends.
 *
 * An abstract unix socket (unix(7)) can be bound only once per machine and disappears with the
 * process, so there are no stale lock files. Not suitable for machines that share a folder over a
 * network.
 */

import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { targetError } from '../lib/errors.js';

const RETRY_MS = 50;

/**
 * @template T
 * @param {string} path the folder to lock; need not exist
 * @param {{ signal?: AbortSignal, timeoutMs?: number, onWait?: () => void }} options timeoutMs:
 *   maximum wait for another holder, 10 minutes by default
 * @param {() => Promise<T>} work runs while the lock is held
 * @returns {Promise<T>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET if the lock stays taken
 */
export async function withLock(path, { signal, timeoutMs = 600_000, onWait }, work) {
  const key = createHash('sha256').update(resolve(path)).digest('hex').slice(0, 32);
  let holder = await bind(`\0dragstrip-${key}`);
  if (holder === null) onWait?.();
  for (let waitedMs = 0; holder === null; waitedMs += RETRY_MS) {
    if (waitedMs >= timeoutMs) {
      throw targetError(
        `${path}: locked by another Dragstrip process for more than ${timeoutMs / 1000} s`,
        'stop the other command, or set DRAGSTRIP_HOME to another folder',
      );
    }
    await sleep(RETRY_MS, undefined, { signal });
    holder = await bind(`\0dragstrip-${key}`);
  }
  try {
    return await work();
  } finally {
    await new Promise((done) => holder?.close(done));
  }
}

/**
 * @param {string} name
 * @returns {Promise<import('node:net').Server | null>} null if it is taken
 */
function bind(name) {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EADDRINUSE') done(null);
      else fail(error);
    });
    server.listen(name, () => done(server));
  });
}
