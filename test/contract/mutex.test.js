/**
 * `dragstrip mutex` and `mutex stress` on real servers: mutual exclusion of every kind of lock with
 * processes killed, a broken one caught, a place of its own that is removed on every exit.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { stressVerdict, toLockRows } from '../../workloads/mutex/analysis.js';
import { withCommands } from '../helpers/command-folder.js';
import { callIn, childrenOf, eventually, isRunning, ROOT } from '../helpers/command-line.js';
import { openSql, withRedis } from '../helpers/own-clients.js';
import { runHere } from '../helpers/run-here.js';
import { addressFlags, addressVariables, withServers } from '../helpers/servers.js';

const BROKEN = path.join(ROOT, 'test', 'helpers', 'broken-lock.js');
const OLD_MUTEX = path.join(ROOT, 'examples', 'old-mutex.js');
const SECTIONS = 2500;
/** processes × tasks × keys × passes = 2,560; many tasks: their commands share a write */
const STRESS = { keys: 40, tasks: 32, repeat: 1, tries: 10, holdMs: 0, blockMs: 20_000 };
const FORKS = 2;
const KILLS = 1;

describe('mutex on real servers', () => {
  const servers = withServers(['redis', 'mariadb', 'tarantool']);
  const redis = withRedis(servers);
  const { callHere, file, folder, resultIn, start } = withCommands(servers);

  async function tables() {
    const connection = await openSql(servers);
    const [rows] = await connection.query(
      "SELECT table_name FROM information_schema.tables WHERE table_name = 'dragstrip_mutex'",
    );
    await connection.end();
    return /** @type {any[]} */ (rows).length;
  }

  const leftKeys = () => redis().keys('*mutex*');

  test(`no two inside in ${SECTIONS} critical sections of every lock, processes killed`, async () => {
    const handlers = ['script', 'pure', 'redlock', 'redis-semaphore', 'get-lock', 'fiber'];
    const result = await runHere({
      home: file('state'),
      workload: 'mutex',
      storages: ['redis:tuned', 'ioredis', 'mysql2', 'tarantool'],
      warmupOperations: 0,
      timeoutMs: 120_000,
      addresses: addressFlags(servers),
      variants: handlers.map((handler) => ({
        parameters: {
          test: 'stress',
          handler,
          ...STRESS,
          kill: KILLS,
          // Those that belong to a connection end with it; the others when their time is over.
          expireMs: /^(get-lock|fiber)$/.test(handler) ? 60_000 : 1500,
          // Those that poll would sleep most of the test by their own 200 ms.
          ...(/^red(lock|is-sem)/.test(handler) && { retryMs: 5 }),
        },
        loads: [{ kind: 'window', inFlight: FORKS, operations: FORKS }],
      })),
    });
    const rows = toLockRows(result, 'stress');
    assert.deepEqual(rows.map(({ label }) => label).sort(), [
      'ioredis pure',
      'ioredis redis-semaphore',
      'ioredis redlock',
      'ioredis script',
      'mysql2 get-lock',
      'redis:tuned pure',
      'redis:tuned script',
      'tarantool fiber',
    ]);
    for (const {
      label,
      sections,
      violations,
      timeouts,
      kills,
      overruns,
      source: benchmark,
    } of rows) {
      const [{ outcomes, samples, durationNs }] = benchmark.rounds;
      // A call that waits when its process is killed leaves no lock until it expires.
      assert.ok(durationNs < 60e9, `${label}: ${durationNs / 1e9} s`);
      assert.ok((sections ?? 0) >= SECTIONS, `${label}: ${sections} ${JSON.stringify(samples)}`);
      assert.deepEqual({ label, violations, timeouts }, { label, violations: 0, timeouts: 0 });
      assert.equal(kills, KILLS, label);
      // A machine that stops a process for longer than its lock lasts is no fault of the lock.
      assert.ok(overruns < SECTIONS / 100, `${label}: ${overruns} expired while held`);
      assert.equal(outcomes.ok, FORKS, label);
    }
    assert.equal(stressVerdict(result).verdict, 'held');
    assert.deepEqual(await leftKeys(), []);
    assert.equal(await tables(), 0);
  });

  test('stress catches a broken lock, counts its violations, and exits with 5', async () => {
    const { status, stdout } = await callHere(
      ...['mutex', 'stress', '--storages', BROKEN, '--handlers', 'broken', '--forks', '3'],
      ...['--lock-keys', '2', '--repeat', '60', '--tasks', '2', '--sleep', '0.001'],
      ...['--json', 'broken.json'],
    );
    assert.equal(status, 5, stdout);
    const rows = toLockRows(resultIn('broken.json'), 'stress');
    const [{ violations, timeouts, source: benchmark }] = rows;
    assert.ok(violations > 0);
    assert.equal(timeouts, 0);
    assert.ok(benchmark.rounds[0].outcomes.mismatch > 0);
    assert.match(
      stdout,
      new RegExp(`verdict: .+: mutual exclusion violated: \\d+ critical sections, ${violations} `),
    );
    assert.deepEqual(await leftKeys(), []);
  });

  test('the tests print the original program’s lines, waits, fairness and a crashed holder', async () => {
    const { status, stdout, stderr } = await callHere(
      ...['mutex', '--storages', 'ioredis,mysql2,tarantool', '--handlers', 'script,get-lock,fiber'],
      ...[
        '--lock-keys',
        '2',
        '--ops',
        '60',
        '--duration',
        '150ms',
        '--kills',
        '1',
        '--expiry',
        '400ms',
      ],
      ...['--json', 'tests.json'],
    );
    assert.equal(status, 0, stderr + stdout);
    assert.match(
      stdout,
      /^Test 1\n\nVersion: .+, handler: .+\nlock\/unlock 60 times with concurrency: 10$/m,
    );
    assert.match(stdout, /^ {20}user {5}system {6}total {8}real$/m);
    assert.match(stdout, /^keys: 2\/ 3 {4}( {2}\d\.\d{6} ?){3} \( {2}\d\.\d{6}\)$/m);
    assert.match(stdout, /^keys: 2\/ 3 +\d+( {2}\d\.\d{6} ?){3} \( {2}\d\.\d{6}\)$/m);
    assert.match(stdout, /^keys: 2\/ 3 {2}not supported: GET_LOCK locks one name/m);
    const rows = toLockRows(resultIn('tests.json'));
    for (const { label, sections, violations, fairness, source: benchmark } of rows.filter(
      ({ test, notOffered }) => test === 'lock' && notOffered === null,
    )) {
      assert.deepEqual({ label, sections, violations }, { label, sections: 60, violations: 0 });
      assert.ok(fairness !== null && fairness > 0 && fairness <= 1);
      const { scheduled, outcomes } = benchmark.rounds[0];
      assert.equal(
        scheduled,
        Object.values(outcomes).reduce((sum, count) => sum + count, 0),
      );
    }
    const waits = new Map(
      rows
        .filter(({ test }) => test === 'killed')
        .map(({ label, firstWaitNs, expiryLeftNs }) => [label, firstWaitNs[0] - expiryLeftNs[0]]),
    );
    // By its expiry, and not before; by the connection, long before.
    assert.ok((waits.get('ioredis script') ?? 0) > -60e6, `${waits.get('ioredis script')}`);
    for (const label of ['mysql2 get-lock', 'tarantool fiber']) {
      assert.ok((waits.get(label) ?? 0) < -100e6, `${label} ${waits.get(label)}`);
    }
    assert.deepEqual(await leftKeys(), []);
    assert.equal(await tables(), 0);
  });

  test('the original program’s --keys and its variable, and locks of a file', async () => {
    const few = ['mutex', '--tests', '1', '--keys', '2', '--ops', '20', '--quiet'];
    const env = { ...addressVariables(servers), REDIS_EM_MUTEX_HANDLER: 'pure' };
    const handlersOf = async (/** @type {string[]} */ ...words) => {
      const { status, stdout, stderr } = await callIn(folder, ['bin/dragstrip.js', ...words], {
        env,
      });
      assert.equal(status, 0, stderr + stdout);
      return [...stdout.matchAll(/handler: (.+)\n.+\n.+\nkeys: 2\/ 3 +\d/g)].map(
        ([, name]) => name,
      );
    };
    assert.deepEqual(await handlersOf(...few, '--storages', 'ioredis'), ['ioredis pure']);
    assert.deepEqual(await handlersOf(...few, '--handlers', OLD_MUTEX), [
      ...['old-mutex 0.1.2', 'old-mutex 0.2.3'],
    ]);
    assert.deepEqual(await leftKeys(), []);
  });

  test('Ctrl-C ends all processes and removes their data', async () => {
    const words = ['--forks', '2', '--lock-keys', '2', '--sleep', '20', '--kills', '1'];
    const { child, ended } = start('mutex', 'stress', ...words);
    /** @type {number[]} */
    let pids = [];
    try {
      while ((await redis().keys('dragstrip:mutex:number:*')).length === 0) await sleep(50);
      pids = descendants(child.pid ?? 0);
      assert.ok(pids.length >= 3, 'a benchmark and its processes');
      child.kill('SIGINT');
      const { status } = await ended;
      assert.equal(status, 130);
    } finally {
      child.kill('SIGINT'); // one that is left would disturb the tests after this one
      await ended;
    }
    await eventually(() => pids.every((pid) => !isRunning(pid)), 'no process is left', 10_000);
    assert.deepEqual(await leftKeys(), []);
  });

  test('a table that Dragstrip did not create is refused, and stays', async () => {
    const sql = await openSql(servers);
    try {
      await sql.query('CREATE DATABASE IF NOT EXISTS hs_test');
      await sql.query('CREATE TABLE hs_test.dragstrip_mutex (name varchar(64), value bigint)');
      await sql.query("INSERT INTO hs_test.dragstrip_mutex VALUES ('theirs', 5)");
      const words = [
        '--storages',
        'mysql2',
        '--handlers',
        'get-lock',
        '--tests',
        '1',
        '--lock-keys',
        '1',
      ];
      const { status, stderr } = await callHere('mutex', ...words);
      assert.equal(status, 3, stderr);
      assert.match(
        stderr,
        /table hs_test\.dragstrip_mutex exists and was not created by Dragstrip/,
      );
      const [rows] = await sql.query('SELECT * FROM hs_test.dragstrip_mutex');
      assert.deepEqual(JSON.parse(JSON.stringify(rows)), [{ name: 'theirs', value: 5 }]);
    } finally {
      await sql.query('DROP TABLE IF EXISTS hs_test.dragstrip_mutex');
      await sql.end();
    }
  });

  test('a key that Dragstrip did not create is refused, and stays', async () => {
    await redis().set('dragstrip:mutex:mine', 'untouched');
    const { status, stderr } = await callHere('mutex', '--tests', '1', '--lock-keys', '1');
    assert.equal(status, 3, stderr);
    assert.match(stderr, /dragstrip:mutex:mine exists and was not created by Dragstrip/);
    assert.equal(await redis().get('dragstrip:mutex:mine'), 'untouched');
    await redis().del('dragstrip:mutex:mine');
  });
});

/**
 * @param {number} pid
 * @returns {number[]} its children and theirs
 */
function descendants(pid) {
  return childrenOf(pid).flatMap((one) => [one, ...descendants(one)]);
}
