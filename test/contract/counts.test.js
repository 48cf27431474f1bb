/**
 * Counts of servers against operations of drivers: exactly equal, whatever
 * the driver, its pipeline or its pool. Another process has another identity.
 */
// Needs: redis, mariadb, tarantool, nutcracker, redis-cluster

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openAdmin } from '../../bench/login.js';
import { TarantoolConnection } from '../../data/connections/tarantool.js';
import { openCounter } from '../../data/counts/index.js';
import { parseCount } from '../../data/counts/redis.js';
import { getLoader } from '../../data/loaders/index.js';
import { createDataset, ROW_NAMES } from '../../lib/dataset.js';
import { promised } from '../../lib/promised.js';
import { freePorts } from '../../servers/daemon.js';
import { launch } from '../../servers/process.js';
import { loadServer } from '../../servers/registry.js';
import { CLUSTER, callerOf, moveKey, rangesOf } from '../helpers/cluster.js';
import { eventually } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { openRedis, openSql } from '../helpers/own-clients.js';
import { redisAnswers, startRedis } from '../helpers/own-redis.js';
import { rememberProcess } from '../helpers/restart.js';
import { PACKAGES_HOME, withServers } from '../helpers/servers.js';
import { casesOf, closedLoop, listCases, openRows, reader } from '../helpers/storage-cases.js';

/** @typedef {import('../../data/counts/index.js').Counter} Counter */
/** @typedef {import('../../data/counts/index.js').ServerCount} ServerCount */

const SERVERS = /** @type {const} */ (['redis', CLUSTER, 'mariadb', 'tarantool']);
const OPERATIONS = 600;
const dataset = createDataset({ rows: 200, valueSize: 200, seed: 11 });
const BOX = fileURLToPath(new URL('../../box.lua', import.meta.url));
/** Ids of rows that are not in the dataset. */
const NEW_IDS = [901, 902, 903, 904, 905];
const ids = Array.from({ length: 20 }, (_, i) => 1 + 7 * i);
const cases = await listCases();

