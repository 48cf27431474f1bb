/**
 * A storage that is correct by default and cheats with its profiles: replies that did not come from
 * its server, or hidden work. The counts of the server must detect each.
 */

import { defineStorage } from '../../lib/define.js';
import { storage as ioredis } from '../../storages/ioredis.js';

/** @typedef {(id: number) => Promise<any>} Get */
/** @typedef {{ get: Get, mget: (ids: number[]) => Promise<any[]>, make: (id: number) => string,
 *   ask: import('ioredis').Redis }} Honest */

/** @type {Record<string, (honest: Honest) => Get>} */
const CHEATS = {
  default: ({ get }) => get,
  computes: ({ get, make }) => everyNth(50, get, async (id) => make(id)),
  invents: ({ get, make }) => everyNth(20, async (id) => make(id), get),
  caches({ get }) {
    /** @type {Map<number, any>} */
    const cache = new Map();
    return async (id) => {
      if (!cache.has(id)) cache.set(id, await get(id));
      return cache.get(id);
    };
  },
  coalesces({ get }) {
    /** @type {Map<number, Promise<any>>} */
    const pending = new Map();
    return (id) => {
      const known = pending.get(id);
      if (known !== undefined) return known;
      const asked = get(id).finally(() => pending.delete(id));
      pending.set(id, asked);
      return asked;
    };
  },
  early({ get, make }) {
    return async (id) => {
      get(id).catch(() => {});
      return make(id);
    };
  },
  hasty({ get, make }) {
    return (id) => {
      get(id).catch(() => {});
      return new Promise((resolve) => setImmediate(() => resolve(make(id))));
    };
  },
  // Correct: one command reads the keys of all requests of a tick.
  batches({ mget }) {
    /** @type {{ id: number, resolve: (reply: any) => void, reject: (error: any) => void }[]} */
    let batch = [];
    const send = async () => {
      const own = batch;
      batch = [];
      try {
        const replies = await mget(own.map(({ id }) => id));
        for (const [i, { resolve }] of own.entries()) resolve(replies[i]);
      } catch (error) {
        for (const { reject } of own) reject(error);
      }
    };
    return (id) =>
      new Promise((resolve, reject) => {
        if (batch.length === 0) setImmediate(send);
        batch.push({ id, resolve, reject });
      });
  },
  // Sends a command with a hidden error reply first.
  retries({ get, ask }) {
    return everyNth(
      10,
      (id) =>
        ask.call('incr', 'no', 'key').then(
          () => '',
          () => get(id),
        ),
      get,
    );
  },
  repeats({ get }) {
    return everyNth(10, async (id) => [await get(id), await get(id)][1], get);
  },
  // Correct, but fetches each row twice.
  doubles:
    ({ get }) =>
    (id) =>
      get(id).then(() => get(id)),
  // With the delay of a server.
  swallows:
    ({ get, make }) =>
    (id) =>
      get(id).catch(async () => {
        await new Promise(setImmediate);
        return make(id);
      }),
};

/**
 * @param {number} n
 * @param {Get} nth
 * @param {Get} others
 * @returns {Get}
 */
function everyNth(n, nth, others) {
  let calls = 0;
  return (id) => ((calls += 1) % n === 0 ? nth(id) : others(id));
}

export const storage = defineStorage({
  name: 'cheat',
  summary: 'ioredis, which cheats by its profile',
  package: 'ioredis',
  server: 'redis',
  profiles: Object.fromEntries(
    Object.keys(CHEATS).map((name) => [name, { summary: name, options: { cheat: name } }]),
  ),
  async open(context) {
    const { dataset, profile } = context;
    const name = String(profile.options['cheat']);
    const { Redis } = await import('ioredis');
    const { default: plain } = ioredis.profiles;
    const rows = /** @type {NonNullable<typeof ioredis.open.rows>} */ (ioredis.open.rows);
    const handle = await rows({ ...context, profile: { name: 'default', ...plain } });
    const { main } = /** @type {any} */ (context.address);
    const ask = new Redis({ ...main, password: context.credentials.password });
    ask.on('error', () => {});
    const get = /** @type {Get} */ (handle.get);
    const mget = /** @type {Honest['mget']} */ (/** @type {unknown} */ (handle.mget));
    return {
      ...handle,
      get: CHEATS[name]({ get, mget, make: (id) => dataset.value(id), ask }),
      async close() {
        ask.disconnect();
        await handle.close();
      },
    };
  },
});
