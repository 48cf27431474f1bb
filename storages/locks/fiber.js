/**
 * Locks in Tarantool: functions of box.lua store them in a space, and a waiter is a fiber. A lock
 * ends by its expiry or with its connection, whichever is first.
 */

import { targetError } from '../../lib/errors.js';
import { commandError, MutexError, timedOut } from '../../packages/mutex/mutex-error.js';
import { createCork } from '../connection.js';

/** @typedef {import('../../lib/types.js').Locks} Locks */
/** @typedef {import('../../lib/types.js').LockHandler} LockHandler */
/** @typedef {import('../../lib/types.js').DistributedLock} DistributedLock */

/** @type {Readonly<Record<string, LockHandler>>} */
export const TARANTOOL_LOCKS = Object.freeze({
  fiber: {
    summary: 'functions of box.lua: a space of locks, a waiter is a fiber in the server',
    several: true,
    options: { expiry: 'or the end of the connection' },
  },
});

/** Seconds that stand for no limit. */
const FOREVER_S = 31_536_000;

/**
 * @param {any} connection connection of tarantool-driver
 * @returns {Promise<Omit<Locks, 'close'>>}
 */
export async function openFiberLocks(connection) {
  // The driver calls as of 1.6: each returned value is a separate tuple.
  const cork = createCork(connection.socket);
  /** @param {any[]} words */
  const call = async (...words) => {
    cork();
    return (await connection.call(...words))[0]?.[0];
  };
  try {
    await call('dragstrip_mutex_ready');
  } catch (error) {
    throw targetError(
      `tarantool: box.lua’s lock functions are missing (${error.message})`,
      'start it with the box.lua of this version: npx dragstrip servers start tarantool',
    );
  }
  return {
    mutex: (names, options) => new FiberLock(call, names, options),
    number: {
      set: (name, value) => call('dragstrip_mutex_set', name, value),
      increment: (name) => call('dragstrip_mutex_increment', name),
      async get(name) {
        return (await call('dragstrip_mutex_get', name)) ?? undefined;
      },
      remove: (name) => call('dragstrip_mutex_remove', name),
    },
  };
}

let count = 0;

/** @implements {DistributedLock} */
class FiberLock {
  /**
   * @param {(...words: any[]) => Promise<any>} call
   * @param {readonly string[]} names
   * @param {{ owner?: string, expireMs: number, blockMs: number }} options
   */
  constructor(call, names, { owner, expireMs, blockMs }) {
    count += 1;
    this.call = call;
    this.names = names;
    // The session identifies this process as the owner.
    this.owner = owner ?? String(count);
    this.expireMs = expireMs;
    this.blockMs = blockMs;
  }

  async lock() {
    const seconds = this.blockMs === Number.POSITIVE_INFINITY ? FOREVER_S : this.blockMs / 1000;
    const got = await this.#take(seconds, 'lock');
    const names = this.names.join(', ');
    if (got === 'deadlock') {
      throw new MutexError(
        'MUTEX_DEADLOCK',
        `lock ${names}: its owner already holds one of these names`,
      );
    }
    if (got !== 'locked') throw timedOut(names, this.blockMs);
  }

  async tryLock() {
    return (await this.#take(0, 'lock')) === 'locked';
  }

  /**
   * @param {number} seconds
   * @param {string} what
   */
  #take(seconds, what) {
    return this.#told(what, 'dragstrip_mutex_lock', seconds, this.expireMs / 1000);
  }

  unlock() {
    return this.#told('unlock', 'dragstrip_mutex_unlock');
  }

  refresh() {
    return this.#told('refresh', 'dragstrip_mutex_refresh', this.expireMs / 1000);
  }

  owned() {
    return this.#told('owned', 'dragstrip_mutex_owned');
  }

  /**
   * @param {string} what
   * @param {string} name name of the function
   * @param {...number} rest
   */
  async #told(what, name, ...rest) {
    try {
      return await this.call(name, this.names, this.owner, ...rest);
    } catch (error) {
      throw commandError(error, `${what} ${this.names.join(', ')}`);
    }
  }
}
