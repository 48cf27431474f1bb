/**
 * Two processes against one Redis, and both sides pinned: their operations are counted once, and if
 * two are no faster than one, the result contains the reason.
 */
// Needs: redis

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { allowedCpus } from '../../engine/placement.js';
import { run } from '../../index.js';
import { formatEndpoint } from '../../lib/address.js';
import { createDataset } from '../../lib/dataset.js';
import { parseResult } from '../../lib/parse-result.js';
import { toGroups } from '../../report/analysis/rows.js';
import { scalingsOf } from '../../report/analysis/scaling.js';
import { loadReport } from '../../report/index.js';
import { withServers } from '../helpers/servers.js';

const servers = withServers(['redis']);
const ROWS = 500;

/** @param {import('../../lib/result.js').Result} result */
function assertAccounting(result) {
  for (const { rounds } of result.benchmarks) {
    for (const { scheduled, outcomes, latency } of rounds) {
      const sum = Object.values(outcomes).reduce((a, b) => a + b, 0);
      assert.equal(sum, scheduled, 'scheduled = the sum of the outcomes');
      assert.equal(latency?.count ?? 0, outcomes.ok);
    }
  }
  return parseResult(JSON.stringify(result), 'of the test');
}

describe('on a server of this test', () => {
  before(async () => {
    const loader = await getLoader('redis');
    const address = servers.address('redis');
    await loader.seed({
      address,
      credentials: servers.credentials('redis'),
      dataset: createDataset({ rows: ROWS }),
    });
  });

  test('two processes are faster than one, or the verdict has the reason', async () => {
    const window = { kind: /** @type {const} */ ('window'), inFlight: 100, operations: 5000 };
    const result = assertAccounting(
      await run({
        storages: ['ioredis'],
        loads: [window, { ...window, processes: 2 }],
        rounds: 3,
        rows: ROWS,
        warmupOperations: 300,
        home: servers.home(),
      }),
    );
    assert.deepEqual(
      result.benchmarks.map(({ id, state }) => [id, state]),
      [
        ['ioredis:default/get/window-100', 'measured'],
        ['ioredis:default/get/window-100-by-2', 'measured'],
      ],
    );
    for (const { rounds } of result.benchmarks) {
      for (const { outcomes, server } of rounds) {
        assert.equal(outcomes.ok, 5000);
        assert.ok(server !== null && server.cpuNs > 0, 'the server is read once, by all');
      }
    }
    const [scaling] = scalingsOf(toGroups(result), result.environment);
    assert.equal(scaling.processes, 2);
    assert.ok(scaling.ratio.ratio > 0);
    const explained = typeof scaling.reason === 'string' && scaling.reason.length > 10;
    assert.ok(scaling.ratio.answer === 'faster' || explained, JSON.stringify(scaling));
    const { render } = await loadReport('console');
    assert.match(
      render(result),
      /^ioredis, window of 100: 2 processes reach [\d.]+× (± [\d,.]+ %|\([^)]*\))\s+of\s+one\s+process/m,
    );
  });

  for (const load of /** @type {const} */ ([
    { kind: 'sync', operations: 300 },
    { kind: 'burst', operations: 3000 },
    { kind: 'rate', rate: 2000, operations: 1000 },
  ])) {
    test(`two processes share a ${load.kind} load against Redis`, async () => {
      const result = assertAccounting(
        await run({
          storages: ['redis'],
          loads: [{ ...load, processes: 2 }],
          rows: ROWS,
          warmupOperations: 100,
          home: servers.home(),
        }),
      );
      const [{ outcomes, scheduled }] = result.benchmarks[0].rounds;
      assert.equal(scheduled, load.operations);
      assert.equal(outcomes.ok, load.operations);
    });
  }

  test('--pin separates both sides, reports it, and unpins the server afterwards', async (context) => {
    const allowed = allowedCpus();
    if (allowed.length < 2) return context.skip('there is one processor');
    const { pid } = servers.running('redis');
    /** @type {number[]} */
    let during = [];
    const result = assertAccounting(
      await run(
        {
          storages: ['ioredis'],
          rows: ROWS,
          pin: true,
          home: servers.home(),
          loads: [{ kind: 'window', operations: 5000 }],
          warmupOperations: 100,
        },
        {
          onEvent: ({ type }) => {
            if (type === 'benchmark-start') during = allowedCpus(pid);
          },
        },
      ),
    );
    const { pinning } = result;
    assert.ok(pinning);
    assert.deepEqual(during, pinning.server);
    assert.deepEqual(
      pinning.client.filter((cpu) => pinning.server.includes(cpu)),
      [],
    );
    assert.deepEqual(pinning.servers, [{ name: 'redis', pinned: true, reason: null }]);
    assert.deepEqual(allowedCpus(pid), allowed, 'it may run everywhere again');
  });

  test('--pin does not pin a server that Dragstrip did not start, and reports it', async (context) => {
    if (allowedCpus().length < 2) return context.skip('there is one processor');
    const { pid } = servers.running('redis');
    const before = allowedCpus(pid);
    const result = assertAccounting(
      await run(
        {
          storages: ['ioredis'],
          rows: ROWS,
          pin: true,
          home: servers.home(),
          addresses: { redis: formatEndpoint(servers.address('redis').main) },
          loads: [{ kind: 'sync', operations: 100 }],
          warmupOperations: 10,
        },
        { onEvent: () => assert.deepEqual(allowedCpus(pid), before) },
      ),
    );
    const [{ pinned, reason }] = result.pinning?.servers ?? [];
    assert.equal(pinned, false);
    assert.match(reason ?? '', /did not start it/);
    const warning = result.warnings.find(({ code }) => code === 'W_PIN');
    assert.match(warning?.message ?? '', /^redis was not pinned/);
    assert.ok(warning?.hint);
  });
});
