/**
 * Sweeps against real servers: connections that are really opened, rows of several sizes that are
 * each other's neighbours and never mixed, and nothing of them left behind.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import loader from '../../data/loaders/redis.js';
import { openStorage } from '../../engine/opening.js';
import { createDataset } from '../../lib/dataset.js';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure } from '../helpers/command-line.js';
import { openSql, withRedis } from '../helpers/own-clients.js';
import { assertAllOk, runHere } from '../helpers/run-here.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const servers = withServers(['redis', 'mariadb', 'tarantool']);
const redis = withRedis(servers);
const { callHere, file, resultIn } = withCommands(servers);

const STORAGES = ['ioredis', 'redis', 'mysql2', 'tarantool', 'manual-hs', 'lmdb'];
const SIZES = Object.freeze(['--rows', '60', '--value-size', '16,3k']);
/** By slices, as few as there can be. */
const SLICES = Object.freeze(['--rounds', '1', '--budget', '2s', '--warmup', '50']);

/** @param {string[]} words */
async function race(...words) {
  const ended = await callHere(
    'race',
    ...words,
    '--json',
    'r.json',
    '--force',
    '--quiet',
    '--no-html',
  );
  assert.equal(ended.status, 0, ended.stderr);
  return resultIn('r.json');
}

describe('--value-size as a list', () => {
  it('reads rows of each size from every store, and leaves none behind', async () => {
    const result = await runHere({
      home: file('state'),
      addresses: addressFlags(servers),
      storages: STORAGES,
      rows: 60,
      valueSize: '16,3k',
      loads: [
        { kind: 'sync', operations: 100 },
        { kind: 'window', inFlight: 8, operations: 100 },
      ],
      warmup: 50,
      rounds: 1,
    });
    assertAllOk(result);
    assert.equal(result.benchmarks.length, 6 * 2 * 2);
    const sizes = new Set(result.benchmarks.map(({ load }) => load.valueSize));
    assert.deepEqual([...sizes], [16, 3000]);
    assert.deepEqual(await redis().keys('dragstrip:*'), []);
    const sql = await openSql(servers);
    const [tables] = await sql.query("SHOW TABLES IN hs_test LIKE 'dragstrip_value%'");
    sql.destroy();
    assert.deepEqual(tables, []);
  });

  it('is measured by slices like any race, with ceilings of the same rows', async () => {
    const result = await race(
      '--storages',
      'ioredis,lmdb',
      ...SIZES,
      '--in-flight',
      '20',
      ...SLICES,
    );
    assertAllOk(result);
    const loads = result.comparison?.loads ?? [];
    assert.deepEqual(
      loads.map(({ kind, valueSize }) => `${kind} ${valueSize}`),
      ['sync 16', 'sync 3000', 'window 16', 'window 3000'],
    );
    for (const { contenders } of loads) {
      const ceiling = contenders.find(({ group }) => group === 'ceiling');
      assert.equal(ceiling?.rounds.length, 1);
    }
  });

  it('refuses keys that it did not write, and does not change them', async () => {
    await redis().set('dragstrip:value-3000:row:1', 'mine');
    const words = ['race', '--storages', 'ioredis', ...SIZES, '--rounds', '1', '--ops', '10'];
    assertFailure(await callHere(...words, '--quiet'), 3, /dragstrip:value-3000:row:/);
    assert.deepEqual(await redis().keys('dragstrip:*'), ['dragstrip:value-3000:row:1']);
    assert.equal(await redis().getdel('dragstrip:value-3000:row:1'), 'mine');
  });

  it('refuses --limits, whose rows are of one size', async () => {
    const words = ['race', '--storages', 'ioredis', '--value-size', '16,64', '--limits', '--quiet'];
    assertFailure(await callHere(...words), 2, /--limits measures rows of one size/);
  });
});

describe('--connections as a list', () => {
  it('opens as many, and closes them', async () => {
    const dataset = { rows: 20, valueSize: 64, seed: 1 };
    const address = servers.address('redis');
    const credentials = servers.credentials('redis');
    await loader.seed({ address, credentials, dataset: createDataset(dataset) });
    const count = async () =>
      String(await redis().client('LIST'))
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
    const result = await race(...words, '--connections', '1,4', '--in-flight', '16', ...SLICES);
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
      assert.equal(contenders.find(({ group }) => group === 'ceiling')?.rounds.length, 1);
    }
  });
});
