/**
 * Loads of one's own shape against real servers: values of many sizes from every kind of store,
 * distinguished from other rows of a server.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import { parseResult } from '../../lib/parse-result.js';
import { assertFailure, runCommand } from '../helpers/command-line.js';
import { addressVariables, withServers } from '../helpers/servers.js';

const servers = withServers(['redis', 'mariadb', 'tarantool']);
const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-loads-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string[]} words */
function call(...words) {
  return runCommand(folder, ['bin/dragstrip.js', ...words], { env: addressVariables(servers) });
}

/** @param {string[]} words */
async function run(...words) {
  const file = 'r.json';
  const page = words[0] === 'race' ? ['--no-html'] : [];
  const ended = await call(...words, '--json', file, '--force', ...page);
  assert.equal(ended.status, 0, ended.stderr + ended.stdout);
  const result = parseResult(readFileSync(path.join(folder, file), 'utf8'), file);
  return { result, text: ended.stdout };
}

/** @param {import('../../lib/result.js').Result} result */
function assertAllOk({ benchmarks }) {
  for (const { id, state, rounds, reason } of benchmarks) {
    assert.equal(state, 'measured', `${id}: ${reason ?? rounds[0]?.failure?.message}`);
    for (const { outcomes, scheduled } of rounds) assert.equal(outcomes.ok, scheduled, id);
  }
}

const WHOLE = ['--rounds', '1', '--ops', '600', '--warmup', '50', '--in-flight', '16'];

