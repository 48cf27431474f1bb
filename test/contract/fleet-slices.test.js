/**
 * Slices of several load machines: the same slice on all of them at the same time, one comparison
 * of what they did together. Agents are processes; faults as they are.
 */

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openFleet } from '../../fleet/controller.js';
import { slicesOf } from '../../fleet/slices.js';
import { entriesOf } from '../../lib/comparison.js';
import { OK } from '../../lib/outcome.js';
import { parseResult } from '../../lib/parse-result.js';
import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import { pairOf } from '../../stats/standings.js';
import { drawKeys } from '../../workloads/get/index.js';
import {
  assertFailure,
  childrenOf,
  ROOT,
  runCommand,
  startCommand,
} from '../helpers/command-line.js';
import { DATASET, keyOf, listenAndKeep, specOf, startAgent, until } from '../helpers/fleet.js';
import { withServers } from '../helpers/servers.js';

const DATA = ['--rows', '1000', '--value-size', '64', '--seed', '5'];
const PRELOAD = pathToFileURL(path.join(ROOT, 'test/helpers/plant-twice.js')).href;
const NODE_OPTIONS = `--import=${PRELOAD}`;
/** Rows that a contender reads before it warms up. */
const CHECKS = 64;
const KEYS = 262_144;

describe('slices of three machines', () => {
  const servers = withServers(['coordinator', 'redis']);
  const optionsBefore = process.env['NODE_OPTIONS'];
  let folder = '';
  /** @type {import('../helpers/fleet.js').AgentProcess[]} */
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
    folder = await mkdtemp(path.join(tmpdir(), 'dragstrip-fleet-'));
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
    await rm(folder, { recursive: true, force: true });
  });

  test('each does every third operation, all run the same slices, and sums are exact', async () => {
    const server = await listenAndKeep();
    const fleet = await openFleet({
      coordinator: {
        endpoint: servers.address('coordinator')['main'],
        credentials: servers.credentials('coordinator'),
      },
      ...{ agents: 3, storages: ['ioredis', 'iovalkey'], waitMs: 20_000 },
    });
    try {
      const blocks = 4;
      const loads = [{ kind: /** @type {const} */ ('window'), inFlight: 13 }];
      const entrants = ['ioredis', 'iovalkey'].map((storage) => ({
        ...{ name: storage, serverPids: [], every: 1 },
        spec: {
          kind: /** @type {const} */ ('storage'),
          benchmark: { ...specOf(server.port, {}), storage },
          loads,
        },
      }));
      const { runRound } = slicesOf(fleet);
      const made = await runRound(entrants, loads, {
        ...{ round: 0, blocks, orderSeed: 11, sliceNs: 0, warmNsMax: 0.3e9 },
      });
      const plan = drawKeys(DATASET.rows, 7, KEYS, { spread: DATASET.seed });
      const clients = server.keys.filter((own) => own.length > CHECKS);
      assert.equal(clients.length, 6);
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
      for (const [i, { slices, series, agents: own, failure }] of made.entries()) {
        if (failure?.code === 'E_AGENT_LATE') continue; // a busy machine
        assert.equal(failure, null);
        assert.equal(slices[0].length, blocks);
        const told = own?.[0] ?? [];
        assert.deepEqual(
          told.map(({ slices: counted }) => counted?.count),
          [blocks, blocks, blocks],
          entrants[i].name,
        );
        const [{ scheduled, outcomes, latency }] = series;
        assert.equal(outcomes[OK], scheduled);
        assert.equal(
          told.reduce((sum, { ok }) => sum + ok, 0),
          scheduled,
        );
        const sum = new Histogram();
        for (const one of told) sum.merge(await decode(String(one.latency?.histogram)));
        assert.deepEqual(
          sum.toSparse(),
          Histogram.fromSparse(/** @type {any} */ (latency)).toSparse(),
        );
        const counted = slices[0].reduce((total, slice) => total + (slice?.operations ?? 0), 0);
        assert.ok(counted > 0 && counted < scheduled, 'the first block is not counted');
      }
    } finally {
      await fleet.close();
      await server.close();
    }
  });

  test('a race by slices finds the slower copy, with the right sign', async (t) => {
    const words = ['--agents', '3', '--precision', '3%', '--budget', '45s', '--rounds', '4'];
    const load = ['--load', 'window', '--in-flight', '30'];
    const { status, stdout, stderr } = await runCommand(
      folder,
      raceWords([...words, ...load, '--json', 'r.json']),
      { env: env() },
    );
    assert.equal(status, 0, stdout + stderr);
    const result = await stored('r.json');
    assert.equal(result.comparison?.stopped, 'rounds');
    const [{ contenders, placement }] = result.comparison?.loads ?? [];
    assert.deepEqual(
      contenders.map(({ group }) => group),
      ['networked', 'networked', 'again', 'ceiling', 'overhead'],
    );
    assert.equal(placement.reason, 'several machines share the load');
    assert.ok(contenders.every(({ rounds }) => rounds.length === 4));
    const copy = pairOf(entriesOf(result.comparison?.loads[0]), 'ioredis (A/A)', 'ioredis')?.speed;
    t.diagnostic(`asked each fifth twice: ${JSON.stringify(copy)}`);
    assert.ok(copy !== undefined);
    assert.notEqual(copy.answer, 'faster');
    // On a busy machine the interval may be wide; then it contains the truth.
    if (copy.halfWidth < 0.06) assert.equal(copy.answer, 'slower');
    else assert.ok(copy.low < 0.87, JSON.stringify(copy));
    for (const { rounds } of result.benchmarks) {
      for (const { agents: own, outcomes } of rounds) {
        assert.deepEqual(own?.map(({ agent }) => agent).sort(), ['a', 'b', 'c']);
        assert.equal(
          own?.reduce((sum, { ok }) => sum + ok, 0),
          outcomes.ok,
        );
        assert.equal(new Set(own?.map(({ slices }) => slices?.count)).size, 1);
      }
    }
    assert.match(stdout, /^agents of ioredis, .*: [abc] [\d,]+ ops\/s, p99 .*; [abc] /m);
    t.diagnostic(stdout);
  });

  test('one is killed in a round: it is invalid, the rounds before it stay, the run ends', async () => {
    const lost = await startAgent('lost', reach());
    const words = ['--agents', '4', '--load', 'window', '--in-flight', '40', '--budget', '300s'];
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

  test('what slices of several machines cannot be is refused in one line', async () => {
    for (const [words, says] of /** @type {[string[], RegExp][]} */ ([
      [['--agents', '3', '--in-flight', '2'], /--agents 3: 2 in flight are too few to share/],
      [['--agents', '2', '--on-agent-loss', 'truncate'], /--on-agent-loss truncate: slices/],
      [['--agents', '2', '--placement', 'one-cpu'], /--agents and --placement/],
      [['--agents', '2', '--runtime', 'node@22'], /--agents and --runtime/],
    ])) {
      const ended = await runCommand(folder, raceWords(words), { env: env() });
      assertFailure({ ...ended, stdout: '' }, 2, says);
    }
  });
});
