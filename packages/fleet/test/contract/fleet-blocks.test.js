/**
 * Segments in blocks on several load machines: the same segment on all of them at the same time,
 * one comparison of what they did together. Agents are processes; faults as they are.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OK } from '../../../../lib/outcome.js';
import { parseResult } from '../../../../lib/parse-result.js';
import { decode } from '../../../../measure/hdr.js';
import { Histogram } from '../../../../measure/histogram.js';
import { childrenOf, runCommand, startCommand } from '../../../../test/helpers/command-line.js';
import {
  contenderOf,
  DATASET,
  keyOf,
  listenAndKeep,
  NODE_OPTIONS,
  startAgent,
  until,
} from '../../../../test/helpers/fleet.js';
import { withFolder } from '../../../../test/helpers/folder.js';
import { withServers } from '../../../../test/helpers/servers.js';
import { drawKeys } from '../../../../workloads/get/index.js';
import { openFleet } from '../../controller.js';
import { runnerOf } from '../../fleet-rounds.js';

const DATA = ['--rows', '1000', '--value-size', '64', '--seed', '5'];
/** Rows that a contender reads before it warms up. */
const CHECKS = 65;
const KEYS = 262_144;

describe('segments of three machines', () => {
  const servers = withServers(['coordinator', 'redis']);
  const optionsBefore = process.env['NODE_OPTIONS'];
  const folder = withFolder();
  /** @type {import('../../../../test/helpers/fleet.js').AgentProcess[]} */
  let agents = [];

  const reach = () => {
    const { address, credentials = {} } = servers.running('coordinator');
    return { address: address['main'], token: credentials['password'], env: { NODE_OPTIONS } };
  };
  const env = () => ({ NODE_OPTIONS, DRAGSTRIP_COORDINATOR: reach().address });
  const raceWords = (/** @type {string[]} */ words) => {
    const redis = servers.running('redis').address['main'];
    const common = ['--redis', redis, '--storages', 'ioredis,redis', ...DATA];
    return ['bin/dragstrip.js', 'race', ...common, ...words];
  };
  const stored = async (/** @type {string} */ name) =>
    parseResult(await readFile(path.join(folder, name), 'utf8'), name);

  before(async () => {
    process.env['NODE_OPTIONS'] = NODE_OPTIONS;
    agents = await Promise.all(['a', 'b', 'c'].map((name) => startAgent(name, reach())));
    const redis = servers.running('redis').address['main'];
    const seed = ['bin/dragstrip.js', 'seed', 'redis', '--redis', redis, ...DATA];
    const { status, stderr } = await runCommand(folder, seed, { env: env() });
    assert.equal(status, 0, stderr);
  });

  after(async () => {
    if (optionsBefore === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = optionsBefore;
    await Promise.all(agents.map((agent) => agent.stop()));
  });

  test('each does every third operation, all run the same segments, and sums are exact', async () => {
    const server = await listenAndKeep();
    const fleet = await openFleet({
      coordinator: {
        endpoint: servers.address('coordinator')['main'],
        credentials: servers.credentials('coordinator'),
      },
      agents: 3,
      storages: ['ioredis', 'iovalkey'],
      waitMs: 20_000,
    });
    try {
      const blocks = 4;
      const contenders = ['ioredis', 'iovalkey'].map((storage) => {
        const load = { kind: /** @type {const} */ ('window'), inFlight: 13 };
        const contender = contenderOf(server.port, load, { storage });
        const [task] = contender.spec.tasks;
        const warm = { kind: /** @type {const} */ ('level'), nsMax: 0.3e9 };
        Object.assign(task ?? {}, { warm, operations: KEYS });
        return contender;
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
        if (seat.failure?.code === 'E_AGENT_LATE') continue; // a busy machine
        assert.equal(seat.failure, null);
        assert.equal(seat.segments[0].length, blocks);
        const segment = seat.merged([0]);
        assert.ok(segment);
        const { scheduled, outcomes, histograms, agents: told } = segment;
        assert.deepEqual(
          told.map(({ slices: counted }) => counted?.count),
          [blocks, blocks, blocks],
          contenders[i].name,
        );
        assert.equal(outcomes[OK], scheduled);
        assert.equal(
          told.reduce((sum, { ok }) => sum + ok, 0),
          scheduled,
        );
        const sum = new Histogram();
        for (const one of told) sum.merge(await decode(String(one.latency?.histogram)));
        assert.deepEqual(sum.toSparse(), histograms['latency']?.sparse);
        const counted = seat.segments[0].reduce((total, one) => total + (one?.scheduled ?? 0), 0);
        assert.ok(counted > 0 && counted < scheduled, 'the first block is not counted');
      }
    } finally {
      await fleet.close();
      await server.close();
    }
  });

  test('one is killed in a round: it is invalid, the rounds before it stay, the run ends', async () => {
    const lost = await startAgent('lost', reach());
    const words = ['--agents', '4', '--load', 'window', '--in-flight', '40', '--budget', '120s'];
    const race = startCommand(folder, raceWords([...words, '--json', 'lost.json']), { env: env() });
    try {
      const rounds = async () => {
        const text = await readFile(path.join(folder, 'lost.json'), 'utf8').catch(() => '');
        return text === '' ? 0 : parseResult(text, 'lost.json').benchmarks[1].rounds.length;
      };
      assert.ok(await until(async () => (await rounds()) === 1, 120_000), 'one round is over');
      assert.ok(await until(() => childrenOf(Number(lost.child.pid)).length >= 2));
      await sleep(4000);
      lost.child.kill('SIGKILL');
      const { status, stdout, stderr } = await race.ended;
      assert.equal(status, 5, stdout + stderr);
      const result = await stored('lost.json');
      assert.equal(result.fleet?.lost?.agent, 'lost');
      for (const { rounds: own } of result.benchmarks) {
        assert.equal(own.at(-1)?.failure?.code, 'E_AGENT_LOST');
        assert.deepEqual([...new Set(own.slice(0, -1).map(({ state }) => state))], ['measured']);
      }
      const [{ contenders }] = result.comparison?.loads ?? [];
      const kept = result.benchmarks[0].rounds.length - 1;
      assert.deepEqual(new Set(contenders.map((one) => one.rounds.length)), new Set([kept]));
      assert.ok(result.warnings.some(({ code }) => code === 'W_AGENT_LOST'));
      const idle = () => agents.every(({ child }) => childrenOf(Number(child.pid)).length === 0);
      assert.ok(await until(idle, 8000), 'the others have stopped');
    } finally {
      race.child.kill('SIGKILL');
      await race.ended;
      await lost.stop();
    }
  });
});
