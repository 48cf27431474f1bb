/** The wait for a connection of a pool, apart from the time on the wire, on real servers. */
// Needs: redis, mariadb

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { getLoader } from '../../data/loaders/index.js';
import { report, run } from '../../index.js';
import { createDataset } from '../../lib/dataset.js';
import { runHere } from '../helpers/run-here.js';
import { withServers } from '../helpers/servers.js';

const ROWS = { rows: 200, valueSize: 64, seed: 2 };
const OPS = 1000;
/** Ten times the connections of each pool: of ten requests nine wait. */
const IN_FLIGHT = 40;
const POOLS = ['redis:pool', 'mysql2:tuned', 'mariadb:pool'];

describe('waits for a connection of a pool', () => {
  const servers = withServers(['redis', 'mariadb']);

  before(async () => {
    const dataset = createDataset(ROWS);
    for (const [server, loader] of [
      ['redis', 'redis'],
      ['mariadb', 'mysql'],
    ]) {
      const [address, credentials] = [servers.address(server), servers.credentials(server)];
      await (await getLoader(loader)).seed({ address, credentials, dataset });
    }
  });

  /** @param {Record<string, unknown>} more */
  const race = (more) =>
    (more['processes'] ? run : runHere)({
      ...ROWS,
      storages: [...POOLS, 'ioredis'],
      home: servers.home(),
      load: 'window',
      inFlight: IN_FLIGHT,
      ops: OPS,
      warmup: 100,
      rounds: 1,
      ...more,
    });

  for (const processes of [1, 2]) {
    it(`are in the round, and a part of the latency: ${processes} processes`, async () => {
      const result = await race(processes === 1 ? {} : { processes });
      for (const { storage, profile, rounds } of result.benchmarks) {
        const label = `${storage}:${profile}`;
        const [{ poolWait, latency, outcomes, scheduled, failure }] = rounds;
        assert.equal(outcomes.ok, scheduled, `${label}: ${failure?.message}`);
        if (!POOLS.includes(label)) {
          assert.equal(poolWait, undefined, label);
          continue;
        }
        assert.equal(poolWait?.count, scheduled, `${label}: one wait per request, none of others`);
        const mean = latency?.meanNs ?? 0;
        const share = (poolWait?.meanNs ?? 0) / mean;
        assert.ok(share > 0.3 && share < 1, `${label}: ${share} of the latency`);
        assert.ok((poolWait?.maxNs ?? 0) <= (latency?.maxNs ?? 0), label);
      }
    });
  }

  it('are in each round, by load: no wait with one request in flight', async () => {
    const { benchmarks } = await runHere({
      ...ROWS,
      storages: [...POOLS, 'ioredis'],
      home: servers.home(),
      warmup: 100,
      rounds: 2,
      loads: [
        { kind: 'sync', operations: 300 },
        { kind: 'window', inFlight: IN_FLIGHT, operations: OPS },
      ],
    });
    for (const { storage, profile, load, rounds } of benchmarks) {
      const label = `${storage}:${profile} ${load.kind}`;
      assert.equal(rounds.length, 2, label);
      for (const { poolWait, latency, outcomes, failure } of rounds) {
        assert.equal(failure, null, label);
        if (!POOLS.includes(`${storage}:${profile}`)) {
          assert.equal(poolWait, undefined, label);
          continue;
        }
        assert.equal(poolWait?.count, outcomes.ok, label);
        const share = (poolWait?.p50Ns ?? 0) / (latency?.p50Ns ?? 0);
        assert.ok(load.kind === 'sync' ? share < 0.2 : share > 0.3, `${label}: ${share}`);
      }
    }
  });

  it('are columns of the tables if there is a pool', async () => {
    const text = await report(
      await race({ storages: ['redis:pool', 'ioredis'], ops: 300 }),
      'markdown',
    );
    assert.match(text, /pool wait/);
    const none = await report(await race({ storages: ['ioredis'], ops: 300 }), 'markdown');
    assert.doesNotMatch(none, /pool wait/);
  });
});
