/**
 * The locks of redis-em-mutex 0.1.2 and 0.2.3, which differ in how several names are unlocked: all
 * by one WATCH, MGET, MULTI, DEL, PUBLISH, EXEC, or one sequence per name. Compared with
 * Dragstrip's:
 *
 *   npx dragstrip mutex --handlers ./examples/old-mutex.js,pure,script --storages ioredis
 */

import { defineStorage } from 'dragstrip';
import { Redis } from 'ioredis';

/** The original benchmark has a connection for each of its ten tasks. */
const POOL = 10;
// A lost server is visible, because there are no retries.
const options = { protocol: 2, retryStrategy: null, autoResendUnfulfilledCommands: false };

/** @typedef {InstanceType<typeof Redis>} Connection */

export default defineStorage({
  name: 'old-mutex',
  summary: 'redis-em-mutex 0.1.2 and 0.2.3 on ioredis',
  package: 'ioredis',
  server: 'redis',
  profiles: { default: { summary: `a pool of ${POOL} connections`, options } },
  locks: {
    '0.1.2': { summary: 'unlocks all names by one WATCH', several: true, options: {} },
    '0.2.3': { summary: 'unlocks each name by its own WATCH', several: true, options: {} },
  },
  open: {
    async lock({ address, credentials, names, parameters, profile }) {
      const { user: username, password } = credentials;
      const place = { ...address['main'], username, password, lazyConnect: true };
      const connections = Array.from({ length: POOL + 2 }, () => {
        const redis = new Redis({ ...profile.options, ...place });
        return redis.on('error', () => {}); // outstanding requests reject
      });
      await Promise.all(connections.map((redis) => redis.connect()));
      const [watcher, numbers, ...pool] = connections;
      const shared = new Shared(pool, `${names.redisLock}released`);
      watcher.on('message', (_channel, message) => shared.wake(JSON.parse(message)));
      await watcher.subscribe(shared.channel);
      const unlock = parameters?.['handler'] === '0.2.3' ? unlockEach : unlockTogether;
      const key = (/** @type {string} */ name) => names.redisNumber + name;
      return {
        mutex: (list, how) =>
          new OldMutex(shared, {
            keys: list.map((name) => names.redisLock + name),
            unlock,
            ...how,
          }),
        number: {
          set: (name, value) => numbers.set(key(name), value),
          increment: (name) => numbers.incr(key(name)),
          async get(name) {
            const text = await numbers.get(key(name));
            return text === null ? undefined : Number(text);
          },
          remove: (name) => numbers.del(key(name)),
        },
        async close() {
          for (const redis of connections) redis.disconnect();
        },
      };
    },
  },
});

/** Shared by the locks of a process: connections, and waiters by name. */
class Shared {
  /** @type {((redis: Connection) => void)[]} */
  #takers = [];
  /** @type {Map<string, Waiter[]>} */
  queues = new Map();

  /** @param {Connection[]} idle @param {string} channel */
  constructor(idle, channel) {
    this.idle = idle;
    this.channel = channel;
  }

  /**
   * @template T
   * @param {(redis: Connection) => Promise<T>} work called with a separate connection
   * @returns {Promise<T>}
   */
  async use(work) {
    const redis =
      this.idle.pop() ??
      (await new Promise((/** @type {(redis: Connection) => void} */ resolve) => {
        this.#takers.push(resolve);
      }));
    try {
      return await work(redis);
    } finally {
      const next = this.#takers.shift();
      if (next === undefined) this.idle.push(redis);
      else next(redis);
    }
  }

  /** @param {readonly string[]} keys released keys; the first waiter of each tries again */
  wake(keys) {
    for (const waiter of new Set(keys.map((key) => this.queues.get(key)?.[0]))) waiter?.wake();
  }
}

/** A call of lock that waits for its names. */
class Waiter {
  isWoken = false;
  #end = () => {};

  wake() {
    this.isWoken = true;
    this.#end();
  }

  /** @param {number} ms maximum @returns {Promise<void>} */
  sleep(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, 2 ** 31 - 1));
      this.#end = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * @typedef {(redis: Connection, keys: string[], value: string, channel: string) =>
 *   Promise<boolean>} Unlock
 */

/** 0.1.2. @type {Unlock} */
async function unlockTogether(redis, keys, value, channel) {
  await redis.watch(...keys);
  const values = await redis.mget(...keys);
  if (values.every((one) => one === value)) return release(redis, keys, channel);
  await redis.unwatch();
  return false;
}

