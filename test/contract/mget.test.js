/**
 * `dragstrip mget` on real servers: concurrency as its label says, keys of its own in a place of
 * their own, removed on every exit; databases, passwords, strangers' keys.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TarantoolConnection } from '../../data/connections/tarantool.js';
import { getLoader } from '../../data/loaders/index.js';
import { createDataset } from '../../lib/dataset.js';
import { namesOf } from '../../lib/namespace.js';
import { toFetchGroups } from '../../workloads/mget/analysis.js';
import { namespace } from '../../workloads/mget/plan.js';
import { withCommands } from '../helpers/command-folder.js';
import { eventually, runCommand, startCommand } from '../helpers/command-line.js';
import { openRedis, openSql, withRedis } from '../helpers/own-clients.js';
import { runHere } from '../helpers/run-here.js';
import { addressFlags, addressVariables, withServers } from '../helpers/servers.js';

const MGET_PLACES = namesOf(namespace);

const ROWS = 600;
const SMALL = ['--rows', `${ROWS}`, '--data-size', '256', '--warmup', '10'];

describe('mget on real servers', () => {
  const servers = withServers(['redis', 'mariadb', 'tarantool']);
  const redis = withRedis(servers);
  const { callHere, file, folder, start, textOf } = withCommands(servers);

  const mget = (/** @type {string[]} */ ...words) => callHere('mget', ...words);
  const mgetKeys = () => redis().keys('dragstrip:mget:*');
  const processed = async () =>
    Number(/total_commands_processed:(\d+)/.exec(await redis().info('stats'))?.[1]);
  const scatter = (/** @type {string[]} */ ...words) =>
    mget('scatter', ...SMALL, '--cycles', '5', ...words);

  /** @returns {Promise<ReturnType<typeof startCommand>>} a run that goes on until it is ended */
  async function startLong() {
    const long = [...SMALL, '--cycles', '4000', '--max-conc', '1'];
    const started = start('mget', 'concurrency', ...long);
    await eventually(() => started.stdout().includes('Holding'), 'the keys are held');
    return started;
  }

  test('has as many fetches in flight as its label states, within 5 %', async () => {
    const result = await runHere({
      home: file('state'),
      workload: 'mget',
      storages: ['ioredis', 'redis'],
      counts: [1, 10, 50],
      cycles: 60,
      pipelined: true,
      loads: [1, 4, 16].map((inFlight) => ({ kind: 'window', inFlight })),
      rows: ROWS,
      warmupOperations: 300,
      addresses: addressFlags(servers),
    });
    const groups = toFetchGroups(result);
    assert.equal(groups.length, 4);
    for (const { label, workload, columns } of groups) {
      for (const { inFlight, inFlightMean, rows, source } of columns) {
        const off = Math.abs(inFlightMean / inFlight - 1);
        // The client's own work is what the next fetch waits for, above all with one in flight: 80
        // ns to compare a value, more for single reads. If that is too long, a warning is required.
        const isWarned = result.warnings.some(
          ({ code, message }) =>
            code === 'CONCURRENCY' && message.startsWith(`${label}, ${workload}:`),
        );
        assert.ok(
          off < 0.05 || (isWarned && (workload === 'mget-single' || off < 0.12)),
          `${label}, ${workload}: ${inFlightMean} of ${inFlight}`,
        );
        assert.ok(rows.every(({ n }) => n === 60));
        assert.equal(source.rounds[0].outcomes.ok, source.load.operations, 'all of them are right');
      }
    }
    assert.deepEqual(await mgetKeys(), []);
  });

  test('reads many keys from every server, in pairs with single reads', async () => {
    const all = 'redis,ioredis,manual-hs:callbacks,mysql2,tarantool,lmdb,memory'.split(',');
    /** @type {string[]} */
    const steps = [];
    const result = await runHere(
      {
        home: file('state'),
        addresses: addressFlags(servers),
        workload: 'mget',
        test: 'concurrency',
        storages: all,
        rows: ROWS,
        valueSize: 256,
        warmup: 10,
        pipelined: true,
        counts: [1, 20, 100],
        cycles: 5,
        maxConc: 2,
      },
      {
        onEvent(event) {
          if (event.type === 'held' || event.type === 'removed') {
            steps.push(`${event.type} ${event.rows}`);
          }
        },
      },
    );
    assert.deepEqual(steps, [`held ${ROWS}`, `removed ${ROWS}`]);
    assert.equal(result.benchmarks.length, all.length * 2 * 2);
    for (const { id, state, rounds } of result.benchmarks) {
      assert.equal(state, 'measured', id);
      const { ok, ...others } = rounds[0].outcomes;
      assert.ok(ok > 0 && Object.values(others).every((count) => count === 0), id);
      assert.equal(rounds[0].series?.length, 3);
    }
    await assertNothingLeft();
  });

  /** Neither keys nor a table nor tuples nor a mark. */
  async function assertNothingLeft() {
    assert.deepEqual(await mgetKeys(), []);
    const connection = await openSql(servers);
    const [tables] = await connection.query(`SHOW TABLES FROM hs_test LIKE '${MGET_PLACES.table}'`);
    await connection.end();
    assert.deepEqual(tables, []);
    const endpoint = servers.address('tarantool').main;
    const tarantool = new TarantoolConnection({ what: 'Tarantool', endpoint });
    await tarantool.greet(servers.credentials('tarantool'));
    try {
      assert.equal(await tarantool.call('dragstrip_count', [MGET_PLACES.space]), 0);
    } finally {
      tarantool.close();
    }
  }

  test('refuses a server that another run is using, which goes on until SIGINT', async () => {
    const { child, ended } = await startLong();
    try {
      const { status, stdout, stderr } = await scatter('--quiet');
      assert.equal(status, 3, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /^dragstrip: redis \S+: another run is using it: process \d+ of this/);
      assert.match(stderr, new RegExp(`: process ${child.pid} of this machine`));
    } finally {
      await assertEnds({ child, ended }, 'SIGINT', 130);
    }
  });

  test('removes its keys on SIGTERM, and reports the figures until then', async () => {
    await assertEnds(await startLong(), 'SIGTERM', 143);
  });

  /**
   * It reads, has its keys, and removes them when it is ended.
   * @param {Pick<ReturnType<typeof startCommand>, 'child' | 'ended'>} run
   * @param {NodeJS.Signals} signal
   * @param {number} status
   */
  async function assertEnds({ child, ended }, signal, status) {
    assert.ok((await mgetKeys()).length > ROWS - 1);
    const before = await processed();
    await eventually(async () => (await processed()) > before + 1000, 'it reads');
    child.kill(signal);
    const result = await ended;
    assert.equal(result.status, status, result.stderr);
    assert.match(result.stdout, new RegExp(`Deleted ${ROWS} test keys`));
    assert.deepEqual(await mgetKeys(), []);
  }

  test('removes its keys if its output pipe is closed', async () => {
    const words = ['mget', 'concurrency', ...SMALL, '--cycles', '20', '--max-conc', '2'];
    const { child, ended } = start(...words);
    child.stdout?.once('data', () => child.stdout?.destroy());
    const { status, signal } = await ended;
    assert.equal(signal, null);
    assert.equal(status, 141);
    assert.deepEqual(await mgetKeys(), []);
  });

  test('takes over and removes leftovers of a killed run', async () => {
    const killed = await startLong();
    killed.child.kill('SIGKILL');
    await killed.ended;
    assert.ok((await mgetKeys()).length > ROWS - 1, 'nobody could remove them');
    const { status, stderr } = await scatter();
    assert.equal(status, 0, stderr);
    assert.deepEqual(await mgetKeys(), []);
  });

  test('changes no other keys, and refuses an occupied namespace', async () => {
    await redis().set('test_1', 'a stranger’s, as the original program’s own keys were named');
    await redis().set(`${MGET_PLACES.redisPrefix}7`, 'a stranger’s');
    const { status, stderr } = await scatter();
    assert.equal(status, 3, stderr);
    assert.match(stderr, /not created by Dragstrip; nothing was changed/);
    assert.equal(await redis().get(`${MGET_PLACES.redisPrefix}7`), 'a stranger’s');
    await redis().del(`${MGET_PLACES.redisPrefix}7`);
    assert.equal((await scatter()).status, 0);
    assert.equal(await redis().del('test_1'), 1);
  });

  test('does not change the rows of the race', async () => {
    const place = { address: servers.address('redis'), credentials: servers.credentials('redis') };
    const loader = await getLoader('redis');
    const dataset = createDataset({ rows: 300, valueSize: 40, seed: 2 });
    await loader.seed({ ...place, dataset });
    assert.equal((await scatter()).status, 0);
    const left = await loader.inspect(place);
    assert.deepEqual(left.dataset, { rows: 300, valueSize: 40, seed: 2 });
    assert.equal(await redis().get('dragstrip:row:300'), dataset.value(300));
  });

  test('uses the database and the address of its options', async () => {
    const { host, port } = /** @type {any} */ (servers.address('redis').main);
    const place = ['-h', host, '-p', `${port}`, '-n', '5'];
    const long = ['mget', 'concurrency', ...place, ...SMALL, '--cycles', '4000'];
    const { child, ended, stdout } = startCommand(
      folder,
      ['bin/dragstrip.js', ...long, '--storages', 'ioredis,redis'],
      {},
    );
    await eventually(() => stdout().includes('Holding'), 'the keys are held');
    assert.deepEqual(await mgetKeys(), [], 'none of them in database 0');
    const other = openRedis(servers, { db: 5 });
    assert.ok((await other.keys('dragstrip:mget:*')).length >= ROWS);
    child.kill('SIGINT');
    await ended;
    assert.deepEqual(await other.keys('dragstrip:mget:*'), []);
    other.disconnect();
    const short = await mget(
      ...['concurrency', '-p', `${port}`, '-n', '5', ...SMALL, '--cycles', '5', '--max-conc', '1'],
      ...['--storages', 'ioredis,redis', '--quiet'],
    );
    assert.equal(short.status, 0, short.stderr);
  });

  test('reads a password from any variable, and never shows it', async () => {
    const secret = 'correct-horse-battery';
    await redis().config('SET', 'requirepass', secret);
    try {
      const words = ['scatter', ...SMALL, '--cycles', '5', '--json', 'secret.json'];
      const refused = await mget(...words.slice(0, -2));
      assert.equal(refused.status, 4);
      const ended = await runCommand(
        folder,
        ['bin/dragstrip.js', 'mget', ...words, '--password-from-env', 'MY_SECRET'],
        { env: { ...addressVariables(servers), MY_SECRET: secret } },
      );
      assert.equal(ended.status, 0, ended.stderr);
      const stored = textOf('secret.json');
      for (const text of [ended.stdout, ended.stderr, stored]) assert.ok(!text.includes(secret));
    } finally {
      await redis().config('SET', 'requirepass', servers.login('redis').password);
    }
  });

  test('reports keys that could not be removed, with status 4', async () => {
    const { child, ended } = await startLong();
    await redis().acl('SETUSER', 'default', '-del');
    try {
      child.kill('SIGINT');
      const { status, stdout: output } = await ended;
      assert.equal(status, 130);
      assert.doesNotMatch(output, /Deleted/);
      assert.match(output, /ROWS_LEFT: the data of this run could not be removed: .*NOPERM/);
    } finally {
      await redis().acl('SETUSER', 'default', '+del');
    }
    assert.equal((await scatter()).status, 0);
    assert.deepEqual(await mgetKeys(), []);
  });
});
