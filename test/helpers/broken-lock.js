/**
 * A lock that is broken on purpose, as beginners write it: it looks whether the key is there, and
 * then sets it, in two steps. Whoever looks in between gets in too. `stress` has to catch it.
 */

import { fileURLToPath } from 'node:url';
import { defineStorage } from '../../lib/define.js';
import { LOCK_PLACES } from '../../lib/lock-places.js';
import { openIoredisLocks } from '../../storages/locks/open.js';

/** @typedef {import('../../lib/types.js').DistributedLock} DistributedLock */

export const storage = defineStorage({
  name: 'broken',
  summary: 'looks, and then locks',
  package: 'ioredis',
  server: 'redis',
  capabilities: ['lock'],
  profiles: { default: { summary: 'ioredis', options: { retryStrategy: null } } },
  locks: { broken: { summary: 'GET, then SET', several: true, options: {} } },
  async open(context) {
    const { Redis } = await import('ioredis');
    const handle = await openIoredisLocks({ ...context, parameters: { handler: 'script' } });
    const redis = new Redis({ .../** @type {any} */ (context.address['main']) });
    const locks = /** @type {import('../../lib/types.js').Locks} */ (handle.locks);
    const origin = {
      ...locks.origin,
      storage: fileURLToPath(import.meta.url),
      parameters: context.parameters ?? {},
    };
    return {
      ...handle,
      locks: { ...locks, origin, mutex: ([name]) => new BrokenLock(redis, name) },
      async close() {
        redis.disconnect();
        await handle.close();
      },
    };
  },
});

/** @implements {DistributedLock} */
class BrokenLock {
  /**
   * @param {import('ioredis').Redis} redis
   * @param {string} name
   */
  constructor(redis, name) {
    this.redis = redis;
    this.key = LOCK_PLACES.redisLock + name;
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