describe('counts', () => {
  /** @type {number[]} pids of servers that a test has restarted */
  const restarted = [];
  after(() => {
    for (const pid of restarted) process.kill(pid, 'SIGKILL'); // before their folder is removed
  });
  const servers = withServers(SERVERS);
  const contextOf = (/** @type {string} */ server) => ({
    address: servers.address(server),
    credentials: servers.credentials(server),
  });

  /**
   * @param {string} server
   * @param {() => Promise<unknown>} work
   * @returns {Promise<{ operations: number, errors: number | null }>} counted meanwhile
   */
  async function countOf(server, work) {
    const counter = await openCounter(server, contextOf(server));
    assert.ok(counter);
    try {
      const start = await counter.read();
      await work();
      const end = await counter.read();
      assert.equal(end.identity, start.identity);
      return {
        operations: Number(end.operations) - Number(start.operations),
        errors: end.errors === null ? null : end.errors - Number(start.errors),
      };
    } finally {
      counter.close();
    }
  }

  before(async () => {
    for (const server of SERVERS) {
      const { seed } = await getLoader(server);
      await seed({ ...contextOf(server), dataset });
    }
  });

  test('a server of another kind has no count', async () => {
    assert.equal(await openCounter('nutcracker', { address: {}, credentials: {} }), null);
  });

  for (const { label, definition, profile, skip } of cases) {
    const { server } = definition;
    if (server === null || !SERVERS.some((name) => name === server)) continue;

    test(`${label}: each read and write is one operation, in sequence, in flight and on new connections`, {
      skip,
    }, async () => {
      const open = () =>
        openRows(definition, { ...contextOf(server), profile, dataset, writes: true });
      let handle = await open();
      try {
        for (const depth of [1, 300]) {
          const read = reader(handle, profile);
          await closedLoop(read, { ops: 300, depth, rows: dataset.rows }, () => {}); // statements
          const rows = 2 * dataset.rows; // every second one is a miss
          const { operations, errors } = await countOf(server, () =>
            closedLoop(read, { ops: OPERATIONS, depth, rows }, () => {}),
          );
          assert.equal(operations, OPERATIONS, `${depth} in flight`);
          assert.ok(errors === 0 || errors === null);
        }
        const calls = profile.calls ?? 'promise';
        const { set, mget } = handle;
        if (set !== undefined) {
          const write = (/** @type {number} */ id) =>
            promised(calls, (done) => set(id, dataset.value(id), done));
          const { operations } = await countOf(server, () => Promise.all(ids.map(write)));
          assert.equal(operations, ids.length, 'set');
        }
        if (mget !== undefined) {
          const readAll = () => promised(handle.mgetCalls ?? calls, (done) => mget(ids, done));
          const { operations } = await countOf(server, readAll);
          assert.ok(operations >= 1 && operations <= 1 + ids.length, `mget: ${operations}`);
        }
        await handle.close();
        // Drivers and adapters prepare a statement, look up a space.
        if (server === 'mariadb' || server === 'tarantool') return;
        const { operations } = await countOf(server, async () => {
          handle = await open();
          await reader(handle, profile)(1);
        });
        assert.equal(operations, 1, 'connecting is no operation');
      } finally {
        await handle.close();
      }
    });
  }

  test('Redis: commands of scripts and transactions count, MULTI and EXEC do not', async () => {
    const redis = openRedis(servers);
    try {
      const script = "redis.call('set', KEYS[1], 1) return redis.call('get', KEYS[1])";
      assert.deepEqual(await countOf('redis', () => redis.eval(script, 1, 'count')), {
        operations: 3,
        errors: 0,
      });
      const transaction = () => redis.multi().set('count', 1).get('count').exec();
      assert.deepEqual(await countOf('redis', transaction), { operations: 2, errors: 0 });
      assert.deepEqual(await countOf('redis', () => redis.del('count')), {
        operations: 1,
        errors: 0,
      });
    } finally {
      redis.disconnect();
    }
  });

  test('Redis: failing and rejected commands are errors and no operations', async () => {
    const redis = openRedis(servers);
    const fail = (/** @type {Promise<unknown>} */ reply) => assert.rejects(reply);
    try {
      await redis.set('count', 'text');
      assert.deepEqual(await countOf('redis', () => fail(redis.incr('count'))), {
        operations: 0,
        errors: 1,
      });
      assert.deepEqual(await countOf('redis', () => fail(redis.call('GET'))), {
        operations: 0,
        errors: 1,
      });
      const script = "return redis.call('incr', KEYS[1])";
      assert.deepEqual(await countOf('redis', () => fail(redis.eval(script, 1, 'count'))), {
        operations: 0,
        errors: 1,
      });
      await redis.del('count');
    } finally {
      redis.disconnect();
    }
  });

  test('Redis: a user without INFO: the reason names the permission', async () => {
    const redis = openRedis(servers);
    try {
      await redis.call('ACL', 'SETUSER', 'few', 'on', '>few', '~*', '+get');
      const credentials = { user: 'few', password: 'few' };
      await assert.rejects(openCounter('redis', { ...contextOf('redis'), credentials }), {
        code: 'E_TARGET',
        message: /NOPERM .*'info'/,
        hint: /\+info/,
      });
    } finally {
      await redis.call('ACL', 'DELUSER', 'few');
      redis.disconnect();
    }
  });

  test('MariaDB: each statement of a packet counts, statements of connecting do not', async () => {
    const sql = await openSql(servers, { multipleStatements: true });
    try {
      const { database, table } = ROW_NAMES;
      const full = `${database}.${table}`;
      const packet = `begin; update ${full} set str = 'a' where id = 1; commit; set @a = 1;
        select str from ${full} where id in (1, 2, 3); show tables from ${database}`;
      const counted = await countOf('mariadb', () => sql.query(packet));
      assert.deepEqual(counted, { operations: 2, errors: null });
    } finally {
      await sql.end();
    }
  });

  test('MariaDB: inserts of HandlerSocket count, also beside statements', async () => {
    const [{ definition, profile }] = await casesOf('manual-hs');
    const handle = await openRows(definition, {
      ...contextOf('mariadb'),
      profile,
      dataset,
      writes: true,
    });
    const sql = await openSql(servers);
    try {
      const { add, del } = handle;
      assert.ok(add !== undefined && del !== undefined);
      const work = async () => {
        await Promise.all(NEW_IDS.map((id) => add(id, 'new')));
        await Promise.all(NEW_IDS.map((id) => del(id)));
      };
      assert.equal((await countOf('mariadb', work)).operations, 2 * NEW_IDS.length);
      const both = await countOf('mariadb', async () => {
        await work();
        await sql.query('select 1');
      });
      assert.equal(both.operations, 2 * NEW_IDS.length + 1);
      assert.equal((await countOf('mariadb', () => sql.query('select 1'))).operations, 1);
    } finally {
      await sql.end();
      await handle.close();
    }
  });

  test('MariaDB: a user without any privilege can count', async () => {
    const admin = await openAdmin(servers.running('mariadb'));
    try {
      await admin.query("CREATE USER few@'127.0.0.1' IDENTIFIED BY 'few'");
      const credentials = { user: 'few', password: 'few' };
      const counter = await openCounter('mariadb', { ...contextOf('mariadb'), credentials });
      assert.ok((await counter?.read())?.operations);
      counter?.close();
    } finally {
      await admin.query("DROP USER few@'127.0.0.1'");
      await admin.end();
    }
  });

  test('Tarantool: operations of a function count, its call as one more; errors count', async () => {
    const [{ definition, profile }] = await casesOf('tarantool');
    const where = { ...contextOf('tarantool'), profile, dataset, writes: true };
    const handle = await openRows(definition, where);
    const { mget, add } = handle;
    assert.ok(mget !== undefined && add !== undefined);
    try {
      assert.deepEqual(await countOf('tarantool', () => mget([1, 2, 3])), {
        operations: 4,
        errors: 0,
      });
      assert.deepEqual(await countOf('tarantool', () => assert.rejects(add(1, 'twice'))), {
        operations: 1,
        errors: 1,
      });
      const others = async () => {
        const other = await TarantoolConnection.connect(contextOf('tarantool'));
        other.close();
        await mget([1, 2, 3]);
      };
      assert.deepEqual(await countOf('tarantool', others), { operations: 4, errors: 0 });
    } finally {
      await handle.close();
    }
  });

  test('Tarantool: without the function of box.lua the reason names it', async (context) => {
    const folder = withFolder(context);
    writeFileSync(path.join(folder, 'own.lua'), "box.cfg{listen = os.getenv('LISTEN')}");
    const { address, stop } = await startTarantool(folder, 'own.lua', 'LISTEN');
    context.after(stop);
    await assert.rejects(openCounter('tarantool', { address, credentials: {} }), {
      code: 'E_TARGET',
      message: /Execute access to function 'dragstrip_executed' is denied for user 'guest'/,
      hint: /box\.lua/,
    });
  });

  test('a cluster: redirections are neither operations nor errors', async () => {
    const key = 'dragstrip:row:7';
    const call = callerOf(servers);
    const [{ primary: first }, { primary: second }] = await rangesOf(servers);
    const counted = await countOf(CLUSTER, async () => {
      const replies = await Promise.allSettled(
        [first, second].map((node) => call(node, 'GET', key)),
      );
      assert.ok(replies.some(({ status }) => status === 'rejected'));
      const owner = replies.some(({ status }) => status === 'fulfilled');
      if (!owner) await call((await rangesOf(servers))[2].primary, 'GET', key);
    });
    assert.deepEqual(counted, { operations: 1, errors: 0 });

    const [{ definition, profile, skip }] = await casesOf('ioredis-cluster');
    assert.equal(skip, undefined);
    const handle = await openRows(definition, { ...contextOf(CLUSTER), profile, dataset });
    const back = await moveKey(servers, key);
    try {
      const read = reader(handle, profile);
      assert.deepEqual(await countOf(CLUSTER, () => read(7)), { operations: 1, errors: 0 });
    } finally {
      await back();
      await handle.close();
    }
  });

  test('MariaDB: each process has its identity', async () => {
    const { pid } = servers.running('mariadb');
    const first = await opened('mariadb');
    const other = await opened('mariadb');
    const { identity } = await first.read();
    assert.equal((await other.read()).identity, identity);
    const again = rememberProcess(pid);
    process.kill(pid, 'SIGKILL');
    await assert.rejects(first.read(), { code: 'E_TARGET' });
    other.close();
    restarted.push(await again());
    const last = await opened('mariadb');
    assert.notEqual((await last.read()).identity, identity);
    last.close();
  });

  test('Tarantool: each process has its identity', async (context) => {
    const folder = withFolder(context);
    const identities = new Set();
    for (let starts = 0; starts < 2; starts += 1) {
      const { address, stop } = await startTarantool(folder, BOX, 'DRAGSTRIP_BOX_LISTEN');
      const counter = await openCounter('tarantool', { address, credentials: {} });
      assert.ok(counter);
      for (let reads = 0; reads < 2; reads += 1) identities.add((await counter.read()).identity);
      stop();
      await assert.rejects(counter.read(), { code: 'E_TARGET' });
    }
    assert.equal(identities.size, 2);
  });

  test('Redis: each process has its identity', async (context) => {
    const folder = withFolder(context);
    const { main: port } = await freePorts(['main']);
    const where = { address: { main: { host: '127.0.0.1', port } }, credentials: {} };
    const identities = new Set();
    for (let starts = 0; starts < 3; starts += 1) {
      const pid = await startRedis(folder, port);
      await redisAnswers(`127.0.0.1:${port}`);
      const counter = await openCounter('redis', where);
      assert.ok(counter);
      for (let reads = 0; reads < 2; reads += 1) identities.add((await counter.read()).identity);
      process.kill(pid, 'SIGKILL');
      await assert.rejects(counter.read(), { code: 'E_TARGET' });
    }
    assert.equal(identities.size, 3);
  });

  test('a cluster without one of its nodes has another identity', async () => {
    const start = await openCounter(CLUSTER, contextOf(CLUSTER));
    assert.ok(start);
    const { identity } = await start.read();
    assert.equal((await start.read()).identity, identity);
    process.kill(servers.running(CLUSTER).pid, 'SIGKILL');
    await assert.rejects(start.read(), { code: 'E_TARGET' });
    const end = await opened(CLUSTER); // a replica takes over
    assert.notEqual((await end.read()).identity, identity);
    end.close();
  });

  /** @param {string} server @returns {Promise<Counter>} once it answers */
  function opened(server) {
    const open = () => openCounter(server, contextOf(server)).catch(() => null);
    return eventually(open, `a count of ${server}`);
  }
});

