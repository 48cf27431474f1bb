/**
 * Namespaces of every workload on real servers: data that Dragstrip did not create
 * are refused and stay unchanged, leftovers of a killed run are taken over, and only Dragstrip's
 * data are removed.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openNamespace } from '../../data/namespaces/index.js';
import { WORKLOADS } from '../../workloads/index.js';
import { spawnClaimer } from '../helpers/claim-and-die.js';
import { openRedis, openSql } from '../helpers/own-clients.js';
import { withServers } from '../helpers/servers.js';

const CLAIM_AND_DIE = fileURLToPath(new URL('../helpers/claim-and-die.js', import.meta.url));

/** @typedef {import('../../lib/types.js').Namespace} Namespace */

/** @type {Namespace[]} */
const namespaces = [];
for (const name of ['insert', 'mutex', 'commands', 'mget']) {
  const { workload } = await WORKLOADS[name].load();
  namespaces.push(/** @type {Namespace} */ (workload.namespace));
}

/**
 * @typedef {object} Store contents of one server, seen by a driver that namespaces do not use
 * @property {(namespace: any, n: number) => Promise<unknown>} write writes something into it
 * @property {(namespace: any) => Promise<number>} count number of its entries
 * @property {(namespace: any) => Promise<boolean>} marked
 * @property {() => Promise<string>} fingerprint fingerprint of all contents
 * @property {() => Promise<unknown>} clear
 * @property {Record<string, { only?: (namespace: any) => boolean,
 *   make: (namespace: any) => Promise<unknown> }>} notOurs data that other programs may have there
 */

