/** Several load machines, as far as it is pure: clocks, merging, what differs, what is refused. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requireShareable, requireShared, targetsOf } from '../../cli/fleet-options.js';
import { planRun } from '../../engine/plan.js';
import { emptyRecord } from '../../engine/record.js';
import { commonStart, compareClocks } from '../../fleet/clock.js';
import { requireNames, requireOther, requireTarget } from '../../fleet/guard.js';
import { differencesOf, identityOf } from '../../fleet/identity.js';
import { mergeContributions, truncate } from '../../fleet/merge.js';
import { packUpload, unpackUpload } from '../../fleet/upload.js';
import { fleetWarnings } from '../../fleet/warnings.js';
import { SecondsRecorder } from '../../load/seconds-recorder.js';
import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import { loadWorkload } from '../../workloads/index.js';

/** @typedef {import('../../engine/record.js').BenchmarkRecord} BenchmarkRecord */

/** @param {number} k @returns {number} ns of operation k */
const latencyOf = (k) => 100_000 + ((k * 7919) % 5000) * 37;

/**
 * @param {number} seat
 * @param {number} count
 * @param {{ operations?: number, startedNs?: number,
 *   open?: Partial<BenchmarkRecord['open']> }} [how]
 * @returns {BenchmarkRecord} of operations seat, seat + count …: a thousand per second in all
 */
function recordOf(seat, count, { operations = 5000, startedNs = 0, open } = {}) {
  const recorder = new SecondsRecorder(0, { service: true, kinds: null });
  for (let k = seat; k < operations; k += count) recorder.ok(k * 1e6 - latencyOf(k), k * 1e6, k);
  recorder.close({
    ...{ endNs: operations * 1e6, issued: recorder.histogram.count },
    ...{ scheduled: recorder.histogram.count, pendingOutcome: 0, pendingError: null },
  });
  const ok = recorder.histogram.count;
  return {
    ...emptyRecord(),
    state: 'measured',
    scheduled: ok,
    outcomes: Array.from(recorder.outcomes),
    startedNs,
    endedNs: startedNs + operations * 1e6,
    durationNs: operations * 1e6,
    latency: recorder.histogram.toMessage(),
    seconds: recorder.toSeconds(),
    ...(open !== undefined && {
      open: {
        ...{ offered: ok, sent: ok, completed: ok, dropped: 0, late: 0, lateNsMax: 0 },
        ...{ service: null, ...open },
      },
    }),
  };
}

/**
 * @param {number} count of agents
 * @param {(seat: number) => Parameters<typeof recordOf>[2]} [how]
 */
function contributions(count, how = () => ({})) {
  return Array.from({ length: count }, (_, seat) => ({
    agent: 'abcdefg'[seat],
    records: [recordOf(seat, count, how(seat))],
    offsetNs: 0,
  }));
}

describe('clocks', () => {
  test('the exchange with the smallest round trip gives the offset', async () => {
    const trips = [400e3, 100e3, 900e3];
    let nowNs = 5e9;
    let i = 0;
    const client = {
      // The server is 2000 s ahead of 2026-01-01, and reads its clock in the middle of the way.
      async time() {
        const tripNs = trips[i++];
        const atNs = 2000e9 + nowNs + tripNs / 2;
        nowNs += tripNs;
        const micros = Math.round(atNs / 1e3);
        return [1_767_225_600 + Math.floor(micros / 1e6), micros % 1e6].map(String);
      },
    };
    const { offsetNs, roundTripNs } = await compareClocks(client, {
      exchanges: 3,
      now: () => nowNs,
    });
    assert.equal(roundTripNs, 100e3);
    assert.ok(Math.abs(offsetNs - 2000e9) <= 1e3, `${offsetNs}`);
  });

  test('all begin half a second later, or twenty round trips', () => {
    assert.equal(commonStart(1e9, [1e6, 2e6]), 1.5e9);
    assert.equal(commonStart(1e9, [1e6, 80e6]), 1e9 + 1.6e9);
  });
});

