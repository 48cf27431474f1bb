/** Storages under Bun and under another Node, from npm, against a real server. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { run } from '../../index.js';
import { createDataset } from '../../lib/dataset.js';
import { withFolder } from '../helpers/folder.js';
import { withServers } from '../helpers/servers.js';

const DATASET = { rows: 500, valueSize: 100, seed: 3 };

describe('other runtimes', () => {
  const servers = withServers(['redis']);
  const home = withFolder();

  before(async () => {
    const [address, credentials] = [servers.address('redis'), servers.credentials('redis')];
    const loader = await getLoader('redis');
    await loader.seed({ address, credentials, dataset: createDataset(DATASET) });
  });

  test('they verify every reply, and what a runtime lacks is skipped with its reason', async () => {
    const { host, port } = servers.address('redis').main;
    const result = await run({
      storages: ['ioredis', 'bun-redis'],
      runtimes: ['node@22', 'bun'],
      home,
      ...DATASET,
      addresses: { redis: `${host}:${port}` },
      rounds: 2,
      budget: 6000,
      warmup: 100,
      precision: 0.5,
      loads: [{ kind: 'window', inFlight: 20 }],
    });
    const names = result.storages.map(({ name, runtime }) => [
      name.replace(/\d+\.\d+\.\d+$/, ''),
      runtime,
    ]);
    assert.deepEqual(
      names.map(([name]) => name),
      ['ioredis', 'ioredis@node-', 'ioredis@bun-', 'bun-redis@bun-'],
    );
    assert.match(String(names[2][1]), /^bun \d/);
    assert.equal(names[0][1], undefined);
    for (const { id, state, rounds } of result.benchmarks) {
      assert.equal(state, 'measured', id);
      for (const { outcomes, scheduled } of rounds) {
        assert.ok(outcomes.ok > 0);
        assert.equal(outcomes.ok, scheduled, id);
      }
    }
    await assert.rejects(run({ storages: ['bun-redis'], home, ...DATASET }), {
      code: 'E_TARGET',
      hint: /--runtime bun/,
    });
  });
});
