/**
 * dragstrip-mutex, or dragstrip/mutex: locks over one Redis server, or one slot of a cluster, on
 * ioredis or on node-redis. See README.md.
 *
 * Not for several Redis servers (no quorum), and no fencing: a process suspended for longer than
 * the expiry may no longer hold the lock, unless it checks with owned() or refresh() first.
 */

import { performance } from 'node:perf_hooks';
import { adaptClient } from './client-adapter.js';
import { requireHashTag } from './cluster-adapter.js';
import { Locker } from './locker.js';
import { MutexError } from './mutex-error.js';
import { createPureHandler } from './pure-handler.js';
import { createScriptHandler } from './script-handler.js';

export { Locker } from './locker.js';
export { Mutex } from './mutex.js';
export { MUTEX_CODES, MutexError } from './mutex-error.js';

/** Expiries use a monotonic clock. */
const MONOTONIC_CLOCK = Object.freeze({ now: () => performance.now() * 1e6 });

export const HANDLERS = Object.freeze(['script', 'pure']);

/**
 * @typedef {object} CreateOptions
 * @property {Record<string, any>} client client of ioredis or node-redis; the caller closes it
 *   after the locker. Further connections are created by its duplicate()
 * @property {'script' | 'pure'} [handler] default: script
 * @property {string} [prefix] prefix of the keys and of the channel; default: `mutex:`. On a
 *   cluster it needs a hash tag, `{mutex}:`, so that all names are in one slot
 * @property {number} [expireMs] default: 30 000
 * @property {number} [blockMs] default: Infinity
 * @property {{ now(): number }} [clock] ns, monotonic; for tests
 */

/**
 * @param {CreateOptions} options
 * @returns {Promise<Locker>} resolves when subscribed
 * @throws {MutexError} MUTEX_ARGUMENT, MUTEX_CONNECTION
 */
export async function createLocker({ client, handler = 'script', prefix = 'mutex:', ...options }) {
  if (!HANDLERS.includes(handler)) {
    throw new MutexError(
      'MUTEX_ARGUMENT',
      `handler ${handler}: must be one of ${HANDLERS.join(', ')}`,
    );
  }
  const adapter = adaptClient(client);
  if (adapter.dedicate === null) requireHashTag(prefix);
  const channel = `${prefix}released`;
  const clock = options.clock ?? MONOTONIC_CLOCK;
  try {
    const made =
      handler === 'script'
        ? createScriptHandler(adapter, { channel })
        : await createPureHandler(adapter, { channel, clock });
    const locker = new Locker({ ...options, handler: made, prefix, clock });
    await locker.listen(adapter, channel);
    return locker;
  } catch (error) {
    if (error instanceof MutexError) throw error;
    throw new MutexError(
      'MUTEX_CONNECTION',
      `cannot connect to the lock server: ${error.message}`,
      error,
    );
  }
}