describe('namespaces', () => {
  /** @type {(() => unknown)[]} */
  const closing = [];
  // Before the servers stop: hooks of a suite run as written.
  after(async () => {
    for (const close of closing) await close();
  });
  const servers = withServers(['redis', 'mariadb', 'tarantool']);
  /** @type {Record<string, Store>} */
  const stores = {};

  before(async () => {
    const redis = openRedis(servers, { retryStrategy: null });
    const sql = await openSql(servers);
    // @ts-expect-error it ships no types
    const { default: Tarantool } = await import('tarantool-driver');
    const { main } = servers.address('tarantool');
    const tarantool = new Tarantool({
      ...main,
      ...servers.login('tarantool'),
      lazyConnect: true,
      retryStrategy: null,
    });
    await tarantool.connect();
    closing.push(
      () => redis.disconnect(),
      () => sql.end(),
      () => tarantool.disconnect(),
    );
    stores['redis'] = redisStore(redis);
    stores['mariadb'] = mariadbStore(sql);
    stores['tarantool'] = tarantoolStore(tarantool);
  });

  for (const server of ['redis', 'mariadb', 'tarantool']) {
    for (const namespace of namespaces.filter((one) => Object.hasOwn(one, server))) {
      const label = `${namespace.name} on ${server}`;
      const context = () => ({
        address: servers.address(server),
        credentials: servers.credentials(server),
      });

      /**
       * @template T
       * @param {(handle: import('../../lib/types.js').NamespaceHandle) => Promise<T>} work
       */
      const use = async (work) => {
        const handle = await openNamespace(server, namespace, context());
        return work(handle).finally(() => handle.close());
      };
      const claim = () => use((handle) => handle.claim());
      const release = () => use((handle) => handle.release());
      // The loaders create the tables of rows: test/contract/mget.test.js.
      const claims = server !== 'mariadb' || namespace.rows !== true;

      test(`${label}: data that Dragstrip did not create are refused and not changed`, async () => {
        const store = stores[server];
        for (const [title, { only, make }] of Object.entries(store.notOurs)) {
          if (only !== undefined && !only(namespace)) continue;
          await store.clear();
          await make(namespace);
          const before = await store.fingerprint();
          if (claims) {
            await assert.rejects(claim(), (/** @type {any} */ error) => {
              assert.equal(error.code, 'E_REFUSED', `${title}: ${error.message}`);
              assert.match(error.message, /was not created by Dragstrip; nothing was changed$/);
              assert.match(error.hint, new RegExp(`servers start ${server}`));
              return true;
            });
          }
          assert.equal(await release(), 0, title);
          assert.equal(await store.fingerprint(), before, title);
        }
        await store.clear();
      });

      if (!claims) continue;

      test(`${label}: claimed, it is empty and marked; released, nothing is left`, async () => {
        const store = stores[server];
        const before = await store.fingerprint();
        await claim();
        assert.ok(await store.marked(namespace));
        assert.equal(await store.count(namespace), 0);
        await store.write(namespace, 30);
        await release();
        assert.equal(await release(), 0, 'a second time there is nothing');
        assert.equal(await store.fingerprint(), before);
      });

      test(`${label}: data in use by another live run are refused, and stay`, async () => {
        const store = stores[server];
        const before = await store.fingerprint();
        const child = spawnClaimer(CLAIM_AND_DIE, [server, namespace, context(), 'live']);
        try {
          await once(child, 'message');
          await store.write(namespace, 30);
          const used = await store.fingerprint();
          const refusal = {
            code: 'E_REFUSED',
            message: new RegExp(`another run is using .*process ${child.pid} on`),
          };
          await assert.rejects(claim(), refusal);
          await assert.rejects(
            use((handle) => handle.check()),
            refusal,
          );
          assert.equal(await release(), 0);
          assert.equal(await store.fingerprint(), used);
        } finally {
          child.kill('SIGKILL');
          await once(child, 'exit');
        }
        await use((handle) => handle.check());
        await claim();
        await release();
        assert.equal(await store.fingerprint(), before);
      });

      test(`${label}: leftovers of a killed process are taken over and removed`, async () => {
        const store = stores[server];
        const before = await store.fingerprint();
        const child = spawnClaimer(CLAIM_AND_DIE, [server, namespace, context()]);
        const [, signal] = await once(child, 'exit');
        assert.equal(signal, 'SIGKILL');
        assert.ok(await store.marked(namespace), 'nobody could remove it');
        await store.write(namespace, 30);
        await claim();
        assert.equal(await store.count(namespace), 0);
        await release();
        assert.equal(await store.fingerprint(), before);
      });
    }
  }

  test('a claim in a Tarantool of another box.lua, without the space, is refused', async () => {
    const [namespace] = namespaces.filter((own) => Object.hasOwn(own, 'tarantool'));
    const tarantool = { .../** @type {any} */ (namespace).tarantool, space: 'dragstrip_nowhere' };
    const context = {
      address: servers.address('tarantool'),
      credentials: servers.credentials('tarantool'),
    };
    const handle = await openNamespace('tarantool', { ...namespace, tarantool }, context);
    try {
      const message =
        /space dragstrip_nowhere is missing: the server was not started from this box/;
      await assert.rejects(handle.claim(), { code: 'E_TARGET', message });
      assert.equal(await handle.release(), 0);
    } finally {
      await handle.close();
    }
  });

  test('a key written below the prefix by others during a run stays, and is then refused', async () => {
    const redis = stores['redis'];
    await redis.clear();
    const context = {
      address: servers.address('redis'),
      credentials: servers.credentials('redis'),
    };
    for (const namespace of namespaces.filter(({ rows }) => !rows)) {
      const handle = await openNamespace('redis', namespace, context);
      try {
        await handle.claim();
        await redis.write(namespace, 20);
        await redis.notOurs['a key in other words'].make(namespace);
        await handle.release();
        assert.equal(await redis.count(namespace), 1, namespace.name);
        await assert.rejects(handle.claim(), { code: 'E_REFUSED', message: /:theirs exists/ });
        assert.equal(await redis.count(namespace), 1, namespace.name);
      } finally {
        await handle.close();
        await redis.clear();
      }
    }
  });

  test('other namespaces, and other keys beside them, stay', async () => {
    const redis = stores['redis'];
    await redis.clear();
    const context = {
      address: servers.address('redis'),
      credentials: servers.credentials('redis'),
    };
    const handles = await Promise.all(
      namespaces.map((one) => openNamespace('redis', one, context)),
    );
    for (const [i, handle] of handles.entries()) {
      await handle.claim();
      await redis.write(namespaces[i], 20);
    }
    await handles[0].release();
    assert.equal(await redis.count(namespaces[0]), 0);
    for (const one of namespaces.slice(1)) assert.equal(await redis.count(one), 20, one.name);
    for (const handle of handles) {
      await handle.release();
      await handle.close();
    }
    assert.equal(await redis.fingerprint(), JSON.stringify([]));
  });
});

/** Names that runs append to the prefix. @type {Record<string, (i: number) => string>} */
const SUFFIXES = {
  mutex: (i) => `lock:name-${i}`,
  commands: (i) => `key:${String(i).padStart(12, '0')}`,
};

/** @param {ReturnType<typeof openRedis>} redis @returns {Store} */
function redisStore(redis) {
  const keysOf = async (/** @type {Namespace & { redis: any }} */ { redis: { prefix, marker } }) =>
    (await redis.keys(`${prefix}*`)).filter((key) => key !== marker);
  return {
    async write({ name, redis: { prefix, further = [] } }, n) {
      const suffixOf = SUFFIXES[name] ?? String;
      for (let i = 0; i < n; i += 1) await redis.set(`${prefix}${suffixOf(i)}`, 'ours');
      for (const other of further) await redis.set(`${other}${suffixOf(1)}`, 'ours');
    },
    count: async (namespace) => (await keysOf(namespace)).length,
    marked: async ({ redis: { marker } }) => (await redis.exists(marker)) === 1,
    async fingerprint() {
      const keys = (await redis.keys('*')).sort();
      return JSON.stringify(
        await Promise.all(keys.map(async (key) => [key, (await redis.dump(key))?.toString()])),
      );
    },
    clear: () => redis.flushall(),
    notOurs: {
      'a key without a mark': {
        make: ({ redis: { prefix } }) => redis.set(`${prefix}7`, 'theirs'),
      },
      'a key in other words': {
        make: ({ redis: { prefix } }) => redis.set(`${prefix}:theirs`, 'theirs'),
      },
      'a list with a further prefix': {
        only: ({ redis: { further } }) => further !== undefined,
        make: ({ redis: { further } }) => redis.rpush(`${further[0]}x`, 'theirs'),
      },
      'a mark in other words': { make: ({ redis: { marker } }) => redis.set(marker, '{}') },
      'a mark of another type': { make: ({ redis: { marker } }) => redis.rpush(marker, 'theirs') },
      'a mark of a later version': {
        make: ({ redis: { marker } }) => redis.set(marker, '{"owner":"dragstrip","version":2}'),
      },
    },
  };
}

