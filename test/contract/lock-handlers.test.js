/** Every kind of lock of the harness, built-in or not, by the interface that they share. */
// Needs: redis, mariadb, tarantool, redis-cluster

import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createDataset } from '../../lib/dataset.js';
import { namesOf } from '../../lib/namespace.js';
import { loadStorage } from '../../storages/index.js';
import { namespace } from '../../workloads/mutex/namespace.js';
import { claimOn } from '../helpers/namespaces.js';
import { openRedis } from '../helpers/own-clients.js';
import { withServers } from '../helpers/servers.js';

const OLD_MUTEX = fileURLToPath(new URL('../../examples/old-mutex.js', import.meta.url));
const KINDS = /** @type {const} */ ([
  [OLD_MUTEX, '0.1.2'],
  [OLD_MUTEX, '0.2.3'],
  ['ioredis', 'script'],
  ['ioredis', 'pure'],
  ['ioredis', 'redlock'],
  ['ioredis', 'redis-semaphore'],
  ['iovalkey', 'script'],
  ['iovalkey', 'pure'],
  ['iovalkey', 'redlock'],
  ['iovalkey', 'redis-semaphore'],
  ['redis', 'script'],
  ['redis', 'pure'],
  ['mysql2', 'get-lock'],
  ['mariadb', 'get-lock'],
  ['mysql', 'get-lock'],
  ['tarantool', 'fiber'],
  ['ioredis-cluster', 'script'],
  ['ioredis-cluster', 'redlock'],
  ['ioredis-cluster', 'redis-semaphore'],
  ['iovalkey-cluster', 'script'],
  ['iovalkey-cluster', 'redlock'],
  ['iovalkey-cluster', 'redis-semaphore'],
  ['redis-cluster', 'script'],
]);
const SERVERS = /** @type {const} */ (['redis', 'mariadb', 'tarantool', 'redis-cluster']);
const OPTIONS = { expireMs: 20_000, blockMs: 60 };

describe('kinds of lock', () => {
  const servers = withServers(SERVERS);
  /** @type {(() => Promise<void>) | undefined} */
  let release;

  before(async () => {
    const all = SERVERS.map((name) => ({
      name,
      address: servers.address(name),
      credentials: servers.credentials(name),
    }));
    release = await claimOn(all, namespace);
  });

  /**
   * @param {string} storage
   * @param {string} handler
   */
  async function open(storage, handler) {
    const definition = await loadStorage(storage);
    const locks = await definition.open.lock?.({
      address: servers.address(definition.server ?? ''),
      credentials: definition.server === null ? {} : servers.credentials(definition.server),
      profile: { name: 'default', ...definition.profiles['default'] },
      dataset: createDataset(),
      folder: '',
      names: namesOf(namespace),
      parameters: { handler, retryMs: 20 },
    });
    const several = definition.locks?.[handler].several === true;
    assert.ok(locks !== undefined);
    return { several, locks };
  }

  for (const [storage, handler] of KINDS) {
    const name = path.basename(storage);
    test(`${name} ${handler}: one at a time, a timeout, several names or none`, async () => {
      const { several, locks } = await open(storage, handler);
      const { locks: others } = await open(storage, handler);
      try {
        const mine = locks.mutex(['a'], OPTIONS);
        const theirs = others.mutex(['a'], OPTIONS);
        await mine.lock();
        assert.equal(await theirs.tryLock(), false);
        await assert.rejects(theirs.lock(), { code: 'MUTEX_TIMEOUT' });
        assert.equal(await theirs.unlock(), false, 'what it has not locked');
        assert.equal(await mine.unlock(), true);
        assert.equal(await mine.unlock(), false);
        assert.equal(await theirs.tryLock(), true);
        if (several) {
          await assert.rejects(locks.mutex(['b', 'a', 'c'], OPTIONS).lock(), {
            code: 'MUTEX_TIMEOUT',
          });
          for (const name of ['b', 'c']) {
            const free = others.mutex([name], OPTIONS);
            assert.equal(await free.tryLock(), true, name);
            await free.unlock();
          }
        }
        assert.equal(await theirs.unlock(), true);
        const all = locks.mutex(several ? ['a', 'b', 'c'] : ['a'], OPTIONS);
        await all.lock();
        if (handler !== 'redis-semaphore') assert.equal(await all.refresh(), true);
        if (handler !== 'redlock') assert.equal(await all.owned(), true);
        assert.equal(await all.unlock(), true);
        const { number } = locks;
        await number.set('n', 41);
        assert.equal(await number.increment('n'), 42);
        assert.equal(await number.get('n'), 42);
        await number.remove('n');
        assert.equal(await number.get('n'), undefined);
      } finally {
        await locks.close();
        await others.close();
      }
    });
  }

  for (const [storage, handler] of /** @type {const} */ ([
    ['mysql2', 'get-lock'],
    ['tarantool', 'fiber'],
  ])) {
    test(`${storage} ${handler}: a lock ends with its connection; again is a deadlock`, async () => {
      const { locks } = await open(storage, handler);
      const { locks: others } = await open(storage, handler);
      try {
        const lost = locks.mutex(['d'], OPTIONS);
        await lost.lock();
        await assert.rejects(lost.lock(), { code: 'MUTEX_DEADLOCK' });
        const waiting = others.mutex(['d'], { ...OPTIONS, blockMs: 5000 }).lock();
        await locks.close();
        await waiting;
      } finally {
        await others.close();
      }
    });
  }

  for (const [handler, calls] of /** @type {const} */ ([
    ['0.1.2', { msetnx: 1, watch: 1, mget: 1, get: 0, exec: 1, del: 1, publish: 1 }],
    ['0.2.3', { msetnx: 1, watch: 3, mget: 0, get: 3, exec: 3, del: 3, publish: 3 }],
  ])) {
    test(`old-mutex.js ${handler} unlocks three names as redis-em-mutex ${handler} does`, async () => {
      const { locks } = await open(OLD_MUTEX, handler);
      const redis = openRedis(servers);
      try {
        const mutex = locks.mutex(['x', 'y', 'z'], OPTIONS);
        await redis.config('RESETSTAT');
        await mutex.lock();
        assert.equal(await mutex.unlock(), true);
        const stats = await redis.info('commandstats');
        const counts = Object.keys(calls).map((name) => [
          name,
          Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
        ]);
        assert.deepEqual(Object.fromEntries(counts), calls);
      } finally {
        redis.disconnect();
        await locks.close();
      }
    });
  }

  test('old-mutex.js: an expired lock is taken over by a waiter', async () => {
    const { locks } = await open(OLD_MUTEX, '0.1.2');
    try {
      const dead = locks.mutex(['e'], { expireMs: 30, blockMs: 0 });
      await dead.lock();
      const next = locks.mutex(['e'], { expireMs: 20_000, blockMs: Number.POSITIVE_INFINITY });
      await next.lock();
      assert.equal(await dead.unlock(), false);
      assert.equal(await next.unlock(), true);
    } finally {
      await locks.close();
    }
  });

  test('claimed data are removed', async () => {
    await release?.();
    const { locks } = await open('ioredis', 'script');
    const redis = openRedis(servers);
    assert.deepEqual(await redis.keys('*'), []);
    redis.disconnect();
    assert.equal(await locks.number.get('n'), undefined);
    await locks.close();
    await assert.rejects(open('mysql2', 'get-lock'), { code: 'E_TARGET' });
  });
});
