/** The mutex with both handlers and both drivers on a real Redis. */
// Needs: redis

import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { Redis as Iovalkey } from 'iovalkey';
import { createClient } from 'redis';
import { openRedis } from '../../../../test/helpers/own-clients.js';
import { withServers } from '../../../../test/helpers/servers.js';
import { createLocker, MutexError } from '../../index.js';
import { parseHeld } from '../../pure-handler.js';

const servers = withServers(['redis']);
/** @type {(() => unknown)[]} */
const closing = [];
let count = 0;

// Runs before the servers stop, because a driver that reconnects would not end.
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** @returns {Redis} client of the test itself */
function admin() {
  const redis = openRedis(servers);
  closing.push(() => redis.disconnect());
  return redis;
}

/**
 * @param {string} driver
 * @param {(() => number) | null} [retryStrategy] null: one attempt to connect
 * @returns {Promise<any>}
 */
async function clientOf(driver, retryStrategy = () => 20) {
  const main = { ...servers.address('redis').main, ...servers.login('redis') };
  if (driver !== 'redis') {
    const redis = new (driver === 'ioredis' ? Redis : /** @type {any} */ (Iovalkey))({
      ...main,
      retryStrategy,
    });
    redis.on('error', () => {});
    closing.push(() => redis.disconnect());
    return redis;
  }
  const client = createClient({
    password: main.password,
    socket: { host: main.host, port: main.port, reconnectStrategy: retryStrategy ?? false },
  });
  client.on('error', () => {});
  await client.connect();
  closing.push(() => client.isOpen && client.destroy());
  return client;
}

/**
 * @param {string} driver
 * @param {'script' | 'pure'} handler
 * @param {Partial<import('../../index.js').CreateOptions>} [options]
 */
async function lockerOf(driver, handler, options = {}) {
  const client = options.client ?? (await clientOf(driver));
  const locker = await createLocker({ prefix: 'lock:', ...options, client, handler });
  closing.push(() => locker.close());
  return locker;
}

/** @returns {string} unique in all tests */
function fresh() {
  count += 1;
  return `name-${count}`;
}

/**
 * @param {string} code
 * @returns {(error: unknown) => boolean}
 */
function code(code) {
  return (error) => error instanceof MutexError && error.code === code;
}

