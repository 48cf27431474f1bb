/** Storages under Bun and under another Node, from npm, against a real server. */
// Needs: redis

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { report, run } from '../../index.js';
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

  test('they verify every reply, and unsupported storages are skipped with the reason', async () => {
    const { host, port } = servers.address('redis').main;
    const result = await run({
      storages: ['ioredis', 'bun-redis'],
      runtimes: ['node@22', 'bun'],
      home,
      ...DATASET,
      addresses: { redis: `${host}:${port}` },
      rounds: 2,
      budget: 2000,
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
    // Bun reports no collections: its slices cannot be charged, so that no contender's are typical.
    const [{ contenders }] = result.comparison?.loads ?? [];
    for (const { name, group, rounds } of contenders ?? []) {
      if (group !== 'networked') continue;
      const charged = rounds.map((round) => round.charged);
      assert.deepEqual(charged, Array(2).fill(!name.includes('@bun')), name);
    }
    assert.match(
      await report(result),
      /ratios are of +trimmed means: garbage of ioredis@bun-[\d.]+, bun-redis@bun-[\d.]+ unknown/,
    );
    await assert.rejects(run({ storages: ['bun-redis'], home, ...DATASET }), {
      code: 'E_TARGET',
      hint: /--runtime bun/,
    });
  });
});