describe('values of a distribution', () => {
  const storages =
    'redis,ioredis,iovalkey,valkey-glide,mysql2,mariadb,mysql,manual-hs,tarantool,lmdb,memory';
  const rows = ['--rows', '500'];

  it('are written by every loader and read by every driver, each row in its own size', async () => {
    writeFileSync(path.join(folder, 'sizes.txt'), '# size count\n16 10\n300 5\n9000 1\n');
    for (const sizes of ['uniform:8-1k', 'hist:sizes.txt']) {
      const words = [...rows, '--value-size', sizes];
      const seeded = await call('seed', 'redis', 'mysql', 'tarantool', ...words);
      assert.equal(seeded.status, 0, seeded.stderr);
      assert.match(seeded.stdout, /redis: 500 rows of \d+ to [\d,]+ characters, \d+ on average/);
      const { result, text } = await run('async', '--storages', storages, ...words, ...WHOLE);
      assertAllOk(result);
      assert.equal(result.benchmarks.length, 11);
      assert.match(text, /500 rows of \d+ to [\d,]+ characters, \d+ on average \((uniform|hist):/);
      const mixed = await run(
        ...['run', '--workload', 'mix', '--mix', 'get:60,set:40'],
        ...['--storages', 'redis,mysql2,manual-hs,tarantool', ...words, ...WHOLE],
      );
      assertAllOk(mixed.result);
    }
    const histogram = 'hist:16:10,300:5,9000:1';
    const again = await call('seed', 'redis', ...rows, '--value-size', histogram);
    assert.match(again.stdout, /there already/, 'the text of a histogram is what the file says');
  });

  it('other rows are no rows of this run: skipped, with the command that makes them', async () => {
    const seeded = await call('seed', 'redis', ...rows, '--value-size', 'uniform:8-1k');
    assert.equal(seeded.status, 0, seeded.stderr);
    const fixed = [...rows, '--value-size', '1k'];
    const ended = await call('race', '--storages', 'redis', ...fixed, ...WHOLE, '--no-html');
    assert.equal(ended.status, 4);
    const says = ended.stderr + ended.stdout;
    assert.match(says, /500 rows of uniform:8-1000 characters, seed 1; this run needs 500 of 1000/);
    assert.match(says, /add --rows 500 --value-size uniform:8-1000 --seed 1/);
  });

  it('are part of slices, ceilings and fake servers', async () => {
    const words = [...rows, '--value-size', 'uniform:8-1k'];
    await call('seed', 'redis', 'mysql', 'tarantool', ...words);
    const how = ['--in-flight', '16', '--rounds', '2', '--budget', '20s', '--limits'];
    const { result } = await run('race', '--storages', 'redis,mysql2', ...words, ...how);
    assertAllOk(result);
    assert.equal(result.dataset.valueSizes, 'uniform:8-1000');
    const { wire = [], driver = [] } = result.limits ?? {};
    for (const { reason, opsPerSecond } of [...wire, ...driver]) {
      assert.ok((opsPerSecond ?? 0) > 0, String(reason));
    }
    const protocols = wire.map(({ protocol }) => protocol);
    assert.deepEqual(protocols, ['redis', 'mysql']);
    const storages = driver.map(({ storage }) => storage); // of both loads
    assert.deepEqual(storages, ['redis', 'redis', 'mysql2', 'mysql2']);
  });

  it('what is no distribution is one clear line', async () => {
    const ended = await call('race', '--value-size', 'normal:8-1k');
    assertFailure(ended, 2, /--value-size "normal:8-1k": not sizes of values/);
  });
});

describe('mixes on rows of their own', () => {
  const rows = ['--rows', '300', '--value-size', '120'];
  const small = [...rows, '--ops', '1500', '--warmup', '100', '--rounds', '1', '--in-flight', '16'];
  const redisFamily = 'redis:all,ioredis:all,iovalkey,valkey-glide,memory';
  const others = 'mysql2:all,mariadb:all,mysql,manual-hs:all,tarantool:all,lmdb,memory:all';

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
    const { main } = servers.address('redis');
    const client = new Redis({ ...main, ...servers.login('redis'), retryStrategy: () => null });
    const keys = await client.keys('dragstrip:crud*');
    client.disconnect();
    assert.deepEqual(keys, []);
    const { host, port } = servers.address('mariadb')['sql'];
    const { user, password } = servers.login('mariadb');
    const sql = await createConnection({ host, port, user, password });
    const [tables] = await sql.query(
      "select table_name from information_schema.tables where table_name like 'dragstrip_crud%'",
    );
    sql.destroy();
    assert.deepEqual(tables, []);
  }

  it('inserts, deletions and hashes of every client of Redis, read back', async () => {
    const mix = 'get:40,set:20,insert:10,del:10,hget:10,hset:10';
    const { result } = await run('async', '--storages', redisFamily, '--mix', mix, ...small);
    assertAllOk(result);
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
    const { result } = await run('async', '--storages', others, '--mix', mix, ...small);
    assertAllOk(result);
    assertReadBack(result, ['readBackSets', 'readBackDeletions']);
    await assertRemoved();
  });

  it('rows that expire are there until their time and gone after it', async () => {
    const how = ['--mix', 'get:80,insert:20', '--ttl', '700ms', ...small];
    const { result } = await run('async', '--storages', redisFamily.replace(',memory', ''), ...how);
    assertAllOk(result);
    assertReadBack(result, ['readBackAlive', 'readBackExpired']);
    await assertRemoved();
  });

  it('by slices, side by side on one server, over several connections and processes', async () => {
    const mix = ['--mix', 'get:60,set:10,insert:15,del:15', ...rows];
    const sliced = ['--in-flight', '1,16', '--rounds', '2', '--budget', '8s'];
    const crud = ['run', '--workload', 'crud', '--storages', 'redis,ioredis,mysql2'];
    const { result } = await run(...crud, ...mix, ...sliced);
    assertAllOk(result);
    assert.equal(result.comparison?.loads.length, 2);
    const whole = ['--ops', '2k', '--warmup', '100', '--in-flight', '16', '--load', 'window'];
    const over = await run('race', '--storages', 'redis', ...mix, ...whole, '--connections', '4');
    assertAllOk(over.result);
    const shared = await run('race', '--storages', 'redis', ...mix, ...whole, '--processes', '3');
    assertAllOk(shared.result);
    await assertRemoved();
  });

  it('ceilings and several machines are refused in one line', async () => {
    const mix = ['race', '--storages', 'redis', '--mix', 'get:90,insert:10'];
    const limits = await call(...mix, '--limits');
    assertFailure(limits, 2, /--limits and the workload crud, which has rows of its own/);
    const agents = await call(...mix, '--agents', '2');
    assertFailure(agents, 2, /--agents and the workload crud, which has rows of its own/);
  });

  it('a storage that lacks an operation is skipped with the reason', async () => {
    const how = ['--mix', 'get:90,scan:10', ...small];
    const { result } = await run('async', '--storages', 'redis,mysql2', ...how);
    const [redis, mysql2] = ['redis', 'mysql2'].map((name) =>
      result.benchmarks.find(({ storage }) => storage === name),
    );
    assert.deepEqual([redis?.state, mysql2?.state], ['skipped', 'measured']);
    assert.match(String(redis?.reason), /redis has no scans of adjacent rows/);
  });
});
