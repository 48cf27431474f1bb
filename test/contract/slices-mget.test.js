/**
 * Fetches of many keys by slices on a real Redis: every value is right, the lines of the original
 * program are there. Contenders of a known difference: test/long/planted.test.js.
 */
// Needs: redis

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withCommands } from '../helpers/command-folder.js';
import { withServers } from '../helpers/servers.js';

describe('mget by slices', { timeout: 600_000 }, () => {
  const servers = withServers(['redis']);
  const { callHere, resultIn } = withCommands(servers);

  test('series per number of keys, the original lines, one connection per fetch', async () => {
    for (const [played, ...more] of /** @type {const} */ ([[2], [1, '--pool']])) {
      const words = ['mget', 'concurrency', ...more, '--storages', 'ioredis,redis'];
      const sizes = ['--counts', '1,10', '-c', '1,4', '--rows', '500', '--data-size', '64'];
      const how = ['--rounds', `${played}`, '--budget', '2s', '--warmup', '50', '--force'];
      const ended = await callHere(...words, ...sizes, ...how, '--json', 'mget.json');
      const { status, stdout, stderr } = ended;
      assert.equal(status, 0, `${stdout}${stderr}`);
      assert.match(stdout, /ioredis\nkeys\tc=1\tc=4\n1\t[\d.]+\t[\d.]+\n10\t[\d.]+\t[\d.]+\n/);
      assert.match(stdout, /Holding 500 keys\n[\s\S]*Deleted 500 test keys/);
      const { benchmarks, comparison } = resultIn('mget.json');
      assert.equal(comparison?.loads.length, 4);
      for (const { id, state, rounds, load } of benchmarks) {
        assert.deepEqual([id, state, rounds.length], [id, 'measured', played]);
        for (const { outcomes, scheduled, series = [], compared, server } of rounds) {
          assert.equal(outcomes.ok, scheduled, id);
          assert.deepEqual(
            series.map(({ keys }) => keys),
            [1, 10],
          );
          const fetched = series.reduce((sum, { ok, keys }) => sum + ok * Number(keys), 0);
          assert.equal(compared?.replies, fetched, id);
          assert.ok((server?.cpuNs ?? 0) > 0, id);
          for (const { inFlightMean } of series) {
            // A client that gets no processor has fewer in flight.
            const share = inFlightMean / Number(load.inFlight ?? 1);
            assert.ok(share > 0.5 && share < 1.001, `${id}: ${share}`);
          }
        }
      }
    }
  });
});