for (const driver of ['ioredis', 'iovalkey', 'redis']) {
  for (const handler of /** @type {const} */ (['script', 'pure'])) {
    describe(`${handler} on ${driver}`, () => {
      test('one name: the second waits until it is unlocked', async () => {
        const locker = await lockerOf(driver, handler);
        const name = fresh();
        const [a, b] = [locker.mutex(name), locker.mutex(name)];
        await a.lock();
        assert.equal(await a.owned(), true);
        assert.equal(await b.owned(), false);
        assert.equal(await b.tryLock(), false);
        let got = false;
        const waiting = b.lock().then(() => {
          got = true;
        });
        await sleep(30);
        assert.equal(got, false);
        assert.equal(await a.unlock(), true);
        await waiting;
        assert.equal(await a.owned(), false);
        assert.equal(await a.unlock(), false);
        assert.equal(await b.unlock(), true);
      });

      test('several names are locked all or none', async () => {
        const locker = await lockerOf(driver, handler);
        const other = await lockerOf(driver, handler);
        const [x, y, z] = [fresh(), fresh(), fresh()];
        const held = other.mutex(y);
        await held.lock();
        const all = locker.mutex([x, y, z]);
        assert.equal(await all.tryLock(), false);
        await assert.rejects(all.lock({ blockMs: 40 }), code('MUTEX_TIMEOUT'));
        for (const name of [x, z]) {
          const free = other.mutex(name);
          assert.equal(await free.tryLock(), true, 'what it could not lock whole it left alone');
          await free.unlock();
        }
        const waiting = all.lock();
        await held.unlock();
        await waiting;
        for (const name of [x, y, z]) assert.equal(await other.mutex(name).tryLock(), false);
        assert.equal(await all.refresh(), true);
        assert.equal(await all.unlock(), true);
        assert.equal(await admin().exists(`lock:${x}`, `lock:${y}`, `lock:${z}`), 0);
      });

      test('a lock again by the same owner is a deadlock, here and in another process', async () => {
        const locker = await lockerOf(driver, handler);
        const other = await lockerOf(driver, handler);
        const name = fresh();
        const mutex = locker.mutex(name);
        await mutex.lock();
        await assert.rejects(mutex.lock(), code('MUTEX_DEADLOCK'));
        assert.equal(await mutex.owned(), true, 'and the lock stays what it was');
        await mutex.unlock();
        const first = locker.mutex([name, fresh()], { owner: 'me' });
        await first.lock();
        await assert.rejects(locker.mutex(name, { owner: 'me' }).lock(), code('MUTEX_DEADLOCK'));
        await assert.rejects(other.mutex(name, { owner: 'me' }).lock(), code('MUTEX_DEADLOCK'));
        assert.equal(await other.mutex(name, { owner: 'me' }).tryLock(), false);
        await first.unlock();
      });

      test('a lock expires; later calls report it', async () => {
        const locker = await lockerOf(driver, handler);
        const other = await lockerOf(driver, handler);
        const name = fresh();
        const gone = locker.mutex(name, { expireMs: 80 });
        const far = fresh();
        await locker.mutex(far, { expireMs: 10_000 }).lock();
        const startMs = performance.now();
        await gone.lock();
        const next = other.mutex(name);
        const behind = other.mutex(far).lock({ blockMs: 20_000 });
        behind.catch(() => {}); // closed while waiting
        const first = await Promise.race([next.lock().then(() => name), behind.then(() => far)]);
        assert.ok(performance.now() - startMs >= 79, 'not before its time');
        assert.equal(first, name, 'and before a lock that ends later');
        assert.equal(await gone.owned(), false);
        assert.equal(await gone.refresh(), false);
        assert.equal(await gone.unlock(), false);
        assert.equal(await next.owned(), true, 'a late unlock takes nothing from anybody');
        await next.unlock();
        const alone = locker.mutex(name, { expireMs: 30 });
        await alone.lock();
        await sleep(60);
        assert.equal(await alone.refresh(), false, 'also where nobody has taken it');
      });

      test('a refresh extends its expiry', async () => {
        const locker = await lockerOf(driver, handler);
        const shorter = locker.mutex(fresh(), { expireMs: 60_000 });
        await shorter.lock();
        assert.equal(await shorter.refresh(40), true);
        await sleep(80);
        assert.equal(await shorter.owned(), false);
        const name = fresh();
        const longer = locker.mutex(name, { expireMs: 10_000 });
        await longer.lock();
        const [redis, key] = [admin(), `lock:${name}`];
        const endMs = async () =>
          handler === 'script'
            ? Date.now() + (await redis.pttl(key))
            : Number(parseHeld(await redis.get(key))?.until);
        const before = await endMs();
        assert.equal(await longer.refresh(60_000), true);
        assert.ok((await endMs()) - before > 40_000, 'later than it was');
        assert.deepEqual([await longer.owned(), await longer.unlock()], [true, true]);
      });

      test('a waiter that times out or is aborted leaves nothing behind', async () => {
        const locker = await lockerOf(driver, handler);
        const name = fresh();
        const held = locker.mutex(name);
        await held.lock();
        const startMs = performance.now();
        await assert.rejects(locker.mutex(name).lock({ blockMs: 60 }), code('MUTEX_TIMEOUT'));
        assert.ok(performance.now() - startMs >= 55);
        const { signal } = { signal: AbortSignal.timeout(20) };
        await assert.rejects(locker.mutex(name).lock({ signal }), code('MUTEX_ABORTED'));
        assert.equal(locker.waiting, 0);
        await held.unlock();
        const once = locker.mutex(name, { blockMs: 0 });
        await once.lock();
        await once.unlock();
      });

      test('a waiter that needs another name does not delay later waiters', async () => {
        const locker = await lockerOf(driver, handler);
        const other = await lockerOf(driver, handler);
        const [x, y] = [fresh(), fresh()];
        const held = other.mutex(y);
        await held.lock();
        const both = locker.mutex([x, y]);
        const waiting = both.lock();
        await sleep(20);
        const mutex = locker.mutex(x);
        await mutex.lock({ blockMs: 2000 });
        await mutex.unlock();
        await held.unlock();
        await waiting;
        await both.unlock();
      });

      test('a waiter sends nothing, and is woken immediately', async () => {
        const [here, there] = [await lockerOf(driver, handler), await lockerOf(driver, handler)];
        const redis = admin();
        const processed = async () =>
          Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
        const name = fresh();
        // Waiters woken only by the expiry would wait until the end of the test.
        const how = { expireMs: 3_600_000 };
        const held = here.mutex(name, how);
        await held.lock();
        const order = /** @type {number[]} */ ([]);
        const waiting = Array.from({ length: 20 }, async (_, i) => {
          const mutex = (i % 2 === 0 ? here : there).mutex(name, how);
          await mutex.lock();
          order.push(i);
          await mutex.unlock();
        });
        await sleep(60);
        const before = await processed();
        await sleep(100);
        assert.equal((await processed()) - before, 1, 'the question itself');
        await held.unlock();
        await Promise.all(waiting);
        for (const parity of [0, 1]) {
          const own = order.filter((i) => i % 2 === parity);
          assert.deepEqual(
            own,
            own.toSorted((a, b) => a - b),
            'in the order of arrival',
          );
        }
      });

      test('SCRIPT FLUSH and lost connections in the middle of a run', async () => {
        const redis = admin();
        const name = fresh();
        const lockers = [await lockerOf(driver, handler), await lockerOf(driver, handler)];
        let inside = 0;
        let sections = 0;
        let longestMs = 0;
        let lost = 0;
        const work = async (/** @type {number} */ task) => {
          for (let i = 0; i < 25; i += 1) {
            // Short, because a lost connection leaves names locked.
            const mutex = lockers[task % 2].mutex(name, { expireMs: 400 });
            const startMs = performance.now();
            try {
              await mutex.lock();
              longestMs = Math.max(longestMs, performance.now() - startMs);
              inside += 1;
              assert.equal(inside, 1, 'alone');
              await redis.incr('lock:sections');
              inside -= 1;
              sections += 1;
              await mutex.unlock();
            } catch (error) {
              assert.ok(code('MUTEX_CONNECTION')(error), error);
              lost += 1;
            }
          }
        };
        const tasks = Promise.all([0, 1, 2, 3].map(work));
        for (let i = 0; i < 4; i += 1) {
          await sleep(15);
          await redis.call('SCRIPT', ['FLUSH']);
          if (i === 1) await redis.call('CLIENT', ['KILL', 'TYPE', 'pubsub']);
          if (i === 2) await redis.call('CLIENT', ['KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
        }
        await tasks;
        assert.equal(Number(await redis.get('lock:sections')), sections);
        await redis.del('lock:sections');
        assert.ok(sections >= 100 - lost && lost <= 8, `${sections} sections, ${lost} lost`);
        assert.ok(longestMs < 5000, `somebody waited ${longestMs} ms`);
      });

      test('any sets of names, any tasks: never two holders of one name', async () => {
        const lockers = [await lockerOf(driver, handler), await lockerOf(driver, handler)];
        const names = ['a', 'b', 'c', 'd'].map((letter) => `${fresh()}${letter}`);
        const sets = fc.subarray(names, { minLength: 1 });
        const plans = fc.array(fc.array(sets, { minLength: 1, maxLength: 4 }), {
          minLength: 2,
          maxLength: 6,
        });
        const property = fc.asyncProperty(plans, async (tasks) => {
          const inside = new Set();
          await Promise.all(
            tasks.map(async (steps, task) => {
              for (const set of steps) {
                const mutex = lockers[task % 2].mutex(set, { blockMs: 20_000 });
                await mutex.lock();
                for (const name of set) {
                  assert.equal(inside.has(name), false);
                  inside.add(name);
                }
                await new Promise((resolve) => setImmediate(resolve));
                for (const name of set) inside.delete(name);
                assert.equal(await mutex.unlock(), true);
              }
            }),
          );
          assert.equal(lockers[0].waiting + lockers[1].waiting, 0);
        });
        await fc.assert(property, { numRuns: 15 });
      });
    });
  }

  test(`${driver}: waiters reject when it is closed or lost`, async () => {
    const client = await clientOf(driver, null);
    const locker = await lockerOf(driver, 'script', { client });
    const other = await lockerOf(driver, 'script');
    const name = fresh();
    await other.mutex(name).lock();
    const waiting = assert.rejects(other.mutex(name).lock(), code('MUTEX_CLOSED'));
    const losing = assert.rejects(locker.mutex(name).lock(), code('MUTEX_CONNECTION'));
    await sleep(20);
    await other.close();
    await waiting;
    await assert.rejects(other.mutex(name).lock(), code('MUTEX_CLOSED'));
    const redis = admin();
    await redis.call('CLIENT', ['KILL', 'TYPE', 'pubsub']);
    await losing;
    await assert.rejects(locker.mutex(name).lock(), code('MUTEX_CONNECTION'));
  });
}

test('invalid clients, names and times are refused before anything is sent', async () => {
  await assert.rejects(createLocker({ client: {} }), code('MUTEX_ARGUMENT'));
  const client = await clientOf('ioredis');
  await assert.rejects(
    createLocker({ client, handler: /** @type {any} */ ('none') }),
    code('MUTEX_ARGUMENT'),
  );
  const locker = await lockerOf('ioredis', 'script', { client });
  for (const names of [[], '', ['a', ''], ['a', 'a'], null, [1]]) {
    assert.throws(() => locker.mutex(/** @type {any} */ (names)), code('MUTEX_ARGUMENT'));
  }
  for (const options of [{ expireMs: 0 }, { expireMs: 1.5 }, { blockMs: -1 }, { owner: '' }]) {
    assert.throws(() => locker.mutex('a', options), code('MUTEX_ARGUMENT'));
  }
  await assert.rejects(locker.mutex('a').run(/** @type {any} */ (1)), code('MUTEX_ARGUMENT'));
});
