/**
 * Benefit of several load machines, by their statistics: more throughput if one process cannot
 * saturate the server, and a comparison that detects a slower copy.
 */
// Needs: redis, coordinator

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { entriesOf } from '../../../../lib/comparison.js';
import { parseResult } from '../../../../lib/parse-result.js';
import { pairOf } from '../../../../stats/standings.js';
import { ROOT, runCommand } from '../../../../test/helpers/command-line.js';
import { inTime, NODE_OPTIONS as LATENCY, startAgent } from '../../../../test/helpers/fleet.js';
import { withFolder } from '../../../../test/helpers/folder.js';
import { notChecked } from '../../../../test/helpers/not-checked.js';
import { withServers } from '../../../../test/helpers/servers.js';

const DATA = ['--rows', '1000', '--value-size', '64', '--seed', '5'];
const PRELOAD = pathToFileURL(path.join(ROOT, 'test/helpers/plant-twice.js')).href;
const NODE_OPTIONS = `--import=${PRELOAD}`;

describe('three machines', () => {
  const servers = withServers(['coordinator', 'redis']);
  const folder = withFolder();

  const reach = () => {
    const { address, credentials = {} } = servers.running('coordinator');
    return { address: address['main'], token: credentials['password'] };
  };
  /** @param {string[]} words @param {string} options options of Node */
  const call = (words, options) => {
    const redis = ['--redis', servers.running('redis').address['main']];
    const env = { NODE_OPTIONS: options, DRAGSTRIP_COORDINATOR: reach().address };
    return runCommand(folder, ['bin/dragstrip.js', ...words, ...redis, ...DATA], { env });
  };
  const stored = async (/** @type {string} */ name) =>
    parseResult(await readFile(path.join(folder, name), 'utf8'), name);

  before(async () => {
    const { status, stderr } = await call(['seed', 'redis'], NODE_OPTIONS);
    assert.equal(status, 0, stderr);
  });

  /**
   * @param {import('node:test').TestContext} t agents end with it
   * @param {Record<string, string>} env
   */
  async function startAgents(t, env) {
    const names = ['a', 'b', 'c'];
    const agents = await Promise.all(names.map((name) => startAgent(name, { ...reach(), env })));
    t.after(() => Promise.all(agents.map((agent) => agent.stop())));
  }

  test('three agents raise the throughput of a closed loop, and report its bottleneck', async (t) => {
    // Each operation takes some 0.2 ms of the client's processor.
    await startAgents(t, { BURN: '100000' });
    /** @type {number[]} */
    const throughputs = [];
    for (const count of ['1', '3']) {
      const load = ['--load', 'window', '--in-flight', '30', '--duration', '1500ms'];
      const words = ['--agents', count, '--storages', 'ioredis', '--rounds', '2', '--no-html'];
      const json = `${count}.json`;
      const ended = await inTime(() =>
        call(['race', ...words, ...load, '--json', json, '--force'], LATENCY),
      );
      assert.equal(ended.status, 0, ended.stdout + ended.stderr);
      const result = await stored(json);
      const rounds = result.benchmarks[0].rounds.map(({ throughput }) => throughput);
      throughputs.push(rounds[0] / 2 + rounds[1] / 2);
      const [line] = /^agents of ioredis.*$/m.exec(ended.stdout) ?? [];
      assert.match(String(line), /, (driver|latency|server)\b/);
      t.diagnostic(`${count}: ${Math.round(throughputs[throughputs.length - 1])} ops/s; ${line}`);
    }
    const ratio = throughputs[1] / throughputs[0];
    // If other programs use the processors, three processes get no more CPU time than one.
    const isBusy = loadavg()[0] > availableParallelism();
    if (isBusy) notChecked(t, `the ratio ${ratio.toFixed(2)}, since the machine is busy`);
    else assert.ok(ratio > 1.4, `${throughputs}`);
  });

  test('a race finds the slower copy, with the right sign, and has what one machine has', async (t) => {
    await startAgents(t, { NODE_OPTIONS });
    const race = (/** @type {string[]} */ words) =>
      call(['race', '--storages', 'ioredis,redis', ...words], NODE_OPTIONS);
    const words = ['--agents', '3', '--precision', '3%', '--budget', '45s', '--rounds', '4'];
    const load = ['--load', 'window', '--in-flight', '30'];
    const { status, stdout, stderr } = await race([...words, ...load, '--json', 'r.json']);
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
    t.diagnostic(`a copy that sends each fifth twice: ${JSON.stringify(copy)}`);
    assert.ok(copy !== undefined);
    assert.notEqual(copy.answer, 'faster');
    // On a busy machine the interval may be wide, but contains the true value.
    if (Number(copy.halfWidth) < 0.06) assert.equal(copy.answer, 'slower');
    else {
      assert.ok(Number(copy.low) < 0.87, JSON.stringify(copy));
      const half = `± ${(100 * Number(copy.halfWidth)).toFixed(1)} %`;
      notChecked(t, `that the copy is slower: its interval is ${half}, since the machine is busy`);
    }
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
    const alone = ['--rounds', '1', '--budget', '10s', ...load, '--json', 'one.json'];
    const plain = await race(alone);
    assert.equal(plain.status, 0, plain.stdout + plain.stderr);
    const single = await stored('one.json');
    assert.deepEqual(shapeOf(result), shapeOf(single));
  });
});

/**
 * @param {import('../../../../lib/result.js').Result} result
 * @returns kinds of measurements in a result, with their fields; segments of a timetable are not
 *   charged with their garbage
 */
function shapeOf({ benchmarks, comparison }) {
  const fleetFields = new Set(['agents', 'seconds', 'occupancy', 'counted', 'charged']);
  return {
    benchmarks: benchmarks.map(({ id, load, rounds: [round] }) => ({
      id,
      load,
      fields: Object.keys(round).filter((name) => !fleetFields.has(name)),
    })),
    loads: comparison?.loads.map(
      ({ contenders, placement, garbage: _own, measuredNs: _ns, ...load }) => ({
        ...load,
        kind: placement.kind,
        contenders: contenders.map(({ rounds, ...one }) => ({
          ...one,
          fields: Object.keys(rounds[0]).filter((name) => !fleetFields.has(name)),
        })),
      }),
    ),
  };
}
