/**
 * `dragstrip ycsb` on real servers: every core workload on each style of driver, every reply
 * right, and the rows the same afterwards.
 */
// Needs: redis, mariadb

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { withCommands } from '../helpers/command-folder.js';
import { assertAllOk, runHere } from '../helpers/run-here.js';
import { addressFlags, withServers } from '../helpers/servers.js';

const ROWS = ['--rows', '300', '--value-size', '64'];
const SMALL = ['--ops', '100', '--in-flight', '16', '--warmup', '40', '--rounds', '1'];

describe('ycsb on real servers', () => {
  const servers = withServers(['redis', 'mariadb']);
  const { callHere, file, resultIn } = withCommands(servers);
  before(async () => {
    await callRight('seed', 'redis', 'mysql', ...ROWS);
  });

  /** @param {string[]} words */
  const callRight = async (...words) => {
    const ended = await callHere(...words);
    assert.equal(ended.status, 0, `${words.join(' ')}: ${ended.stderr}\n${ended.stdout}`);
    return ended.stdout;
  };

  test('A to F, many in flight: every reply is correct', async () => {
    const text = await callRight('ycsb', '--storages', 'ioredis', '--core', 'f', ...ROWS, ...SMALL);
    assert.match(text, /^Dragstrip .*: ycsb\n/);
    assert.match(text, /\nops\/s: verified operations per second/, 'the legend');
    const storages = ['ioredis', 'mysql2', 'manual-hs'];
    const { benchmarks } = await runHere({
      home: file('state'),
      addresses: addressFlags(servers),
      workload: 'ycsb',
      storages,
      rows: 300,
      valueSize: 64,
      ops: 150,
      inFlight: 16,
      warmup: 40,
      rounds: 1,
    });
    const measured = benchmarks.filter(({ state }) => state !== 'skipped');
    assert.equal(measured.length, storages.length * 6, JSON.stringify(measured.length));
    assertAllOk({ benchmarks: measured });
    for (const { id, rounds } of measured) assert.equal(rounds[0].outcomes.ok, 150, id);
  });

  test('by slices, one and many in flight: sums, kinds and compared replies are exact', async () => {
    const how = ['--core', 'a,e', '--in-flight', '1,16', '--rounds', '1', '--budget', '2s'];
    const storages = ['--storages', 'ioredis,mysql2', '--warmup', '40'];
    await callRight('ycsb', ...storages, ...ROWS, ...how, '--json', 'slices.json');
    const { benchmarks, comparison } = resultIn('slices.json');
    assert.equal(comparison?.loads.length, 4);
    assert.equal(benchmarks.length, 8);
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

  test('the rows are unchanged, counted and sampled', async () => {
    const again = await callRight('seed', 'redis', 'mysql', ...ROWS);
    assert.match(again, /redis: .*already present[\s\S]*mysql: .*already present/);
  });
});
