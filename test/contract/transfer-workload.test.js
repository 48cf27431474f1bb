/** The example with a pool and transactions, on a real server through each driver that can. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { parseResult } from '../../lib/parse-result.js';
import { assertFailure, ROOT, runCommand } from '../helpers/command-line.js';
import { addressVariables, withServers } from '../helpers/servers.js';

const FILE = path.join(ROOT, 'examples', 'transfer-workload.js');

describe('examples/transfer-workload.js', () => {
  const servers = withServers(['redis']);
  let folder = '';
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-transfer-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** @param {string[]} words */
  const call = (...words) =>
    runCommand(folder, ['bin/dragstrip.js', 'run', '--workload', FILE, ...words], {
      env: addressVariables(servers),
    });

  test('transfers through each driver, no amount is lost, the keys are removed', async () => {
    const words = ['--storages', 'redis,ioredis,iovalkey', '--ops', '500', '--warmup', '100'];
    const ended = await call(...words, '--pool', '3', '--rounds', '1', '--json', 'r.json');
    assert.equal(ended.status, 0, ended.stderr + ended.stdout);
    const { benchmarks } = parseResult(readFileSync(path.join(folder, 'r.json'), 'utf8'), 'r.json');
    assert.equal(benchmarks.length, 3);
    for (const { id, rounds, parameters, state } of benchmarks) {
      assert.equal(state, 'measured', `${id}: ${rounds[0]?.failure?.message}`);
      assert.deepEqual(parameters, { pool: 3 });
      for (const { outcomes, metrics } of rounds) {
        assert.equal(outcomes.ok, 500, id);
        assert.ok(Number(metrics?.['poolWaitNsMean']) > 0, `32 in flight wait for 3: ${id}`);
      }
    }
    const redis = new Redis({ ...servers.address('redis')['main'], ...servers.login('redis') });
    try {
      const stats = await redis.info('commandstats');
      const calls = Number(/cmdstat_exec:calls=(\d+)/.exec(stats)?.[1]);
      // Three drivers, each with its warm-up.
      assert.ok(calls >= 3 * 500, `transactions at the server: ${calls}`);
      assert.deepEqual(await redis.keys('dragstrip:transfer:*'), []);
    } finally {
      redis.disconnect();
    }
  });

  test('storages without commands are refused if they are named', async () => {
    assertFailure(await call('--storages', 'valkey-glide'), 4, /does not support command/);
  });
});
