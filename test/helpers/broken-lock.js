/**
 * An intentionally broken lock with a common mistake: it checks the key and then sets it, in two
 * steps. A client that checks in between gets the lock too. `stress` must detect it.
 */

import { defineStorage } from '../../lib/define.js';
import { openIoredisLocks } from '../../storages/locks/redis.js';

/** @typedef {import('../../lib/types.js').DistributedLock} DistributedLock */

export const storage = defineStorage({
  name: 'broken',
  summary: 'looks, and then locks',
  package: 'ioredis',
  server: 'redis',
  profiles: { default: { summary: 'ioredis', options: { retryStrategy: null } } },
  locks: { broken: { summary: 'GET, then SET', several: true, options: {} } },
  open: {
    async lock(context) {
      const { Redis } = await import('ioredis');
      const locks = await openIoredisLocks({ ...context, parameters: { handler: 'script' } });
      const redis = new Redis({
        .../** @type {any} */ (context.address['main']),
        password: context.credentials.password,
      });
      const { redisLock } = context.names;
      return {
        ...locks,
        mutex: ([name]) => new BrokenLock(redis, redisLock + name),
        async close() {
          redis.disconnect();
          await locks.close();
        },
      };
    },
  },
});

/** @implements {DistributedLock} */
class BrokenLock {
  /**
   * @param {import('ioredis').Redis} redis
   * @param {string} key
   */
  constructor(redis, key) {
    this.redis = redis;
    this.key = key;
  }

  async tryLock() {
    if ((await this.redis.get(this.key)) !== null) return false;
    await this.redis.set(this.key, 'locked', 'PX', 500);
    return true;
  }

  async lock() {
    while (!(await this.tryLock())) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  async unlock() {
    return (await this.redis.del(this.key)) === 1;
  }

  async refresh() {
    return true;
  }

  async owned() {
    return true;
  }
}
