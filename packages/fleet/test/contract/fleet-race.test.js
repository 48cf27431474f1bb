/**
 * `race --agents`, `agent` and `agents` as used on the command line: output, result, page, exit
 * statuses.
 */
// Needs: redis, coordinator

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, describe, test } from 'node:test';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { seed } from '../../../../index.js';
import { decode } from '../../../../measure/hdr.js';
import { Histogram } from '../../../../measure/histogram.js';
import { withCommands } from '../../../../test/helpers/command-folder.js';
import { assertFailure, childrenOf } from '../../../../test/helpers/command-line.js';
import { inTime, until } from '../../../../test/helpers/fleet.js';
import { withFleet } from '../../../../test/helpers/load-machines.js';
import { addressFlags, withServers } from '../../../../test/helpers/servers.js';
import { AGENTS_KEY, LEASES, PREFIX } from '../../coordination-keys.js';

const DATA = ['--rows', '1000', '--value-size', '64', '--seed', '5'];

describe('a race of two machines', () => {
  const servers = withServers(['coordinator', 'redis']);
  const { agents, coordinator, reach, start: startAgent } = withFleet(servers, ['left', 'right']);
  const { callHere, start, textOf, resultIn } = withCommands(servers);
  /** In the form of an agent. */
  const connection = () => ({
    .../** @type {{ host: string, port: number }} */ (coordinator().endpoint),
    password: coordinator().credentials.password,
    protocol: /** @type {const} */ (2),
    maxRetriesPerRequest: null,
  });
  const race = (/** @type {string[]} */ words) =>
    callHere('race', '--storages', 'ioredis,redis', ...DATA, ...words);

  before(async () => {
    const { redis } = addressFlags(servers);
    await seed({ servers: ['redis'], rows: 1000, valueSize: 64, seed: 5, addresses: { redis } });
  });

  test('agents lists the present agents', async () => {
    const { status, stdout } = await callHere('agents');
    assert.equal(status, 0);
    const [head, ...rows] = stdout.trim().split('\n');
    assert.match(head, /^agent +state +host +dragstrip +Node +cores +clock offset +round trip$/);
    assert.match(rows[0], /^left +idle .* v\d+\.\d+\.\d+ +\d+ +-?\d+ ms +[\d.]+ [µm]s$/);
    assert.match(rows[1], /^right +idle /);
  });

  test('agents prints a hostile name on one line, without terminal escapes', async () => {
    const name = 'zoe\x1b]0;owned\x07\x1b[2J\u202etxt\nright  idle';
    const client = new Redis(connection());
    try {
      const entry = JSON.parse(String(await client.hget(AGENTS_KEY, 'right')));
      const seenNs = entry.seenNs + 50e9; // it is not forgotten meanwhile
      const host = 'h\u2066\x9b31m\r\nleft';
      await client.hset(AGENTS_KEY, name, JSON.stringify({ ...entry, host, seenNs }));
      const { status, stdout } = await callHere('agents');
      assert.equal(status, 0);
      const rows = stdout.trimEnd().split('\n').slice(1);
      assert.equal(rows.length, 3, stdout);
      const written = 'zoe\\x1b]0;owned\\x07\\x1b[2J\\u{202e}txt right idle';
      const cells = rows[2].split(/ {2,}/).slice(0, 3);
      assert.deepEqual(cells, [written, 'idle', 'h\\u{2066}\\x9b31m left']);
      assert.doesNotMatch(stdout, /(?!\n)[\p{Cc}\p{Cf}]/u);
    } finally {
      await client.hdel(AGENTS_KEY, name);
      client.disconnect();
    }
  });

  test('one result: merged figures, and those of each agent, synchronised', async () => {
    const load = ['--load', 'window', '--in-flight', '20', '--ops', '3000', '--warmup', '200'];
    const words = ['--agents', '2', '--rounds', '1', ...load, '--json', 'r.json', '--force'];
    const { status, stdout, stderr } = await inTime(() => race(words));
    assert.equal(status, 0, stdout + stderr);
    const result = resultIn('r.json');
    assert.equal(result.state, 'complete');
    assert.deepEqual(result.fleet?.agents.map(({ name }) => name).sort(), ['left', 'right']);
    for (const { clock, targets } of result.fleet?.agents ?? []) {
      assert.ok(clock.exchanges >= 16 && clock.roundTripNs > 0);
      assert.equal(typeof clock.driftNs, 'number');
      assert.ok(Number(Object.values(targets)[0]) > 0, 'the way to the server was measured');
    }
    assert.equal(result.benchmarks.length, 2);
    for (const { rounds } of result.benchmarks) {
      assert.equal(rounds.length, 1);
      for (const round of rounds) {
        assert.equal(round.outcomes.ok, 3000);
        assert.deepEqual(
          round.agents?.map(({ ok }) => ok),
          [1500, 1500],
        );
        const sum = new Histogram();
        for (const { latency } of round.agents ?? []) {
          sum.merge(await decode(String(latency?.histogram)));
        }
        const merged = await decode(String(round.latency?.histogram));
        assert.deepEqual(sum.toSparse(), merged.toSparse());
        const inSeconds = (round.seconds ?? []).reduce((total, { ok }) => total + ok, 0);
        assert.equal(inSeconds, 3000);
      }
    }
    assert.match(stdout, /^agents +(left|right) on .* cores\).*clocks known to ± .*drift/m);
    assert.match(
      stdout,
      /^agents of ioredis, .*: (left|right) [\d,]+ ops\/s, p99 .*; (left|right) /m,
    );
    assert.match(stdout, /round trip/);
    const page = textOf('r.html');
    assert.match(page, /<h2[^>]*>Load machines<\/h2>/);
    assert.match(page, /<details><summary>ioredis, [^<]*: 2 agents<\/summary>/);
    for (const agent of agents) {
      assert.ok(await until(() => /: done, share \d of 2/.test(agent.stdout()), 30_000));
    }
  });

  test('impossible options are refused in one line', async () => {
    const coordinator = reach().address;
    const fixed = ['--ops', '100', '--load', 'window', '--no-html'];
    for (const [words, status, says] of /** @type {[string[], number, RegExp][]} */ ([
      [['--agents', '3', '--agent-wait', '1s', ...fixed], 4, /2 of 3 agents are ready after 1 s/],
      [
        ['--agents', '2', '--redis', coordinator, ...fixed],
        3,
        /is the coordinator, which cannot be measured/,
      ],
      [
        ['--agents', '2', '--budget', '5s', '--rounds', '2', '--no-html'],
        2,
        /4 benchmarks take at least 15 s/,
      ],
      [['--agents', '2', '--pin', ...fixed], 2, /--agents and --pin/],
      [['--agents', '0', ...fixed], 2, /--agents "0": not a whole number/],
      [['--agents', '2', '--token-file', 'none', ...fixed], 2, /--token-file: none cannot be read/],
      [['--agents', '2', '--coordinator', '127.0.0.1:1', ...fixed], 4, /coordinator at 127/],
    ])) {
      const ended = await race(words);
      assertFailure({ ...ended, stdout: '' }, status, says);
    }
    const refusal = await callHere('agent', '--name', 'left');
    assertFailure({ ...refusal, stdout: '' }, 2, /agent left: another agent on .* has this name/);
  });

  /**
   * A race without blocks, whose first step is the harness overhead on one agent.
   * @param {(race: import('node:child_process').ChildProcess) =>
   *   Promise<import('../../../../test/helpers/fleet.js').AgentProcess>} lose kills an agent
   * @param {string} json
   */
  async function raceThatLoses(lose, json) {
    const load = ['--load', 'burst', '--ops', '3000', '--rounds', '2', '--json', json, '--no-html'];
    const words = ['race', '--agents', '2', '--storages', 'ioredis', ...DATA, ...load];
    const race = start(...words);
    try {
      const lost = await lose(race.child);
      const ended = await race.ended;
      agents.splice(agents.indexOf(lost), 1, await startAgent(lost.name));
      await lost.stop();
      return { ...ended, name: lost.name, result: resultIn(json) };
    } finally {
      race.child.kill('SIGCONT');
      race.child.kill('SIGKILL');
      await race.ended;
    }
  }

  test('an agent lost after it was ready and before the first step: status 5 with the reason', async (t) => {
    const lose = async (/** @type {import('node:child_process').ChildProcess} */ race) => {
      const queue = new Queue(LEASES, { connection: connection(), prefix: PREFIX });
      t.after(() => queue.close());
      const areReady = async () => {
        const jobs = await queue.getJobs(['active']);
        const messages = jobs.map(({ progress }) => /** @type {any} */ (progress).type);
        return messages.length === 2 && messages.every((type) => type === 'ready');
      };
      const leased = agents.map(async ({ child, stdout }) => {
        const from = stdout().length;
        while (!/: share/.test(stdout().slice(from))) {
          await once(/** @type {any} */ (child.stdout), 'data');
        }
      });
      await Promise.race(leased);
      race.kill('SIGSTOP');
      await Promise.all(leased);
      assert.ok(await until(areReady), 'both have said so');
      const [lost] = agents;
      lost.child.kill('SIGKILL');
      race.kill('SIGCONT');
      return lost;
    };
    const { status, stdout, stderr, name, result } = await raceThatLoses(lose, 'before.json');
    assert.equal(status, 5, stdout + stderr);
    assert.match(stdout + stderr, new RegExp(`agent ${name} was lost \\(no heartbeat`));
    assert.equal(result.state, 'aborted');
    assert.equal(result.fleet?.lost?.agent, name);
    const measured = result.benchmarks.flatMap(({ rounds }) => rounds);
    assert.ok(measured.every(({ state, throughput }) => state === 'failed' && throughput === 0));
  });

  test('an agent lost while the harness overhead is measured: status 5 with the reason', async () => {
    const lose = async () => {
      /** @type {typeof agents} */
      let measuring = [];
      const isMeasuring = () => {
        measuring = agents.filter(({ child }) => childrenOf(Number(child.pid)).length > 0);
        return measuring.length > 0;
      };
      assert.ok(await until(isMeasuring), 'the overhead is measured');
      const [lost] = measuring;
      lost.child.kill('SIGKILL');
      return lost;
    };
    const { status, stdout, stderr, name, result } = await raceThatLoses(lose, 'overhead.json');
    assert.equal(status, 5, stdout + stderr);
    const why = `agent ${name} was lost \\(no heartbeat\\) outside a round`;
    assert.match(stdout + stderr, new RegExp(why));
    assert.deepEqual(
      result.benchmarks.map(({ state, rounds }) => [state, rounds.length]),
      [['aborted', 0]],
    );
    assert.deepEqual(result.harnessOverhead, []);
  });

  test('an agent that is stopped reports it and leaves the list', async () => {
    const [left] = agents.splice(0, 1);
    left.child.kill('SIGTERM');
    assert.ok(await until(() => left.child.exitCode !== null));
    assert.equal(left.child.exitCode, 143);
    await left.stop();
    assert.doesNotMatch((await callHere('agents')).stdout, /left/);
  });
});
