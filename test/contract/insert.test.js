/**
 * `dragstrip insert` on real servers: every strategy leaves all rows, each once and correct;
 * lost and repeated rows are detected; names of others are refused, its own removed on every exit.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { namesOf } from '../../lib/namespace.js';
import { parseResult } from '../../lib/parse-result.js';
import { checkAvailable, loadStorage } from '../../storages/index.js';
import { namespace } from '../../workloads/insert/namespace.js';
import { STRATEGY_NAMES } from '../../workloads/insert/strategies.js';
import { callIn, eventually, startCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import {
  assertAllFailed,
  assertAllRight,
  insertBy,
  ROWS,
  sumOfNumbers,
  writeBroken,
} from '../helpers/insert-cases.js';
import { createStores } from '../helpers/loader-stores.js';
import { claimOn } from '../helpers/namespaces.js';
import { addressVariables, withServers } from '../helpers/servers.js';

/** No two of a wave share a place. */
const WAVES = [
  ['redis', 'mysql2', 'tarantool', 'lmdb'],
  ['ioredis', 'manual-hs', 'sqlite'],
  ['iovalkey', 'mariadb'],
  ['mysql', 'valkey-glide'],
];
const INSERT_PLACES = namesOf(namespace);
const { redisPrefix, redisMarker, database, table } = INSERT_PLACES;
const TABLE = `${database}.${table}`;
const SMALL = ['--rows', '600', '--rounds', '1', '--warmup', '2'];

/** ioredis with something wrong in one of its ways. */
const BROKEN = {
  'loses-one': {
    strategy: 'async',
    change: `({ single }) => ({ single: { ...single, send: (row, worker) =>
      row[0].endsWith(':17') ? Promise.resolve('OK') : single.send(row, worker) } })`,
    message: /of 600, 599 are right, 1 lost, 0 inserted twice/,
  },
  'repeats-in-place': {
    strategy: 'async',
    change: `({ single }) => ({ single: { ...single, build: (a) =>
      a === 18 ? single.build(17, 18) : single.build(a, a + 1) } })`,
    message: /599 are right, 1 lost, 1 inserted twice/,
  },
  'repeats-one': {
    strategy: 'unlogged_batch',
    change: `({ batch }) => ({ batch: { ...batch, send: (rows, worker) => batch.send(
      rows[0].endsWith(':1') ? [...rows, rows[0], rows[1]] : rows, worker) } })`,
    message: /600 are right, 0 lost, 1 inserted twice/,
  },
  'writes-wrong': {
    strategy: 'async',
    change: `({ single }) => ({ single: { ...single, build: (a) =>
      [single.build(a, a + 1)[0], '5'] } })`,
    message: /0 are right, 600 lost, 0 inserted twice, 600 wrong/,
  },
  'answers-early': {
    strategy: 'async',
    change: `({ single }) => ({ single: { ...single, send: (row, worker) =>
      row[0].endsWith('00') ? Promise.resolve('OK') : single.send(row, worker) } })`,
    message: /594 are right, 6 lost/,
  },
};

/** @param {string} where */
const filesOf = (where) => (existsSync(where) ? readdirSync(where) : []);