/**
 * @param {string} folder
 * @param {string} script
 * @param {string} listen the environment variable that names the address
 */
async function startTarantool(folder, script, listen) {
  const { main: port } = await freePorts(['main']);
  const binaries = await (await loadServer('tarantool')).find(PACKAGES_HOME);
  assert.ok(binaries);
  const { identity } = await launch({
    program: binaries.programs['tarantool'],
    args: [script],
    cwd: folder,
    env: { ...binaries.env, [listen]: `127.0.0.1:${port}`, DRAGSTRIP_BOX_MEMORY: '67108864' },
    logPath: path.join(folder, 'log'),
    owned: true,
  });
  const address = { main: { host: '127.0.0.1', port } };
  const connect = () => TarantoolConnection.connect({ address, credentials: {} }).catch(() => null);
  (await eventually(connect, 'a connection')).close();
  return { address, stop: () => process.kill(identity.pid, 'SIGKILL') };
}

describe('INFO of other products', () => {
  const RUN = '# Server\r\nrun_id:1f\r\n';

  test('without a section of commands there is no count', () => {
    assert.deepEqual(parseCount([RUN, '', '', '']), {
      identity: '1f',
      operations: null,
      errors: null,
    });
    assert.deepEqual(parseCount([RUN, '# Commandstats\r\n', '', '']), {
      identity: '1f',
      operations: 0,
      lookups: 0,
      errors: 0,
    });
  });

  test('before 6.2 failures are not counted', () => {
    const commands =
      '# Commandstats\r\ncmdstat_get:calls=7,usec=9,usec_per_call=1.29\r\n' +
      'cmdstat_info:calls=3,usec=9,usec_per_call=3.00\r\n';
    assert.deepEqual(parseCount([RUN, commands, 'keyspace_hits:5\r\nkeyspace_misses:3\r\n', '']), {
      identity: '1f',
      operations: 7,
      lookups: 8,
      errors: null,
    });
  });
});
