/**
 * The race on real servers, from the original program's own scripts to the table: order of lines,
 * results, another dataset. Servers that are killed or stopped: test/fault/lost-server.test.js.
 */
// Needs: redis, mariadb, tarantool

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withCommands } from '../helpers/command-folder.js';
import { openRedis } from '../helpers/own-clients.js';
import { withServers } from '../helpers/servers.js';

/** @typedef {import('../../lib/result.js').Result} Result */

const servers = withServers(['redis', 'mariadb', 'tarantool']);
const ROWS = ['--rows', '500'];
const SMALL = [...ROWS, '--ops', '400', '--warmup', '50'];
/** In the order of the original program; newer storages follow. */
const STORAGES = ['redis', 'ioredis', 'node-handlersocket', 'manual-hs', 'tarantool', 'mysql2'];

const { callHere, callScript, resultIn } = withCommands(servers);

/** @param {Result} result */
function assertBalance(result) {
  for (const { id, rounds } of result.benchmarks) {
    for (const { outcomes, scheduled, samples, latency } of rounds) {
      const sum = Object.values(outcomes).reduce((all, n) => all + n, 0);
      assert.equal(sum, scheduled, id);
      assert.equal(latency?.count ?? 0, outcomes.ok, id);
      assert.ok(samples.length <= 10, id);
    }
  }
}

describe('the commands of the original program', { timeout: 600_000 }, () => {
  test('fill the servers, and detect the data the second time', async () => {
    const names = ['redis', 'mysql', 'tarantool'];
    for (const name of names) {
      const first = await callScript(`data/${name}.js`, ...ROWS);
      assert.equal(first.status, 0, first.stderr);
      const written = `${name}: 500 rows of 1024 characters written in [\\d.]+ s`;
      assert.match(
        first.stdout,
        new RegExp(`^${written} \\(counted, \\d+ compared in full\\)\\n$`),
      );
    }
    const second = await callHere('seed', ...names, ...ROWS);
    assert.equal(second.status, 0, second.stderr);
    const there = /already present \(counted, \d+ compared in full\)/g;
    assert.equal(second.stdout.match(there)?.length, names.length, second.stdout);
  });

  for (const script of ['async_test.js', 'test.js']) {
    test(`${script}: the original program’s lines in its order, then the table`, async () => {
      const file = `${script}on`;
      const { status, stdout, stderr } = await callScript(script, ...SMALL, '--json', file);
      assert.equal(status, 0, `${stdout}${stderr}`);
      const [lines, table] = stdout.split('\nDone\n');
      const block =
        "Test '([\\w-]+)' started\nStorage created in [\\d.]+ ms\n" +
        'Test finished: 400 ops, [\\d.]+ ms, [\\d.]+ ops/sec\n';
      assert.match(lines, new RegExp(`^(${block}\n)*${block}$`));
      const order = [...lines.matchAll(/^Test '(.+)' started$/gm)].map(([, name]) => name);
      assert.deepEqual(
        order.filter((name) => STORAGES.includes(name)),
        STORAGES,
      );
      assert.deepEqual(order.slice(-3).includes('memory'), true);
      for (const name of STORAGES) assert.match(table, new RegExp(`^~? ?${name} `, 'm'));
      const result = resultIn(file);
      assertBalance(result);
      assert.equal(result.state, 'complete');
      assert.equal(result.servers.length, 3);
      for (const { server, outcomes } of result.benchmarks
        .filter(({ storage }) => STORAGES.includes(storage))
        .flatMap(({ rounds }) => rounds)) {
        assert.equal(outcomes.ok, 400);
        assert.ok(server !== null, 'the CPU time of a server here is known');
      }
    });
  }
});

describe('the race', { timeout: 600_000 }, () => {
  test('runs every profile of every storage, one and many in flight', async () => {
    const words = ['--rounds', '1', '--no-html', '--json', 'race.json'];
    const { status, stdout, stderr } = await callHere('race', ...SMALL, ...words);
    assert.equal(status, 0, `${stdout}${stderr}`);
    const result = resultIn('race.json');
    assertBalance(result);
    const ran = result.benchmarks.filter(({ state }) => state === 'measured');
    for (const name of STORAGES) {
      const kinds = ran.filter(({ storage }) => storage === name).map(({ load }) => load.kind);
      assert.ok(kinds.includes('sync') && kinds.includes('window'), name);
    }
    const csv = await callHere('report', 'race.json', '--format', 'csv');
    assert.equal(csv.status, 0, csv.stderr);
    assert.ok(csv.stdout.split('\n').length > ran.length);
  });

  test('skips servers with other rows, with the command to load the right ones', async () => {
    const words = ['test.js', '--rows', '400', '--ops', '50', '--warmup', '0'];
    const { status, stdout } = await callScript(...words, '--json', 'other.json');
    assert.equal(status, 4, stdout); // nothing that has a server could run
    assert.match(stdout, /redis contains another dataset: 500 rows of 1024 characters, seed 1/);
    const { benchmarks } = resultIn('other.json');
    const redis = benchmarks.find(({ storage }) => storage === 'redis');
    assert.deepEqual([redis?.state, redis?.rounds], ['skipped', []]);
    assert.match(
      redis?.hint ?? '',
      /add --rows 500 .* or run npx dragstrip seed redis --rows 400 --value-size 1024 --seed 1/,
    );
    const named = await callScript(...words, '--storages', 'ioredis');
    assert.equal(named.status, 4);
    assert.match(named.stderr, /^dragstrip: storage ioredis: redis contains another dataset.*\n$/);
  });

  test('detects rows that were corrupted after loading', async () => {
    const redis = openRedis(servers);
    const key = 'dragstrip:row:77';
    const right = await redis.get(key);
    assert.equal(right?.length, 1024);
    await redis.set(key, `x${right?.slice(1)}`);
    try {
      const words = ['--storages', 'ioredis', ...ROWS, '--ops', '5000', '--json', 'spoilt.json'];
      const { status, stdout } = await callScript('async_test.js', ...words);
      assert.equal(status, 5, stdout);
      const result = resultIn('spoilt.json');
      const [{ state, rounds }] = result.benchmarks;
      // The check before the clock starts may meet the row already; then nothing is measured.
      if (state === 'failed') assert.equal(rounds[0].failure?.code, 'E_DATA');
      else assert.ok(rounds[0].outcomes.mismatch > 0);
    } finally {
      await redis.set(key, String(right));
      redis.disconnect();
    }
  });
});