describe('insert on real servers', () => {
  // Hooks of a suite run as written: the clients go before the servers do.
  after(() => stores?.close());
  const servers = withServers(['redis', 'mariadb', 'tarantool']);
  const folder = withFolder();
  let embedded = '';
  /** @type {Awaited<ReturnType<typeof createStores>>} */
  let stores;

  before(async () => {
    // In memory if possible: thousands of transactions would wait for a disk.
    const fast = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    embedded = await mkdtemp(path.join(fast, 'dragstrip-insert-'));
    stores = await createStores(servers);
  });
  after(() => rm(embedded, { recursive: true, force: true }));

  /** @param {string} name */
  const server = (name) => ({
    name,
    address: servers.address(name),
    credentials: servers.credentials(name),
  });
  const allServers = () => ['redis', 'mariadb', 'tarantool'].map(server);

  /** Rows as the servers themselves count them, apart from what the storages read. */
  const counts = {
    redis: async () => (await stores.redisClient.keys(`${redisPrefix}*`)).length,
    mariadb: async () => {
      const [rows] = await stores.sql.query(`SELECT COUNT(*) AS n, SUM(b) AS sum FROM ${TABLE}`);
      const [{ n, sum }] = /** @type {any[]} */ (rows);
      if (n > 0) assert.equal(Number(sum), sumOfNumbers(n));
      return n;
    },
    tarantool: async () =>
      (await stores.tarantoolClient.call('dragstrip_count', INSERT_PLACES.space)).flat()[0],
  };

  test('every strategy of every storage leaves all rows correct, each once', async () => {
    const release = await claimOn(allServers(), namespace);
    /** @type {string[]} */
    const seen = [];
    try {
      for (const wave of WAVES) {
        for (const strategy of STRATEGY_NAMES) {
          // All of them to their ends: what goes on would come into a place that is struck.
          const all = wave.map((name) => insertAndCount(name, strategy, seen));
          for (const one of await Promise.allSettled(all)) {
            if (one.status === 'rejected') throw one.reason;
          }
        }
      }
    } finally {
      await release();
    }
    const least = {
      redis: 9,
      ioredis: 9,
      iovalkey: 9,
      mysql2: 10,
      mariadb: 10,
      mysql: 9,
      'manual-hs': 7,
      tarantool: 8,
      lmdb: 3,
    };
    for (const [name, count] of Object.entries(least)) {
      assert.equal(seen.filter((one) => one === name).length, count, name);
    }
  });

  /**
   * @param {string} name
   * @param {string} strategy
   * @param {string[]} seen
   */
  async function insertAndCount(name, strategy, seen) {
    const definition = await loadStorage(name);
    const missing = await checkAvailable(definition);
    if (missing !== null || !Object.hasOwn(definition.inserts ?? {}, strategy)) return;
    const address = definition.server === null ? {} : servers.address(definition.server);
    // node-redis by default makes a timer for each command: six times the time, the same rows.
    const profile = name === 'redis' ? 'tuned' : 'default';
    const credentials =
      definition.server === null ? {} : servers.running(definition.server).credentials;
    const where = { address, credentials, profile, folder: path.join(embedded, name) };
    const record = await insertBy(name, strategy, where);
    assertAllRight(record, `${name} ${strategy}`);
    const count = /** @type {any} */ (counts)[definition.server ?? ''];
    if (count !== undefined) assert.equal(await count(), ROWS, `${name} ${strategy}`);
    seen.push(name);
  }

  /** @returns {Record<string, string>} */
  function env() {
    return { ...addressVariables(servers), DRAGSTRIP_CASSANDRA: '127.0.0.1:1' };
  }

  /** @param {string[]} words */
  const insert = (...words) =>
    callIn(folder, ['bin/dragstrip.js', 'insert', ...words], { env: env() });

  /** @returns {Promise<string[]>} leftovers of Dragstrip on all servers */
  async function leftovers() {
    const [rows] = await stores.sql.query(
      'SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name = ?',
      [database, table],
    );
    const tables = /** @type {any[]} */ (rows);
    return [
      ...(await stores.redisClient.keys('dragstrip:insert:*')),
      ...(tables.length > 0 ? [TABLE] : []),
      ...((await counts.tarantool()) > 0 ? [INSERT_PLACES.space] : []),
      ...filesOf(path.join(folder, 'state', 'embedded')).filter((name) => /insert/.test(name)),
    ];
  }

  test('a broken strategy fails its round, and the run with status 5', async () => {
    const files = writeBroken('ioredis', BROKEN, folder);
    const ended = await insert('--storages', files.join(','), ...SMALL);
    assertAllFailed(ended, BROKEN);
    assert.equal(ended.stdout.match(/E_DATA/g)?.length, files.length);
    assert.deepEqual(await leftovers(), []);
  });

  test('a run of all: a line for each test, tables, the settings as the servers have them', async () => {
    await stores.redisClient.config('SET', 'appendfsync', 'always');
    await stores.sql.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
    try {
      const sizes = ['--batch', '50,200'];
      const strategies = ['--strategies', 'logged_batch,bulk_load'];
      const outputs = ['--json', 'all.json', '--svg', 'plots'];
      const { status, stdout, stderr } = await insert(
        ...[...SMALL, ...sizes, ...strategies, ...outputs, '--storages'],
        'ioredis,mysql2,tarantool,lmdb',
      );
      assert.equal(status, 0, `${stderr}${stdout}`);
      assert.match(
        stdout,
        /^ioredis_logged_batch 600 inserts: \d+\.\d{6} seconds \(batches of 50, /m,
      );
      assert.match(stdout, /appendonly no, appendfsync always, save none/);
      assert.match(stdout, /mysql2, 600 rows .*innodb_flush_log_at_trx_commit 1, log_bin OFF/);
      assert.match(stdout, /tarantool, 600 rows .*wal_mode none/);
      assert.match(stdout, /lmdb, 600 rows .*noSync false/);
      const result = parseResult(readFileSync(path.join(folder, 'all.json'), 'utf8'), 'all.json');
      const ofIoredis = result.benchmarks.filter(({ storage }) => storage === 'ioredis');
      const lacking = result.benchmarks.filter(({ state }) => state === 'skipped');
      assert.ok(
        lacking.every(({ reason }) => reason !== null),
        'a strategy that a storage lacks',
      );
      const measured = result.benchmarks.filter(({ state }) => state !== 'skipped');
      assert.equal(ofIoredis.length, 2 + 1, 'sizes are swept, and it has no bulk_load');
      assert.ok(measured.every(({ rounds }) => rounds[0].metrics?.['right'] === 600));
      const plots = readdirSync(path.join(folder, 'plots'));
      const [plot] = plots.filter((name) => name.startsWith('insert'));
      const svg = readFileSync(path.join(folder, 'plots', plot), 'utf8');
      assert.match(svg, /^<svg.*mysql2 bulk_load/s);
    } finally {
      await stores.redisClient.config('SET', 'appendfsync', 'everysec');
      await stores.sql.query('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
    }
    assert.deepEqual(await leftovers(), []);
  });

  for (const [signal, status, moment] of /** @type {const} */ ([
    ['SIGINT', 130, 'the first row'],
    ['SIGTERM', 143, 'the middle'],
  ])) {
    test(`${signal} at ${moment}: nothing is left behind`, async () => {
      const words = ['insert', '--rows', '100000', '--strategies', 'async', '--rounds', '1'];
      const { child, ended } = startCommand(
        folder,
        ['bin/dragstrip.js', ...words, '--storages', 'ioredis,manual-hs,tarantool,lmdb'],
        { env: env() },
      );
      const begun = async () => (await stores.redisClient.get(redisMarker)) !== null;
      const rows = async () =>
        (await stores.redisClient.dbsize()) > 2000 || (await counts.tarantool()) > 10;
      await eventually(begun, 'the place is made');
      if (moment === 'the middle') await eventually(rows, 'rows come in');
      child.kill(signal);
      const result = await ended;
      assert.equal(result.status, status, result.stderr);
      assert.doesNotMatch(result.stdout, /ROWS_LEFT/);
      assert.deepEqual(await leftovers(), []);
    });
  }

  test('leftovers of a killed run are taken over and removed', async () => {
    const words = ['insert', '--rows', '100000', '--strategies', 'async', '--rounds', '1'];
    const killed = startCommand(
      folder,
      ['bin/dragstrip.js', ...words, '--storages', 'ioredis,manual-hs,tarantool'],
      { env: env() },
    );
    await eventually(
      async () => (await stores.redisClient.get(redisMarker)) !== null,
      'the place is made',
    );
    await eventually(async () => (await leftovers()).includes(TABLE), 'the table is made');
    killed.child.kill('SIGKILL');
    await killed.ended;
    assert.notDeepEqual(await leftovers(), []);
    const words2 = ['--strategies', 'async', '--storages', 'ioredis,manual-hs,tarantool', ...SMALL];
    const { status, stderr } = await insert(...words2);
    assert.equal(status, 0, stderr);
    assert.deepEqual(await leftovers(), []);
  });

  test('a table or key that Dragstrip did not create is refused and not changed', async () => {
    const tries = {
      ioredis: {
        take: () => stores.redisClient.set(`${redisPrefix}9`, 'a stranger’s'),
        still: async () => (await stores.redisClient.get(`${redisPrefix}9`)) === 'a stranger’s',
        give: () => stores.redisClient.del(`${redisPrefix}9`),
      },
      mysql2: {
        take: () => stores.sql.query(`CREATE TABLE ${TABLE} (x INT) COMMENT 'a stranger’s'`),
        still: async () => (await leftovers()).includes(TABLE),
        give: () => stores.sql.query(`DROP TABLE ${TABLE}`),
      },
      tarantool: {
        take: () => stores.tarantoolClient.call('dragstrip_insert', [[1, 1]]),
        still: async () => (await counts.tarantool()) === 1,
        give: () => stores.tarantoolClient.call('dragstrip_reset', INSERT_PLACES.space),
      },
    };
    for (const [name, { take, still, give }] of Object.entries(tries)) {
      await take();
      const { status, stderr } = await insert(
        '--storages',
        name,
        '--strategies',
        'async',
        ...SMALL,
      );
      assert.equal(status, 3, `${name}: ${stderr}`);
      assert.match(stderr, /was not created by Dragstrip; nothing was changed/);
      assert.ok(await still(), name);
      await give();
    }
    assert.deepEqual(await leftovers(), []);
  });
});
