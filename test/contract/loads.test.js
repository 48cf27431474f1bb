/**
 * Loads of one's own shape against real servers: values of many sizes from every kind of store,
 * distinguished from other rows of a server.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { report, run, seed } from '../../index.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure } from '../helpers/command-line.js';
import { openSql, withRedis } from '../helpers/own-clients.js';
import { assertAllOk, runHere } from '../helpers/run-here.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const servers = withServers(['redis', 'mariadb', 'tarantool']);
const redis = withRedis(servers);
const { callHere, file, resultIn } = withCommands(servers);

const WHOLE = Object.freeze({ rounds: 1, ops: 600, warmup: 50, inFlight: 16 });

/** @param {Record<string, unknown>} options */
const withState = (options) => ({
  home: file('state'),
  addresses: addressFlags(servers),
  ...options,
});

/**
 * @param {Record<string, unknown> & { workload: string }} options
 * @param {(options: any) => ReturnType<typeof runHere>} [runOne]
 */
async function runAll(options, runOne = runHere) {
  const result = await runOne(withState(options));
  assertAllOk(result);
  return result;
}

describe('values of a distribution', () => {
  const storages =
    'redis,ioredis,iovalkey,valkey-glide,mysql2,mariadb,mysql,manual-hs,tarantool,lmdb,memory';
  const rows = ['--rows', '500'];
  const uniform = { rows: 500, valueSize: 'uniform:8-1k' };

  it('are written by every loader and read by every driver, each row in its own size', async () => {
    writeFileSync(file('sizes.txt'), '# size count\n16 10\n300 5\n9000 1\n');
    const histogram = 'hist:16:10,300:5,9000:1';
    for (const [sizes, valueSize] of [
      ['hist:sizes.txt', histogram],
      ['uniform:8-1k', uniform.valueSize],
    ]) {
      const seeded = await callHere(
        ...['seed', 'redis', 'mysql', 'tarantool', ...rows, '--value-size', sizes],
      );
      assert.equal(seeded.status, 0, seeded.stderr);
      assert.match(seeded.stdout, /redis: 500 rows of \d+ to [\d,]+ characters, \d+ on average/);
      // The text of a histogram is what the file says: the rows of the other are there.
      const some = { ...WHOLE, rows: 500, valueSize };
      const all = { workload: 'async', storages: storages.split(','), ...some };
      const result = await runAll(all);
      assert.equal(result.benchmarks.length, 11);
      assert.match(
        await report(result),
        /500 rows of \d+ to [\d,]+ characters, \d+ on average \((uniform|hist):/,
      );
      const mixed = ['redis', 'mysql2', 'manual-hs', 'tarantool'];
      await runAll({ workload: 'mix', mix: 'get:60,set:40', storages: mixed, ...some });
    }
  });

  it('rows of another dataset: skipped, with the command that loads the right ones', async () => {
    await seed(withState({ servers: ['redis'], ...uniform }));
    const ended = await callHere(
      ...['race', '--storages', 'redis', ...rows, '--value-size', '1k', '--rounds', '1'],
      ...['--ops', '600', '--no-html'],
    );
    assert.equal(ended.status, 4);
    const says = ended.stderr + ended.stdout;
    assert.match(says, /500 rows of uniform:8-1000 characters, seed 1; this run needs 500 of 1000/);
    assert.match(says, /add --rows 500 --value-size uniform:8-1000 --seed 1/);
  });

  it('are part of slices, ceilings and fake servers', async () => {
    await seed(withState({ servers: ['redis', 'mysql'], ...uniform }));
    const storages = ['redis', 'mysql2'];
    const sliced = { inFlight: 16, rounds: 2, budget: 2000, warmup: 50, ...uniform };
    const result = await runAll({ workload: 'race', storages, ...sliced });
    assert.equal(result.dataset.valueSizes, 'uniform:8-1000');
    for (const { contenders } of result.comparison?.loads ?? []) {
      const ceilings = contenders.filter(({ group }) => group === 'ceiling');
      assert.deepEqual(
        ceilings.map((one) => one.rounds.length),
        [2, 2],
      );
    }
    // Measured before a race, of the loads that it has.
    const burst = { workload: 'race', load: 'burst', ops: 300, rounds: 1, warmup: 50, storages };
    const raced = await run(/** @type {any} */ (withState({ ...burst, ...uniform })), {
      limits: { measure: true, budgetMs: 1000 },
    });
    assert.equal(statusOf(raced), 0, JSON.stringify(raced.benchmarks));
    const { wire = [], driver = [] } = raced.limits ?? {};
    for (const { reason, opsPerSecond } of [...wire, ...driver]) {
      assert.ok((opsPerSecond ?? 0) > 0, String(reason));
    }
    const protocols = wire.map(({ protocol }) => protocol);
    assert.deepEqual(protocols, ['redis', 'mysql']);
    const limitedStorages = driver.map(({ storage }) => storage);
    assert.deepEqual(limitedStorages, storages);
  });

  it('race --limits measures their ceilings: none for a storage without a server', async () => {
    const burst = ['--load', 'burst', '--ops', '300', '--rounds', '1', '--warmup', '50'];
    const words = ['--storages', 'memory', ...rows, ...burst, '--limits', '--no-html'];
    const ended = await callHere('race', ...words, '--json', 'l.json');
    assert.equal(ended.status, 0, ended.stderr + ended.stdout);
    assert.deepEqual(resultIn('l.json').limits, { source: null, wire: [], driver: [] });
  });

  it('an invalid distribution is reported in one line', async () => {
    const ended = await callHere('race', '--value-size', 'normal:8-1k');
    assertFailure(ended, 2, /--value-size "normal:8-1k": not sizes of values/);
  });
});

describe('mixes on rows of their own', () => {
  const rows = { rows: 300, valueSize: 120 };
  const small = { workload: 'async', ...rows, ...WHOLE, ops: 1500, warmup: 100 };
  const redisFamily = ['redis:all', 'ioredis:all', 'iovalkey', 'valkey-glide'];
  const others = 'mysql2:all,mariadb:all,mysql,manual-hs:all,tarantool:all,lmdb,memory:all'.split(
    ',',
  );

  /** @param {import('../../lib/result.js').Result} result @param {readonly string[]} names */
  function assertReadBack({ benchmarks }, names) {
    for (const { id, rounds } of benchmarks) {
      for (const name of names) {
        const found = Number(rounds[0].metrics?.[name]);
        assert.ok(found > 0, `${id}: ${name} ${found}`);
      }
    }
  }

  /** Nothing is left on any server. */
  async function assertRemoved() {
    assert.deepEqual(await redis().keys('dragstrip:crud*'), []);
    const sql = await openSql(servers);
    const [tables] = await sql.query(
      "select table_name from information_schema.tables where table_name like 'dragstrip_crud%'",
    );
    sql.destroy();
    assert.deepEqual(tables, []);
  }

  it('inserts, deletions and hashes of every client of Redis, read back', async () => {
    const mix = 'get:40,set:20,insert:10,del:10,hget:10,hset:10';
    const result = await runAll({ ...small, storages: [...redisFamily, 'memory'], mix });
    const names = ['Sets', 'Hashes', 'Deletions'].map((name) => `readBack${name}`);
    assertReadBack(result, names);
    for (const { rounds } of result.benchmarks) {
      const kinds = new Map((rounds[0].kinds ?? []).map((one) => [one.name, one.ok]));
      for (const name of ['get', 'set', 'insert', 'del', 'hget', 'hset']) {
        assert.ok((kinds.get(name) ?? 0) > 20, `${name} ${kinds.get(name)}`);
      }
    }
    await assertRemoved();
  });

  it('scans, inserts and deletions of SQL, HandlerSocket, Tarantool and trees in files', async () => {
    const mix = 'get:50,set:10,scan:10,insert:15,del:15';
    const result = await runAll({ ...small, storages: others, mix });
    assertReadBack(result, ['readBackSets', 'readBackDeletions']);
    await assertRemoved();
  });

  it('expiring rows exist until their expiry and not after it', async () => {
    const how = { mix: 'get:80,insert:20', ttl: 700 };
    const storages = ['redis', 'ioredis', 'iovalkey', 'valkey-glide'];
    const result = await runAll({ ...small, ...how, storages });
    assertReadBack(result, ['readBackAlive', 'readBackExpired']);
    await assertRemoved();
  });

  it('by slices, side by side on one server, over several connections and processes', async () => {
    const sizes = { ...rows, mix: 'get:60,set:10,insert:15,del:15', warmup: 100 };
    const loads = [{ kind: 'sync' }, { kind: 'window', inFlight: 16 }];
    const storages = ['redis', 'ioredis', 'mysql2'];
    const how = { loads, rounds: 2, budget: 3000 };
    const result = await runAll({ workload: 'crud', storages, ...sizes, ...how });
    assert.equal(result.comparison?.loads.length, 2);
    const few = { ops: 600, rounds: 1, inFlight: 16, load: 'window' };
    const race = { workload: 'race', storages: ['redis'], ...sizes, ...few };
    await runAll({ ...race, connections: 4 });
    await runAll({ ...race, processes: 3 }, run);
    await assertRemoved();
  });

  it('ceilings and several machines are refused in one line', async () => {
    const mix = ['race', '--storages', 'redis', '--mix', 'get:90,insert:10'];
    const limits = await callHere(...mix, '--limits');
    assertFailure(limits, 2, /--limits and the workload crud, which has separate rows/);
    const agents = await callHere(...mix, '--agents', '2');
    assertFailure(agents, 2, /--agents and the workload crud, which has separate rows/);
  });

  it('a storage that lacks an operation is skipped with the reason', async () => {
    const options = { ...small, storages: ['redis', 'mysql2'], mix: 'get:90,scan:10' };
    const { benchmarks } = await runHere(withState(options));
    const [redisOne, mysql2] = ['redis', 'mysql2'].map((name) =>
      benchmarks.find(({ storage }) => storage === name),
    );
    assert.deepEqual([redisOne?.state, mysql2?.state], ['skipped', 'measured']);
    assert.match(String(redisOne?.reason), /redis has no scans of adjacent rows/);
  });
});
