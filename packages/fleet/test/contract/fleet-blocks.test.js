/**
 * Segments in blocks on several load machines: the same segment on all of them at the same time,
 * one comparison of their merged figures. Agents are processes; faults are real.
 */
// Needs: redis, coordinator

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seed } from '../../../../index.js';
import { OK } from '../../../../lib/outcome.js';
import { decode } from '../../../../measure/hdr.js';
import { Histogram } from '../../../../measure/histogram.js';
import { withCommands } from '../../../../test/helpers/command-folder.js';
import { childrenOf } from '../../../../test/helpers/command-line.js';
import { CHECKS, contenderOf, DATASET, keyOf, until } from '../../../../test/helpers/fleet.js';
import { withFleet } from '../../../../test/helpers/load-machines.js';
import { notChecked } from '../../../../test/helpers/not-checked.js';
import { addressFlags, withServers } from '../../../../test/helpers/servers.js';
import { drawKeys } from '../../../../workloads/get/index.js';
import { runnerOf } from '../../fleet-rounds.js';

const DATA = ['--rows', '1000', '--value-size', '64', '--seed', '5'];
const KEYS = 65_536;

describe('segments of three machines', () => {
  const servers = withServers(['coordinator', 'redis']);
  const { agents, server, open } = withFleet(servers, ['a', 'b', 'c']);
  const { start, resultIn } = withCommands(servers);

  test('each does every third operation, all run the same segments, and sums are exact', async (t) => {
    const fleet = await open(3, { storages: ['ioredis', 'iovalkey'] });
    try {
      const blocks = 2;
      const warm = { kind: /** @type {const} */ ('level'), nsMax: 0.1e9 };
      const contenders = ['ioredis', 'iovalkey'].map((storage) => {
        const load = { kind: /** @type {const} */ ('window'), inFlight: 13 };
        return contenderOf(server.port, load, { storage }, { warm, operations: KEYS });
      });
      const round = { round: 0, blocks, orderSeed: 11 };
      const seats = await runnerOf(fleet).playBlocks(contenders, round);
      const plan = drawKeys(DATASET.rows, 7, KEYS, { spread: DATASET.seed });
      const clients = server.keys.filter((own) => own.length > CHECKS);
      assert.equal(clients.length % 6, 0, 'six, or more where machines began too late');
      /** @type {number[]} operations of the drivers by share, warm-up included */
      const shares = [0, 0, 0];
      for (const own of clients.map((keys) => keys.slice(CHECKS))) {
        const share = [0, 1, 2].find((a) =>
          own.every((key, i) => key === keyOf(plan[(3 * i + a) % KEYS])),
        );
        assert.ok(share !== undefined, `a client of ${own.length} operations follows no share`);
        shares[share] += own.length;
      }
      assert.ok(Math.min(...shares) > 0, `${shares}`);
      for (const [i, seat] of seats.entries()) {
        if (seat.failure?.code === 'E_AGENT_LATE') {
          notChecked(t, `sums of ${contenders[i].name}: ${seat.failure.message}`);
          continue;
        }
        assert.equal(seat.failure, null);
        assert.equal(seat.segments[0].length, blocks);
        const segment = seat.merged([0]);
        assert.ok(segment);
        const { scheduled, outcomes, histograms, agents: agentRecords } = segment;
        assert.deepEqual(
          agentRecords.map(({ slices: counted }) => counted?.count),
          [blocks, blocks, blocks],
          contenders[i].name,
        );
        assert.equal(outcomes[OK], scheduled);
        assert.equal(
          agentRecords.reduce((sum, { ok }) => sum + ok, 0),
          scheduled,
        );
        const sum = new Histogram();
        for (const one of agentRecords) sum.merge(await decode(String(one.latency?.histogram)));
        assert.deepEqual(sum.toSparse(), histograms['latency']?.sparse);
        const counted = seat.segments[0].reduce((total, one) => total + (one?.scheduled ?? 0), 0);
        assert.ok(counted > 0 && counted < scheduled, 'the first block is not counted');
      }
    } finally {
      await fleet.close();
    }
  });

  test('one is killed in a round: it is invalid, the rounds before it stay, the run ends', async () => {
    const { redis } = addressFlags(servers);
    await seed({ servers: ['redis'], rows: 1000, valueSize: 64, seed: 5, addresses: { redis } });
    const lost = agents[2];
    const load = ['--load', 'window', '--in-flight', '6', '--warmup', '200', '--budget', '20s'];
    const race = start(
      ...['race', '--agents', '3', '--storages', 'ioredis,redis', ...DATA, ...load],
      ...['--json', 'lost.json', '--no-html'],
    );
    try {
      const isOver = () => /^round 1: /m.test(race.stdout());
      assert.ok(await until(isOver, 120_000), 'one round is over');
      const processes = () => childrenOf(Number(lost.child.pid));
      const earlier = new Set(processes());
      const later = () => processes().filter((pid) => !earlier.has(pid));
      // All contenders of its second one; the harness overhead may run on a different agent.
      assert.ok(await until(() => later().length >= 4));
      lost.child.kill('SIGKILL');
      const { status, stdout, stderr } = await race.ended;
      assert.equal(status, 5, stdout + stderr);
      const result = resultIn('lost.json');
      assert.equal(result.fleet?.lost?.agent, lost.name);
      for (const { rounds: own } of result.benchmarks) {
        assert.equal(own.at(-1)?.failure?.code, 'E_AGENT_LOST');
        assert.deepEqual(
          own.slice(0, -1).map(({ state }) => state),
          ['measured'],
        );
      }
      const [{ contenders }] = result.comparison?.loads ?? [];
      const kept = result.benchmarks[0].rounds.length - 1;
      assert.deepEqual(new Set(contenders.map((one) => one.rounds.length)), new Set([kept]));
      assert.ok(result.warnings.some(({ code }) => code === 'W_AGENT_LOST'));
      const others = agents.filter((agent) => agent !== lost);
      const idle = () => others.every(({ child }) => childrenOf(Number(child.pid)).length === 0);
      assert.ok(await until(idle, 8000), 'the others have stopped');
    } finally {
      race.child.kill('SIGKILL');
      await race.ended;
    }
  });
});