describe('merging', () => {
  test('three agents are one, to the byte, in all and in each second', async () => {
    const [one, three] = await Promise.all(
      [1, 3].map((count) => mergeContributions(contributions(count), { atNs: 0 })),
    );
    assert.equal(three.record?.state, 'measured');
    assert.deepEqual(three.record?.latency, one.record?.latency);
    assert.deepEqual(three.record?.seconds, one.record?.seconds);
    assert.equal(three.record?.seconds?.length, 5);
    assert.deepEqual(three.record?.outcomes, one.record?.outcomes);
    const agents = three.record?.agents ?? [];
    assert.deepEqual(
      agents.map(({ agent, ok }) => [agent, ok]),
      [
        ['a', 1667],
        ['b', 1667],
        ['c', 1666],
      ],
    );
    const sum = new Histogram();
    for (const { latency } of agents) sum.merge(await decode(String(latency?.histogram)));
    assert.deepEqual(sum.toSparse(), three.record?.latency?.sparse);
  });

  test('a start more than 50 ms late makes the round invalid, and names the agent', async () => {
    const late = (/** @type {number} */ ns) =>
      mergeContributions(
        contributions(3, (seat) => ({ startedNs: seat === 1 ? ns : 1e6 })),
        { atNs: 0 },
      );
    assert.equal((await late(49e6)).record?.state, 'measured');
    const { record } = await late(51e6);
    assert.equal(record?.state, 'failed');
    assert.equal(record?.failure?.code, 'E_AGENT_LATE');
    assert.match(String(record?.failure?.message), /^agent b began 51 ms after the common start/);
  });

  test('an agent that sends late, or drops, makes the round invalid', async () => {
    const of = async (/** @type {Partial<BenchmarkRecord['open']>} */ open) =>
      (
        await mergeContributions(
          contributions(3, (seat) => ({ open: seat === 2 ? open : {} })),
          { atNs: 0 },
        )
      ).record;
    assert.equal((await of({ late: 16 }))?.state, 'measured');
    assert.equal((await of({ late: 18 }))?.failure?.code, 'E_AGENT_LATE');
    assert.equal((await of({ dropped: 2 }))?.failure?.code, 'E_AGENT_FULL');
    assert.match(
      String((await of({ dropped: 2 }))?.failure?.message),
      /^agent c dropped 2 of 1666/,
    );
  });

  test('clocks of the agents are brought together', async () => {
    const all = contributions(2, (seat) => ({ startedNs: seat === 0 ? 100e6 : 7e9 }));
    all[1].offsetNs = 103e6 - 7e9;
    const { record } = await mergeContributions(all, { atNs: 99e6 });
    assert.deepEqual(
      record?.agents?.map(({ lateNs }) => lateNs),
      [1e6, 4e6],
    );
    assert.equal(record?.durationNs, 5e9 + 3e6);
  });

  test('of a round that lost an agent the seconds of all are kept, of the others', async () => {
    const left = contributions(3).slice(0, 2);
    assert.equal(truncate(left, { atNs: 0, aliveNs: 0.9e9 }), null);
    const cut = truncate(left, { atNs: 0, aliveNs: 3.4e9 });
    const { record } = await mergeContributions(cut ?? [], { atNs: 0 });
    const expected = new Histogram();
    for (let k = 0; k < 3000; k += 1) if (k % 3 !== 2) expected.record(latencyOf(k));
    assert.deepEqual(record?.latency, expected.toMessage());
    assert.equal(record?.seconds?.length, 3);
    assert.equal(record?.durationNs, 3e9);
    assert.equal(record?.scheduled, expected.count);
  });

  test('an upload comes back as it was', () => {
    const record = recordOf(0, 1);
    const upload = {
      executions: [{ record, failure: null, processNs: 5 }],
      ...{ failure: null, targets: { 'db:6379': 1e5 } },
      clock: { offsetNs: 1.5e17, roundTripNs: 1, exchanges: 24 },
    };
    assert.deepEqual(unpackUpload(packUpload(upload)), upload);
  });
});