/** @param {import('mysql2/promise').Connection} sql @returns {Store} */
function mariadbStore(sql) {
  /** @param {string} text @returns {Promise<any>} */
  const query = async (text) => (await sql.query(text))[0];
  const nameOf = (/** @type {any} */ { mariadb: { database, table } }) => `${database}.${table}`;
  const plant = (/** @type {string} */ columns) => async (/** @type {any} */ namespace) => {
    await query(`CREATE DATABASE IF NOT EXISTS ${namespace.mariadb.database}`);
    await query(`CREATE TABLE ${nameOf(namespace)} ${columns}`);
    await query(`INSERT INTO ${nameOf(namespace)} VALUES (5)`);
  };
  return {
    async write(namespace, n) {
      for (let i = 1; i <= n; i += 1) {
        await query(`INSERT INTO ${nameOf(namespace)} VALUES ('${i}', ${i})`);
      }
    },
    count: async (namespace) => (await query(`SELECT COUNT(*) n FROM ${nameOf(namespace)}`))[0].n,
    async marked({ mariadb: { table } }) {
      const all = await query(
        'SELECT table_name n, table_comment c FROM information_schema.tables',
      );
      return all.some((/** @type {any} */ { n, c }) => n === table && /"owner"/.test(c));
    },
    async fingerprint() {
      const tables = await query(
        "SELECT table_name n FROM information_schema.tables WHERE table_schema = 'hs_test'",
      );
      const parts = [];
      for (const { n } of tables) {
        const [created] = await query(`SHOW CREATE TABLE hs_test.${n}`);
        parts.push([created, await query(`SELECT * FROM hs_test.${n}`)]);
      }
      return JSON.stringify(parts);
    },
    clear: () => query('DROP DATABASE IF EXISTS hs_test'),
    notOurs: {
      'a table without a comment': { make: plant('(x int)') },
      'a table with a comment of its own': { make: plant("(x int) COMMENT 'dragstrip'") },
      'a view': {
        async make(namespace) {
          await query('CREATE DATABASE IF NOT EXISTS hs_test');
          await query(`CREATE VIEW ${nameOf(namespace)} AS SELECT 1 AS x`);
        },
      },
    },
  };
}

/** @param {any} tarantool @returns {Store} */
function tarantoolStore(tarantool) {
  const spaces = [...namespaces.map(({ tarantool: one }) => one?.space), 'dragstrip_dataset'];
  const all = (/** @type {string} */ space) => tarantool.select(space, 0, 1000, 0, 'all', []);
  const write = async (/** @type {any} */ { tarantool: { space } }, /** @type {number} */ n) => {
    for (let i = 1; i <= n; i += 1) {
      const tuples = /** @type {Record<string, any[]>} */ ({
        dragstrip_insert: [i, i],
        dragstrip_mget: [i, 'text'],
        dragstrip_mutex_locks: [`${i}`, 'somebody', 1, 1e12],
      });
      await tarantool.replace(space, tuples[space]);
    }
  };
  const mark = (/** @type {any} */ namespace, /** @type {any} */ value) =>
    tarantool.replace(namespace.tarantool.marker, [namespace.tarantool.key, value]);
  return {
    write,
    count: async ({ tarantool: { space } }) => (await all(space)).length,
    async marked({ tarantool: { marker, key } }) {
      return (await tarantool.select(marker, 0, 1, 0, 'eq', [key])).length === 1;
    },
    async fingerprint() {
      const found = [];
      for (const space of spaces.filter(Boolean)) {
        found.push([space, (await all(/** @type {string} */ (space))).sort()]);
      }
      return JSON.stringify(found);
    },
    async clear() {
      for (const { tarantool: one } of namespaces) {
        if (one !== undefined) await tarantool.call('dragstrip_reset', one.space);
      }
      await tarantool.delete('dragstrip_mutex_numbers', 0, ['theirs']);
    },
    notOurs: {
      'tuples without a mark': { make: (namespace) => write(namespace, 3) },
      'a number without a mark': {
        only: ({ name }) => name === 'mutex',
        make: () => tarantool.replace('dragstrip_mutex_numbers', ['theirs', 5]),
      },
      'a mark in other words': { make: (namespace) => mark(namespace, { rows: 5 }) },
      'a mark of a later version': {
        make: (namespace) => mark(namespace, '{"owner":"dragstrip","version":2}'),
      },
    },
  };
}
