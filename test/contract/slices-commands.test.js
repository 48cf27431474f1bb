/**
 * The command list by slices on a real Redis and a real nutcracker: sums, keys and refusals are
 * exact. Contenders of a known difference: test/long/planted.test.js.
 */
// Needs: redis, nutcracker

import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { resultSchema } from '../../lib/result.js';
import { isRefusedByProxy, metricValues, ratesOf } from '../../workloads/commands/analysis.js';
import { PREFIX } from '../../workloads/commands/namespace.js';
import { status } from '../../workloads/commands/run-hooks.js';
import { withCommandServers } from '../helpers/command-servers.js';
import { pairedRatio } from '../helpers/paired-ratio.js';
import { runHere } from '../helpers/run-here.js';
import { addressVariables } from '../helpers/servers.js';

const CHANGING = ['SET', 'LPOP', 'SPOP'];
const LASTING = ['PING_INLINE', 'PING_BULK', 'LRANGE_100'];

describe('commands by slices', { timeout: 600_000 }, () => {
  const { servers, redis, folder, both } = withCommandServers();

  before(() => Object.assign(process.env, addressVariables(servers)));

  /** @param {Record<string, unknown>} options */
  async function runSliced(options) {
    const result = await runHere(
      /** @type {any} */ ({
        home: path.join(folder(), 'state'),
        workload: 'commands',
        inFlight: 8,
        warmup: 50,
        addresses: { redis: both('redis'), proxy: both('nutcracker') },
        ...options,
      }),
    );
    resultSchema.parse(JSON.parse(JSON.stringify(result)));
    return result;
  }

  /**
   * @param {import('../../lib/result.js').Result} result
   * @param {{ perStorage: number, skipped?: number, refused: number, played: number }} counts
   *   numbers of benchmarks, and of rounds
   */
  async function assertExact(result, { perStorage, skipped = 0, refused, played }) {
    assert.equal(result.comparison?.whole, undefined);
    assert.deepEqual(result.comparison?.failed, [], 'every contender supports commands');
    const ran = result.benchmarks.filter(({ state }) => state !== 'skipped');
    assert.equal(ran.length, perStorage * 2 - skipped);
    for (const benchmark of ran) {
      const { id, state, rounds, parameters } = benchmark;
      assert.deepEqual([id, state, rounds.length], [id, 'measured', played]);
      for (const { outcomes, scheduled, metrics = {}, samples, others, server } of rounds) {
        const sum = Object.values(outcomes).reduce((all, n) => all + n, 0);
        assert.equal(sum, scheduled, id);
        if (isRefusedByProxy(benchmark)) {
          assert.equal(outcomes.ok, 0, id);
          assert.ok(samples.every(({ code }) => code === 'REFUSED'));
          continue;
        }
        assert.equal(outcomes.ok, scheduled, `${id}: ${JSON.stringify(samples)}`);
        const isProxied = parameters?.['way'] === 'proxied';
        const isAnswered = isProxied && parameters?.['test'] === 'PING_BULK';
        assert.equal(metrics['reached'], isAnswered ? 0 : scheduled, id);
        assert.ok(Number(metrics['connectNsMean']) > 0, id);
        assert.equal(metrics['commandNsMean'] !== undefined, !parameters?.['keepAlive'], id);
        assert.ok(isAnswered || (server?.cpuNs ?? 0) > 0, id);
        assert.equal((others?.['nutcracker'].cpuNs ?? 0) > 0, isProxied, id);
        const beside = metrics[isProxied ? 'benchmarkFailure' : 'benchmarkPerSecond'];
        assert.ok(beside !== undefined, `${id}: ${JSON.stringify(metrics)}`);
      }
    }
    assert.equal(ran.filter(isRefusedByProxy).length, refused);
    assert.equal(status(result, statusOf, { options: {}, quiet: true }), 0);
    assert.deepEqual(await redis().keys(`${PREFIX}*`), []);
  }

  /**
   * redis-benchmark has slices in blocks of the drivers, on all direct ways, and its ratio to each
   * an interval.
   * @param {import('../../lib/result.js').Result} result
   */
  function assertBesideInBlocks(result) {
    const { loads = [] } = result.comparison ?? {};
    for (const { parameters, contenders } of loads) {
      const tool = contenders.find(({ group }) => group === 'program');
      const driver = contenders.find(({ name }) => name === 'ioredis');
      const isDirect = parameters?.['way'] === 'direct';
      for (const [round, { timePs }] of tool?.rounds.entries() ?? []) {
        const blocks = timePs.flatMap((time, block) => (time === null ? [] : [block]));
        assert.equal(blocks.length > 0, isDirect, JSON.stringify(parameters));
        for (const block of blocks) assert.ok(driver?.rounds[round].timePs[block] != null);
      }
    }
    const direct = result.benchmarks.filter(({ parameters }) => parameters?.['way'] === 'direct');
    for (const source of direct) {
      const rates = metricValues({ source }, 'benchmarkPerSecond');
      const ratio = pairedRatio(rates, ratesOf({ source }));
      assert.ok('value' in ratio && ratio.n === 2, source.id);
      const { low, value, high } = /** @type {any} */ (ratio);
      assert.ok(low < value && value < high, source.id);
    }
  }

  const how = { storages: ['ioredis', 'redis'], budget: 2000, redisBenchmark: 'real' };

  test('all routes: sums are exact, refusals are reported, nothing is left', async () => {
    const tests = [...CHANGING, ...LASTING];
    const result = await runSliced({ ...how, rounds: 1, tests: tests.join(), keepAlive: 'on' });
    await assertExact(result, { perStorage: tests.length * 4, skipped: 4, refused: 2, played: 1 });
  });

  test('a connection per request: its parts are timed per variant', async () => {
    const result = await runSliced({
      ...how,
      rounds: 2,
      budget: 3000,
      tests: 'LPUSH',
      keepAlive: 'off',
    });
    await assertExact(result, { perStorage: 4, refused: 0, played: 2 });
    assertBesideInBlocks(result);
  });
});
