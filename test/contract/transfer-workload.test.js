/** The example with a pool and transactions, on a real server through each driver that can. */
// Needs: redis

import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { withCommands } from '../helpers/command-folder.js';
import { assertFailure, ROOT } from '../helpers/command-line.js';
import { withRedis } from '../helpers/own-clients.js';
import { withServers } from '../helpers/servers.js';

const FILE = path.join(ROOT, 'examples', 'transfer-workload.js');

describe('examples/transfer-workload.js', () => {
  const servers = withServers(['redis']);
  const redis = withRedis(servers);
  const { callHere, resultIn } = withCommands(servers);
  const run = (/** @type {string[]} */ ...words) => callHere('run', '--workload', FILE, ...words);

  test('transfers through each driver, no amount is lost, the keys are removed', async () => {
    const words = ['--storages', 'redis,ioredis,iovalkey', '--ops', '500', '--warmup', '100'];
    const ended = await run(...words, '--pool', '3', '--rounds', '1', '--json', 'r.json');
    assert.equal(ended.status, 0, ended.stderr + ended.stdout);
    const { benchmarks } = resultIn('r.json');
    assert.equal(benchmarks.length, 3);
    for (const { id, rounds, parameters, state } of benchmarks) {
      assert.equal(state, 'measured', `${id}: ${rounds[0]?.failure?.message}`);
      assert.deepEqual(parameters, { pool: 3 });
      for (const { outcomes, metrics } of rounds) {
        assert.equal(outcomes.ok, 500, id);
        assert.ok(Number(metrics?.['poolWaitNsMean']) > 0, `32 in flight wait for 3: ${id}`);
      }
    }
    const stats = await redis().info('commandstats');
    const calls = Number(/cmdstat_exec:calls=(\d+)/.exec(stats)?.[1]);
    // Three drivers, each with its warm-up.
    assert.ok(calls >= 3 * 500, `transactions at the server: ${calls}`);
    assert.deepEqual(await redis().keys('dragstrip:transfer:*'), []);
  });

  test('named storages without commands are refused', async () => {
    assertFailure(await run('--storages', 'valkey-glide'), 4, /does not support command/);
  });
});