/** 0.2.3. @type {Unlock} */
async function unlockEach(redis, keys, value, channel) {
  let left = keys.length;
  for (const key of keys) {
    await redis.watch(key);
    if ((await redis.get(key)) !== value) await redis.unwatch();
    else if (await release(redis, [key], channel)) left -= 1;
  }
  return left === 0;
}

/** @param {Connection} redis @param {string[]} keys @param {string} channel */
async function release(redis, keys, channel) {
  const message = JSON.stringify(keys);
  return (
    (await redis
      .multi()
      .del(...keys)
      .publish(channel, message)
      .exec()) !== null
  );
}

let owners = 0;

/** A key holds `OWNER UNTIL`, with UNTIL by the client's clock, as in the original. */
class OldMutex {
  #owner = `${process.pid}@${(owners += 1)}`;
  /** @type {string | null} values of its keys */
  #value = null;

  /**
   * @param {Shared} shared
   * @param {{ keys: string[], unlock: Unlock, expireMs: number, blockMs: number }} how
   */
  constructor(shared, { keys, unlock, expireMs, blockMs }) {
    this.shared = shared;
    this.keys = keys;
    this.release = unlock;
    this.expireMs = expireMs;
    this.blockMs = blockMs;
  }

  #newValue() {
    return `${this.#owner} ${Date.now() + this.expireMs}`;
  }

  async tryLock() {
    const value = this.#newValue();
    const pairs = this.keys.flatMap((key) => [key, value]);
    const done = await this.shared.use((redis) =>
      this.keys.length === 1 ? redis.setnx(this.keys[0], value) : redis.msetnx(...pairs),
    );
    if (done === 1) this.#value = value;
    return done === 1;
  }

  async lock() {
    const { queues } = this.shared;
    const waiter = new Waiter();
    const endMs = Date.now() + this.blockMs;
    for (const key of this.keys) queues.set(key, [...(queues.get(key) ?? []), waiter]);
    try {
      while (!(await this.tryLock())) {
        const untilMs = await this.#breakExpired();
        const leftMs = Math.min(untilMs, endMs) - Date.now();
        if (!waiter.isWoken && leftMs > 0) await waiter.sleep(leftMs);
        const nowMs = Date.now();
        if (!waiter.isWoken && nowMs >= endMs && nowMs <= untilMs) {
          throw mutexError('MUTEX_TIMEOUT', `${this.keys}: not acquired within ${this.blockMs} ms`);
        }
        waiter.isWoken = false;
      }
    } finally {
      for (const key of this.keys) {
        const rest = (queues.get(key) ?? []).filter((one) => one !== waiter);
        if (rest.length > 0) queues.set(key, rest);
        else queues.delete(key);
      }
    }
  }

  /** @returns {Promise<number>} expiry of the first of its keys; 0: none is held */
  #breakExpired() {
    const { keys, shared } = this;
    return shared.use(async (redis) => {
      await redis.watch(...keys);
      const values = await redis.mget(...keys);
      const nowMs = Date.now();
      const until = values.map((value) => (value === null ? null : Number(value.split(' ')[1])));
      const expired = keys.filter((_, i) => until[i] !== null && Number(until[i]) < nowMs);
      if (expired.length > 0) await release(redis, expired, shared.channel);
      else await redis.unwatch();
      if (values.some((value) => value?.startsWith(`${this.#owner} `))) {
        throw mutexError('MUTEX_DEADLOCK', `${keys}: locked by the same owner`);
      }
      const held = until.filter((one) => one !== null);
      return held.length === 0 ? 0 : Math.min(...held);
    });
  }

  async unlock() {
    const value = this.#value;
    this.#value = null;
    if (value === null) return false;
    const { keys, shared } = this;
    return shared.use((redis) => this.release(redis, keys, value, shared.channel));
  }

  async refresh() {
    const { keys, shared } = this;
    const value = this.#newValue();
    return shared.use(async (redis) => {
      await redis.watch(...keys);
      if (!(await holds(redis, keys, this.#value))) {
        await redis.unwatch();
        return false;
      }
      const pairs = keys.flatMap((key) => [key, value]);
      const done =
        (await redis
          .multi()
          .mset(...pairs)
          .exec()) !== null;
      if (done) this.#value = value;
      return done;
    });
  }

  async owned() {
    return this.shared.use((redis) => holds(redis, this.keys, this.#value));
  }
}

/** @param {Connection} redis @param {string[]} keys @param {string | null} value */
async function holds(redis, keys, value) {
  if (value === null) return false;
  return (await redis.mget(...keys)).every((one) => one === value);
}

/** @param {string} code @param {string} message */
function mutexError(code, message) {
  return Object.assign(new Error(`lock ${message}`), { code });
}