describe('the same everywhere', () => {
  test('each difference is named', async () => {
    const own = await identityOf(['ioredis', 'redis:resp3']);
    assert.deepEqual(Object.keys(own.drivers), ['ioredis', 'redis']);
    assert.deepEqual(differencesOf(own, await identityOf(['ioredis', 'redis'])), []);
    const other = { ...own, node: 'v1.0.0', drivers: { ...own.drivers, redis: '1.2.3' } };
    assert.deepEqual(differencesOf(own, other), [
      `Node v1.0.0 instead of ${process.version}`,
      `redis 1.2.3 instead of ${own.drivers['redis']}`,
    ]);
    const [text] = differencesOf(own, { ...own, configuration: 'f'.repeat(64) });
    assert.match(text, /^configuration ffffffffffff instead of [0-9a-f]{12}: source files/);
  });

  test('the environment of the process is part of it', async () => {
    const own = await identityOf(['ioredis']);
    const before = process.env['UV_THREADPOOL_SIZE'];
    process.env['UV_THREADPOOL_SIZE'] = '7';
    try {
      assert.notEqual((await identityOf(['ioredis'])).configuration, own.configuration);
    } finally {
      if (before === undefined) delete process.env['UV_THREADPOOL_SIZE'];
      else process.env['UV_THREADPOOL_SIZE'] = before;
    }
  });

  test('starts more than 10 ms late are a warning, of whole loads and of slices', async () => {
    const { record } = await mergeContributions(contributions(3), { atNs: -11e6 });
    const round = { state: 'measured', agents: record?.agents };
    const of = (/** @type {any} */ own) =>
      fleetWarnings(
        /** @type {any} */ ({
          fleet: { agents: [{}, {}, {}], onLoss: 'invalid' },
          benchmarks: [{ id: 'x', load: { kind: 'window' }, rounds: [own] }],
        }),
      ).map(({ code, message }) => [code, message]);
    assert.deepEqual(of(round), [
      [
        'W_AGENT_LATE',
        'agent a began up to 11.0 ms after the common start (3 of 3 starts by more than 10 ms)',
      ],
    ]);
    const agents = record?.agents?.map((one, i) => ({
      ...one,
      lateNs: i * 55e6,
      slices: { ns: 2e8, count: 20, late: 3 * i, invalid: i },
    }));
    assert.match(
      of({ ...round, agents: agents?.slice(0, 2) })[0][1],
      /^agent b began 3 of 20 slices more than 10 ms late \(up to 55\.0 ms; 1 of them are not/,
    );
    assert.deepEqual(of({ ...round, agents: agents?.slice(0, 1) }), []);
  });

  test('an agent that differs from the others is named', async () => {
    const rounds = await Promise.all(
      [0, 1].map(async () => {
        const { record } = await mergeContributions(contributions(3), { atNs: 0 });
        return { state: 'measured', agents: record?.agents };
      }),
    );
    const result = /** @type {any} */ ({
      fleet: { agents: [{}, {}, {}], onLoss: 'invalid' },
      benchmarks: [{ id: 'x', load: { kind: 'rate' }, rounds }],
    });
    assert.deepEqual(fleetWarnings(result), []);
    for (const { agents } of rounds) {
      const latency = agents?.[1].latency;
      if (latency) latency.p50Ns = Number(latency.p50Ns) * 2;
    }
    const [{ code, message }] = fleetWarnings(result);
    assert.equal(code, 'W_AGENT_DIFFERS');
    assert.match(message, /^agent b: its median latency is 2\.0.× of the median of the others/);
  });
});

describe('which servers', () => {
  const main = { host: '10.1.2.3', port: 6379 };

  test('an agent loads those of its own list, on loopback only where the race was started', async () => {
    const own = { allowTargets: ['10.1.2.3:6379'], sameMachine: false };
    await requireTarget({ address: { main } }, own);
    await assert.rejects(requireTarget({ address: { main } }, { ...own, allowTargets: [] }), {
      code: 'E_REFUSED',
      message: /10\.1\.2\.3:6379 is not among the targets of this agent/,
    });
    const near = { address: { main: { host: '127.0.0.1', port: 6379 } } };
    await requireTarget(near, { allowTargets: [], sameMachine: true });
    await assert.rejects(requireTarget(near, own), { code: 'E_REFUSED', message: /this machine/ });
  });

  test('an order has names: a file, a program or a processor is refused', () => {
    requireNames({ storage: 'valkey-glide', workload: 'get' });
    for (const order of [
      ...[{ storage: './mine.js' }, { storage: '/tmp/mine.js' }, { storage: 'mine.js' }],
      ...[{ storage: '' }, { workload: '../mine.mjs' }, { workload: 'mine.js' }],
      { storage: 'ioredis', runtime: { program: '/bin/sh' } },
      ...[
        { storage: 'ioredis', driver: {} },
        { storage: 'ioredis', cpus: [0] },
      ],
    ]) {
      const refused = {
        code: 'E_REFUSED',
        message: /^(the \w+ of an order is no|an order has a) /,
      };
      assert.throws(() => requireNames(order), refused, JSON.stringify(order));
    }
  });

  test('the coordinator is not among them', () => {
    assert.throws(() => requireOther([main], { ...main }), {
      code: 'E_REFUSED',
      message: '10.1.2.3:6379 is the coordinator: it is never measured',
    });
    requireOther([main], { ...main, port: 6390 });
  });

  test('a race of several machines takes names of installed storages with a server', async () => {
    const storages = ['ioredis', 'redis:resp3'];
    assert.deepEqual(await requireShared({ storages }), storages);
    for (const [options, message] of /** @type {[Record<string, any>, RegExp][]} */ ([
      [{}, /--agents: which storages/],
      [{ storages: ['ioredis:all'] }, /which storages/],
      [{ storages: ['./mine.js'] }, /agents take names, never code/],
      [{ storages: ['memory'] }, /memory is embedded/],
      [{ storages, pin: true }, /--agents and --pin/],
      [{ storages, limits: true }, /--agents and --limits/],
      [{ storages, runtime: ['node@22'] }, /--agents and --runtime/],
      [{ storages, placement: 'free' }, /--agents and --placement/],
    ])) {
      await assert.rejects(requireShared(options), { code: 'E_USAGE', message });
    }
    const race = await loadWorkload('race');
    assert.equal(planRun({ agents: 3, precision: 0.05 }, race).slices?.precision, 0.05);
    const loads = planRun({ agents: 3, load: 'window', inFlight: 5 }, race);
    requireShareable(loads, { agents: 5 });
    const few = { code: 'E_USAGE', message: /--agents 6: 5 in flight are too few to share/ };
    assert.throws(() => requireShareable(loads, { agents: 6 }), few);
    const truncated = { agents: 2, onAgentLoss: 'truncate' };
    assert.throws(() => requireShareable(loads, truncated), /slices are uploaded after the round/);
    assert.throws(
      () => targetsOf({ targetsFile: '/nowhere/targets' }),
      /cannot be read \(ENOENT\)/,
    );
    assert.deepEqual(targetsOf({ allowTarget: ['a:1'] }), ['a:1']);
  });
});
