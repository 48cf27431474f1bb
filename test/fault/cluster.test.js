/**
 * A primary of a cluster is killed while a rate load runs: what the clients make of it is in the
 * result. No row is wrong, the outage is in the timeline, redirections and errors are counted. And
 * a majority of the primaries is stopped, so that no replica is promoted.
 */
// Needs: redis-cluster

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { seedServers } from '../../engine/seed.js';
import { run } from '../../index.js';
import { isAlive } from '../../lib/process-identity.js';
import { startServers, statusServers } from '../../servers/index.js';
import { longestOutage } from '../../stats/outage.js';
import { makeHome, PACKAGES_HOME } from '../helpers/servers.js';

const NAME = 'redis-cluster';
const ROWS = { rows: 500, valueSize: 64 };
const RATE = 200;
const DURATION_MS = 14_000;
/** Verified reads before the kill: about two seconds. */
const ENOUGH = 400;
/** Clients that follow the failover; tells: whether they say how often they were redirected. */
const CLIENTS = [
  { storage: 'ioredis-cluster', tells: true },
  { storage: 'valkey-glide-cluster', tells: false },
  { storage: 'redis-cluster', tells: true },
];

describe('a majority of the primaries is stopped', { timeout: 180_000 }, () => {
  const cluster = withCluster();
  /** @type {Record<string, import('../../lib/result.js').Result>} */
  let results = {};
  before(async () => {
    const load = { kind: 'window', inFlight: 20, operations: 1_000_000 };
    const options = { loads: [load], rounds: 1, timeoutMs: 2000 };
    const stopped = cluster.nodes().slice(0, 2);
    const signal = (/** @type {NodeJS.Signals} */ name) => {
      for (const { pid } of stopped) process.kill(pid, name);
    };
    try {
      results = await runAll(cluster.home(), options, () => signal('SIGSTOP'));
    } finally {
      signal('SIGCONT'); // or none of them ends
    }
  });

  for (const { storage } of CLIENTS) {
    test(`${storage}: its time limit ends the load, with the cluster’s reason`, () => {
      const result = results[storage];
      const [{ rounds, state, reason }] = result.benchmarks;
      const [{ outcomes, scheduled }] = rounds;
      const details = JSON.stringify({ outcomes, reason });
      assert.equal(state, 'failed', details);
      assert.match(String(reason), /lost: .*: its cluster state is fail, 546[12] of 16384 slots/);
      assert.equal(statusOf(result), 4, details);
      const sum = Object.values(outcomes).reduce((a, b) => a + b, 0);
      assert.equal(sum, scheduled, details);
      assert.equal(outcomes.mismatch + outcomes.miss, 0, details);
      const failed = outcomes.timeout + outcomes.error;
      assert.ok(failed > 0 && failed <= 1020 && outcomes.unsent > 0, details);
    });
  }
});

describe('a primary is killed while a rate load runs', { timeout: 180_000 }, () => {
  const cluster = withCluster();
  const { nodes } = cluster;
  /** @type {Record<string, import('../../lib/result.js').Result>} */
  let results = {};
  before(async () => {
    const { pid } = nodes()[0];
    const options = { rate: RATE, duration: DURATION_MS };
    results = await runAll(cluster.home(), options, () => process.kill(pid, 'SIGKILL'));
  });

  for (const { storage, tells } of CLIENTS) {
    test(`${storage}: outage, errors and redirections are in the result`, () => {
      const result = results[storage];
      const [{ rounds, id }] = result.benchmarks;
      const [round] = rounds;
      const { outcomes, redirects, timeline, samples } = round;
      assert.equal(round.state, 'measured', JSON.stringify(round.failure));
      assert.equal(outcomes.mismatch + outcomes.miss, 0, 'no row is wrong or lost');
      const sum = Object.values(outcomes).reduce((a, b) => a + b, 0);
      assert.equal(sum, round.scheduled);
      assert.ok(outcomes.ok > round.scheduled / 2, JSON.stringify(outcomes));
      for (const { code } of samples) assert.ok(code, JSON.stringify(samples));
      // From the last ping until a replica has the slots: node timeout and election.
      const outage = longestOutage(timeline, RATE, DURATION_MS * 1e6);
      assert.ok(outage !== null, JSON.stringify(timeline));
      assert.ok(outage.durationNs >= 5e8, JSON.stringify(outage));
      const warned = result.warnings.filter(({ benchmark }) => benchmark === id);
      const codes = warned.map(({ code }) => code);
      assert.ok(codes.includes('W_OUTAGE'), codes.join());
      assert.equal(redirects !== undefined, tells);
      if (storage === 'ioredis-cluster') {
        const { moved = 0, clusterDown = 0 } = redirects ?? {};
        assert.ok(moved + clusterDown > 0, JSON.stringify(redirects));
        assert.ok(codes.includes('W_REDIRECTED'), codes.join());
      }
    });
  }

  test('the replica was promoted, and the other processes are still one server', async () => {
    assert.ok(!isAlive(nodes()[0]), 'the primary is gone');
    const status = (await statusServers({ home: cluster.home() })).find(
      ({ name }) => name === NAME,
    );
    assert.equal(status?.state, 'stopped', 'it is this process’s own, not a lasting one');
    assert.equal(nodes().filter((node) => isAlive(node)).length, 5);
    await cluster.stop();
    assert.deepEqual(
      nodes().filter((node) => isAlive(node)),
      [],
    );
  });
});

/** @returns a cluster with rows, for the tests of a suite */
function withCluster() {
  let home = '';
  /** @type {Awaited<ReturnType<typeof startServers>>} */
  let started;
  before(async () => {
    home = await makeHome();
    started = await startServers([NAME], { home, packagesHome: PACKAGES_HOME, owned: true });
    assert.deepEqual(started.failures, []);
    await seedServers({ ...ROWS, servers: [NAME], home });
  });
  after(async () => {
    await started?.stop();
    await rm(home, { recursive: true, force: true });
  });
  const nodes = () => started.servers[0].nodes ?? [];
  return { home: () => home, nodes, stop: () => started.stop() };
}

/**
 * @param {string} home
 * @param {Record<string, unknown>} options options of the run
 * @param {() => void} fault once each client has had ENOUGH verified reads
 */
async function runAll(home, options, fault) {
  const waiting = new Set(CLIENTS.map(({ storage }) => storage));
  const runs = CLIENTS.map(async ({ storage }) => {
    const own = { ...ROWS, storages: [storage], warmup: 200, home, ...options };
    const result = await run(/** @type {any} */ (own), {
      onEvent(event) {
        if (event.type !== 'progress' || event.phase !== 'measure') return;
        if (event.settled < ENOUGH || !waiting.delete(storage)) return;
        if (waiting.size === 0) fault();
      },
    });
    return [storage, result];
  });
  const results = Object.fromEntries(await Promise.all(runs));
  assert.equal(waiting.size, 0, 'the fault came while measuring');
  return results;
}
