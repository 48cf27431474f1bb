/** `race --agents`, `agent` and `agents` as their users meet them: lines, result, page, statuses. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { seed } from '../../../../index.js';
import { decode } from '../../../../measure/hdr.js';
import { Histogram } from '../../../../measure/histogram.js';
import { withCommands } from '../../../../test/helpers/command-folder.js';
import { assertFailure } from '../../../../test/helpers/command-line.js';
import { inTime, until } from '../../../../test/helpers/fleet.js';
import { withFleet } from '../../../../test/helpers/load-machines.js';
import { addressFlags, withServers } from '../../../../test/helpers/servers.js';

const DATA = ['--rows', '1000', '--value-size', '64', '--seed', '5'];

describe('a race of two machines', () => {
  const servers = withServers(['coordinator', 'redis']);
  const { agents, reach } = withFleet(servers, ['left', 'right']);
  const { call, textOf, resultIn } = withCommands(servers);
  const race = (/** @type {string[]} */ words) =>
    call('race', '--storages', 'ioredis,redis', '--rounds', '2', ...DATA, ...words);

  before(async () => {
    const { redis } = addressFlags(servers);
    await seed({ servers: ['redis'], rows: 1000, valueSize: 64, seed: 5, addresses: { redis } });
  });

  test('agents lists who is there', async () => {
    const { status, stdout } = await call('agents');
    assert.equal(status, 0);
    const [head, ...rows] = stdout.trim().split('\n');
    assert.match(head, /^agent +state +host +dragstrip +Node +cores +clock offset +round trip$/);
    assert.match(rows[0], /^left +idle .* v\d+\.\d+\.\d+ +\d+ +-?\d+ ms +[\d.]+ [µm]s$/);
    assert.match(rows[1], /^right +idle /);
  });

  test('one result: merged figures, what each agent did, in step', async () => {
    const load = ['--load', 'window', '--in-flight', '20', '--ops', '3000', '--warmup', '200'];
    const words = ['--agents', '2', ...load, '--json', 'r.json', '--force'];
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
      assert.equal(rounds.length, 2);
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
        const whole = await decode(String(round.latency?.histogram));
        assert.deepEqual(sum.toSparse(), whole.toSparse());
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
      assert.ok(await until(() => /: done, share \d of 2/.test(agent.stdout()), 5000));
    }
  });

  test('what cannot be is refused in one line', async () => {
    const coordinator = reach().address;
    const fixed = ['--ops', '100', '--load', 'window', '--no-html'];
    for (const [words, status, says] of /** @type {[string[], number, RegExp][]} */ ([
      [['--agents', '3', '--agent-wait', '1s', ...fixed], 4, /2 of 3 agents are ready after 1 s/],
      [['--agents', '2', '--redis', coordinator, ...fixed], 3, /is the coordinator: it is never/],
      [['--agents', '2', '--budget', '5s', '--no-html'], 2, /4 benchmarks take at least 15 s/],
      [['--agents', '2', '--pin', ...fixed], 2, /--agents and --pin/],
      [['--agents', '0', ...fixed], 2, /--agents "0": not a whole number/],
      [['--agents', '2', '--token-file', 'none', ...fixed], 2, /--token-file: none cannot be read/],
      [['--agents', '2', '--coordinator', '127.0.0.1:1', ...fixed], 4, /coordinator at 127/],
    ])) {
      const ended = await race(words);
      assertFailure({ ...ended, stdout: '' }, status, says);
    }
    const taken = await call('agent', '--name', 'left');
    assertFailure({ ...taken, stdout: '' }, 2, /agent left: another agent on .* has this name/);
  });

  test('an agent that is ended says so and leaves the list', async () => {
    const [left] = agents.splice(0, 1);
    left.child.kill('SIGTERM');
    assert.ok(await until(() => left.child.exitCode !== null));
    assert.equal(left.child.exitCode, 143);
    await left.stop();
    assert.doesNotMatch((await call('agents')).stdout, /left/);
  });
});
