/**
 * Sweeps against real servers: connections that are really opened, rows of several sizes that are
 * each other's neighbours and never mixed, and nothing of them left behind.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import { openStorage } from '../../engine/opening.js';
import { parseResult } from '../../lib/parse-result.js';
import { assertFailure, runCommand } from '../helpers/command-line.js';
import { addressVariables, withServers } from '../helpers/servers.js';

const servers = withServers(['redis', 'mariadb', 'tarantool']);
const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-sweeps-'));
const STORAGES = 'ioredis,redis,mysql2,tarantool,manual-hs,lmdb';

/** @type {Redis | undefined} */
let client;
const admin = () => {
  client ??= new Redis({
    ...servers.address('redis').main,
    ...servers.login('redis'),
    retryStrategy: () => null,
  });
  return client;
};
after(() => {
  client?.disconnect();
  rmSync(folder, { recursive: true, force: true });
});

/** @param {string[]} words */
async function run(...words) {
  const file = 'r.json';
  const call = ['bin/dragstrip.js', ...words, '--json', file, '--force', '--quiet', '--no-html'];
  const ended = await runCommand(folder, call, { env: addressVariables(servers) });
  assert.equal(ended.status, 0, ended.stderr);
  return parseResult(readFileSync(path.join(folder, file), 'utf8'), file);
}

/** @param {Awaited<ReturnType<typeof run>>} result */
function assertAllOk({ benchmarks }) {
  for (const { id, state, rounds, reason } of benchmarks) {
    assert.equal(state, 'measured', `${id}: ${reason}`);
    for (const { outcomes, scheduled } of rounds) assert.equal(outcomes.ok, scheduled, id);
  }
}

describe('--value-size as a list', () => {
  it('reads rows of each size from every store, and leaves none of them', async () => {
    const words = ['--storages', STORAGES, '--rows', '60', '--value-size', '16,3k'];
    const whole = ['--rounds', '1', '--ops', '300', '--warmup', '50', '--in-flight', '8'];
    const result = await run('race', ...words, ...whole);
    assertAllOk(result);
    assert.equal(result.benchmarks.length, 6 * 2 * 2);
    const sizes = new Set(result.benchmarks.map(({ load }) => load.valueSize));
    assert.deepEqual([...sizes], [16, 3000]);
    assert.deepEqual(await admin().keys('dragstrip:*'), []);
    const { host, port } = servers.address('mariadb')['sql'];
    const sql = await createConnection({ host, port, ...servers.login('mariadb') });
    const [tables] = await sql.query("SHOW TABLES IN hs_test LIKE 'dragstrip_value%'");
    sql.destroy();
    assert.deepEqual(tables, []);
  });

  it('is measured by slices like every race, with ceilings of the same rows', async () => {
    const words = ['--storages', 'ioredis,lmdb', '--rows', '60', '--value-size', '16,3k'];
    const result = await run(
      'race',
      ...words,
      '--in-flight',
      '20',
      '--rounds',
      '2',
      '--budget',
      '4s',
    );
    assertAllOk(result);
    const loads = result.comparison?.loads ?? [];
    assert.deepEqual(
      loads.map(({ kind, valueSize }) => `${kind} ${valueSize}`),
      ['sync 16', 'sync 3000', 'window 16', 'window 3000'],
    );
    for (const { contenders } of loads) {
      const ceiling = contenders.find(({ group }) => group === 'ceiling');
      assert.equal(ceiling?.rounds.length, 2);
    }
  });

  it('refuses keys that it did not write, and changes none', async () => {
    await admin().set('dragstrip:value-3000:row:1', 'mine');
    const words = ['race', '--storages', 'ioredis', '--rows', '60', '--value-size', '16,3k'];
    const call = ['bin/dragstrip.js', ...words, '--rounds', '1', '--ops', '10', '--quiet'];
    const ended = await runCommand(folder, call, { env: addressVariables(servers) });
    assertFailure(ended, 3, /dragstrip:value-3000:row:/);
    assert.deepEqual(await admin().keys('dragstrip:*'), ['dragstrip:value-3000:row:1']);
    assert.equal(await admin().getdel('dragstrip:value-3000:row:1'), 'mine');
  });

  it('refuses --limits, whose rows are of one size', async () => {
    const words = ['race', '--storages', 'ioredis', '--value-size', '16,64', '--limits', '--quiet'];
    const ended = await runCommand(folder, ['bin/dragstrip.js', ...words], {
      env: addressVariables(servers),
    });
    assertFailure(ended, 2, /--limits measures rows of one size/);
  });
});

describe('--connections as a list', () => {
  it('opens as many, and closes them', async () => {
    const { loader } = { loader: (await import('../../data/loaders/redis.js')).default };
    const { createDataset } = await import('../../lib/dataset.js');
    const dataset = { rows: 20, valueSize: 64, seed: 1 };
    const address = servers.address('redis');
    const credentials = servers.credentials('redis');
    await loader.seed({ address, credentials, dataset: createDataset(dataset) });
    const count = async () =>
      String(await admin().client('LIST'))
        .trim()
        .split('\n').length;
    const before = await count();
    const opened = await openStorage({
      storage: 'ioredis',
      profile: 'default',
      workload: 'get',
      workloadOptions: {},
      load: { kind: 'window', inFlight: 8, operations: 8, durationNs: null, connections: 4 },
      address,
      dataset,
      folder: '',
      seed: 1,
      stallNs: 1e10,
      serverPids: [],
      credentialVariables: servers.running('redis').credentials ?? {},
    });
    await Promise.all(opened.handles.map((one) => /** @type {any} */ (one).get(1)));
    assert.equal((await count()) - before, 4);
    await opened.handles[0].close();
  });

  it('races each window on each number, ceilings too; an embedded store has none', async () => {
    const words = ['--storages', 'ioredis,lmdb', '--rows', '20', '--value-size', '64'];
    const axis = ['--connections', '1,4', '--in-flight', '16', '--rounds', '2', '--budget', '4s'];
    const result = await run('race', ...words, ...axis);
    const of = (/** @type {string} */ name) =>
      result.benchmarks.filter(({ storage }) => storage === name);
    assert.deepEqual(
      of('ioredis').map(({ state, load }) => [state, load.connections]),
      [
        ['measured', undefined], // one in flight stays in the race
        ['measured', undefined],
        ['measured', 4],
      ],
    );
    assert.deepEqual(
      of('lmdb').map(({ state }) => state),
      ['measured', 'measured', 'skipped'],
    );
    assert.match(String(of('lmdb')[2].reason), /has no connections/);
    for (const { contenders } of result.comparison?.loads ?? []) {
      assert.equal(contenders.find(({ group }) => group === 'ceiling')?.rounds.length, 2);
    }
  });
});
