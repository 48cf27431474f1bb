/**
 * `dragstrip ycsb` on real servers: every core workload on each style of driver, every reply
 * right, and the rows the same afterwards.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { parseResult } from '../../lib/parse-result.js';
import { runCommand } from '../helpers/command-line.js';
import { withFolder } from '../helpers/folder.js';
import { addressVariables, withServers } from '../helpers/servers.js';

const ROWS = ['--rows', '300', '--value-size', '64'];
const SMALL = [...ROWS, '--ops', '400', '--in-flight', '16', '--warmup', '40', '--rounds', '1'];

describe('ycsb on real servers', () => {
  const servers = withServers(['redis', 'mariadb']);
  const folder = withFolder();
  before(async () => {
    await call('seed', 'redis', 'mysql', ...ROWS);
  });

  /** @param {string[]} words */
  const call = async (...words) => {
    const env = addressVariables(servers);
    const ended = await runCommand(folder, ['bin/dragstrip.js', ...words], { env });
    assert.equal(ended.status, 0, `${words.join(' ')}: ${ended.stderr}\n${ended.stdout}`);
    return ended.stdout;
  };

  test('A to F, many in flight: every reply is right', async () => {
    const storages = ['ioredis', 'mysql2', 'manual-hs'];
    const file = 'ycsb.json';
    const text = await call('ycsb', '--storages', storages.join(','), ...SMALL, '--json', file);
    assert.match(text, /^Dragstrip .*: ycsb\n/);
    assert.match(text, /\nops\/s: verified operations per second/, 'the legend');
    const { benchmarks } = parseResult(readFileSync(path.join(folder, file), 'utf8'), file);
    const measured = benchmarks.filter(({ state }) => state !== 'skipped');
    assert.equal(measured.length, storages.length * 6, JSON.stringify(measured.length));
    for (const { id, state, rounds, load } of measured) {
      assert.equal(state, 'measured', `${id}: ${rounds[0]?.failure?.message}`);
      assert.equal(rounds[0].outcomes.ok, load.operations, id);
    }
  });

  test('by slices, one and many in flight: sums, kinds and compared replies are exact', async () => {
    const file = 'slices.json';
    const how = ['--core', 'a,e', '--in-flight', '1,16', '--rounds', '1', '--budget', '4s'];
    const storages = ['--storages', 'redis,ioredis,mysql2'];
    await call('ycsb', ...storages, ...ROWS, ...how, '--json', file);
    const { benchmarks, comparison } = parseResult(
      readFileSync(path.join(folder, file), 'utf8'),
      file,
    );
    assert.equal(comparison?.loads.length, 4);
    assert.equal(benchmarks.length, 12);
    for (const { id, state, rounds } of benchmarks) {
      assert.deepEqual([id, state, rounds.length], [id, 'measured', 1]);
      for (const { outcomes, scheduled, kinds = [], compared, server } of rounds) {
        assert.equal(outcomes.ok, scheduled, id);
        assert.equal(
          kinds.reduce((sum, { ok }) => sum + ok, 0),
          scheduled,
          id,
        );
        assert.ok((compared?.replies ?? 0) > 0, id);
        assert.ok((server?.cpuNs ?? 0) > 0, id);
      }
    }
  });

  test('the rows are as they were written, counted and sampled', async () => {
    const again = await call('seed', 'redis', 'mysql', ...ROWS);
    assert.match(again, /redis: .*there already[\s\S]*mysql: .*there already/);
  });
});
