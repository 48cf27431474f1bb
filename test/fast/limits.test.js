/** Limits of a result: the sweep with an executor made up, shares of them, and when they apply. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toClientCeiling } from '../../engine/client-ceilings.js';
import { clientCeilingOf, limitsFrom, limitsSchema, serverCeilingOf } from '../../lib/ceilings.js';
import { parseResult } from '../../lib/parse-result.js';
import { resultSchema } from '../../lib/result.js';
import { sweepWire, toFigure } from '../../limits/wire/sweep.js';
import { toGroups } from '../../report/analysis/rows.js';
import { loadReport } from '../../report/index.js';
import { raceResult } from '../helpers/result-builder.js';

const TARGET = {
  protocol: 'redis',
  endpoint: { host: '127.0.0.1', port: 1 },
  credentialVariables: null,
  dataset: { rows: 1000, valueSize: 1024, seed: 1 },
  stallMs: 1000,
  serverPids: [],
};

/** @returns {import('../../lib/ceilings.js').Limits} */
function limits() {
  const interval = { low: 90_000, high: 110_000, relativeHalfWidth: 0.1, confidence: 0.95 };
  return {
    source: null,
    wire: [
      {
        protocol: 'redis',
        server: 'redis',
        version: '7.0.15',
        transport: 'tcp',
        opsPerSecond: 100_000,
        interval,
        n: 5,
        depth: 256,
        connections: 2,
        clientCpuNs: 900,
        serverCpuNs: 3200,
        rounds: [100_000, 100_000, 100_000],
        points: [{ connections: 2, depth: 256, opsPerSecond: 101_000 }],
        reason: null,
      },
    ],
    driver: [
      {
        storage: 'redis',
        profile: 'default',
        protocol: 'redis',
        load: { kind: 'burst', inFlight: null, operations: 50_000 },
        opsPerSecond: 50_000,
        interval,
        n: 5,
        clientCpuNs: 19_000,
        fakeServerCpuNs: 1500,
        fakeServerOpsPerSecond: 400_000,
        headroom: 8,
        rounds: [50_000, 50_000, 50_000],
        reason: null,
      },
      {
        storage: 'redis',
        profile: 'default',
        protocol: 'redis',
        load: { kind: 'sync', inFlight: 1, operations: 5000 },
        opsPerSecond: null,
        interval: null,
        n: 5,
        clientCpuNs: 60_000,
        fakeServerCpuNs: 30_000,
        fakeServerOpsPerSecond: 20_000,
        headroom: 1.4,
        rounds: [14_000, 14_000, 14_000],
        reason: 'the fake server is only 1.4 times as fast as the driver',
      },
    ],
  };
}

/** Throughput grows with depth to 64, and with a second connection; then it falls. */
function fakeExecutor() {
  /** @type {import('../../limits/wire/process.js').WireSpec[]} */
  const specs = [];
  /** @type {import('../../limits/wire/process.js').WireExecutor} */
  const executor = async (spec) => {
    specs.push(spec);
    const points = spec.depths.map((depth) => {
      const opsPerSecond =
        1000 * Math.min(depth, 64 ** 2 / depth) * (spec.connections === 2 ? 1.5 : 1);
      // The short looks of the sweep come out too high.
      const lucky = spec.depths.length > 1 ? 1.3 : 1;
      return {
        connections: spec.connections,
        depth,
        replies: 1000,
        durationNs: 1e9,
        opsPerSecond: opsPerSecond * lucky,
        clientCpuNs: 2e6,
        serverCpuNs: 3e6,
      };
    });
    const counts = { sent: 1, replies: 1, errors: 0, misses: 0, checked: 64 };
    return { points, counts };
  };
  return { specs, executor };
}

test('the sweep looks at every depth and connection, and quotes the rounds, not the look', async () => {
  const { specs, executor } = fakeExecutor();
  const figure = await sweepWire(TARGET, { rounds: 4, measureNs: 1e8, executor });
  assert.deepEqual([figure.connections, figure.depth, figure.n], [2, 64, 4]);
  assert.equal(figure.opsPerSecond, 96_000);
  assert.equal(figure.points.length, 4 * 13);
  assert.equal(figure.clientCpuNs, 2000);
  assert.equal(figure.serverCpuNs, 3000);
  assert.equal(specs.length, 4 + 3 * 4, 'a process for each number of connections and each round');
  const order = specs.slice(4).map(({ depths, connections }) => `${connections}x${depths}`);
  assert.deepEqual(order.slice(3, 6), order.slice(0, 3).reverse(), 'rounds are mirrored');
});

test('a sweep that is late measures the best point alone, in three rounds', async () => {
  const { specs, executor } = fakeExecutor();
  const late = { budgetNs: 0, roundsLeast: 3 };
  const figure = await sweepWire(TARGET, { rounds: 5, measureNs: 1e8, ...late, executor });
  assert.deepEqual([figure.connections, figure.depth, figure.n], [2, 64, 3]);
  assert.equal(specs.length, 4 + 3);
});

test('great values are not swept as deep: 64 MiB are under way at most', async () => {
  const { specs, executor } = fakeExecutor();
  const dataset = { ...TARGET.dataset, valueSize: 2 ** 20 };
  await sweepWire({ ...TARGET, dataset }, { rounds: 1, measureNs: 1e8, executor });
  const deepest = specs.slice(0, 4).map(({ depths }) => Math.max(...depths));
  assert.deepEqual(deepest, [64, 32, 16, 16]);
  const whole = { ...TARGET.dataset, valueSize: 2 ** 24 };
  const { specs: few, executor: again } = fakeExecutor();
  await sweepWire({ ...TARGET, dataset: whole }, { rounds: 1, measureNs: 1e8, executor: again });
  assert.deepEqual(few[0].depths, [1, 2, 4]);
  assert.deepEqual(few[3].depths, [1]);
});

test('a server whose CPU time could not be read has none, not a zero', () => {
  const point = { connections: 1, depth: 1, replies: 10, durationNs: 1, opsPerSecond: 5 };
  const figure = toFigure([
    { ...point, clientCpuNs: 20, serverCpuNs: null },
    { ...point, clientCpuNs: 40, serverCpuNs: 7 },
  ]);
  assert.equal(figure.serverCpuNs, null);
  assert.equal(figure.clientCpuNs, 3);
});

test('a client ceiling is of the same load, and a burst of the same size', () => {
  const known = limits();
  const benchmark = { storage: 'redis', profile: 'default' };
  const of = (/** @type {any} */ load) => clientCeilingOf(known, { ...benchmark, load });
  assert.equal(of({ kind: 'burst', inFlight: null, operations: 50_000 }), 50_000);
  assert.equal(of({ kind: 'burst', inFlight: null, operations: 20_000 }), null);
  assert.equal(of({ kind: 'window', inFlight: 100, operations: 50_000 }), null);
  assert.equal(of({ kind: 'sync', inFlight: 1, operations: 5000 }), null, 'it has no figure');
  assert.equal(serverCeilingOf(known, 'redis'), 100_000);
  assert.equal(serverCeilingOf(known, 'mysql'), null);
  assert.equal(serverCeilingOf(known, null), null);
  assert.equal(serverCeilingOf(undefined, 'redis'), null);
});

/** @returns {import('../../lib/result.js').Result} */
function withLimits() {
  const result = structuredClone(raceResult());
  result.limits = limits();
  for (const storage of result.storages) {
    if (storage.server === 'redis') storage.protocol = 'redis';
  }
  return result;
}

test('a result with limits keeps them when it is written and read', () => {
  const result = withLimits();
  assert.deepEqual(parseResult(JSON.stringify(result), 'x').limits, result.limits);
  assert.ok(limitsSchema.safeParse(limits()).success);
  assert.ok(resultSchema.safeParse(raceResult()).success, 'results from before have none');
});

test('rows tell their share of the limits that are known, and the tables show it', async () => {
  const result = withLimits();
  const rows = toGroups(result).flatMap((group) => group.rows);
  const burst = rows.find((row) => row.label === 'redis' && row.source.load.kind === 'burst');
  assert.ok(burst?.throughput?.median);
  assert.equal(burst.ofServerCeiling, burst.throughput.median / 100_000);
  assert.equal(burst.ofClientCeiling, burst.throughput.median / 50_000);
  const sync = rows.find((row) => row.label === 'redis' && row.source.load.kind === 'sync');
  assert.equal(sync?.ofClientCeiling, null);
  assert.ok(rows.every((row) => row.kind === 'server' || row.ofServerCeiling === null));
  const { render } = await loadReport('console');
  const text = render(result, { width: 200 });
  assert.match(text, /of client/);
  assert.match(text, /of server/);
  assert.match(text, /server ceiling: rows of 1,024 characters/);
  assert.match(text, /client ceiling of redis, 1 in flight: the fake server is only 1\.4 times/);
  const plain = render(raceResult(), { width: 200 });
  assert.doesNotMatch(plain, /of server|of client/);
  assert.match(plain, /bottleneck/);
});

test('limits that were taken from another result have no table of their own here', async () => {
  const result = withLimits();
  if (result.limits) result.limits.source = '20261121-090000-limit';
  const { render } = await loadReport('console');
  const text = render(result, { width: 200 });
  assert.doesNotMatch(text, /server ceiling: rows of/);
  assert.match(text, /Taken\s+from\s+the\s+result\s+20261121-090000-limit/);
});

test('stored limits are refused for other rows, another machine or another Node', () => {
  const stored = withLimits();
  const { environment, dataset } = stored;
  const run = { dataset, environment };
  const taken = limitsFrom(stored, run, 'limits.json');
  assert.equal(taken.source, stored.id);
  assert.deepEqual(taken.wire, stored.limits?.wire);
  /** @type {[RegExp, Partial<typeof run>][]} */
  const others = [
    [/another value size \(1024, this run has 64\)/, { dataset: { ...dataset, valueSize: 64 } }],
    [
      /another value size \(1024, this run has uniform:8-64\)/,
      { dataset: { ...dataset, valueSize: 64, valueSizes: 'uniform:8-64' } },
    ],
    [/another processor/, { environment: { ...environment, cpu: 'Z80' } }],
    [/another number of cores/, { environment: { ...environment, cores: 64 } }],
    [/another Node/, { environment: { ...environment, node: 'v99.0.0' } }],
  ];
  for (const [message, change] of others) {
    assert.throws(() => limitsFrom(stored, { ...run, ...change }, 'limits.json'), {
      code: 'E_USAGE',
      message,
    });
  }
  const none = structuredClone(stored);
  delete none.limits;
  assert.throws(() => limitsFrom(none, run, 'race.json'), {
    code: 'E_USAGE',
    message: /no ceilings/,
  });
});

/**
 * @param {number[]} throughputs
 * @param {number[]} capacities
 */
function driverJob(throughputs, capacities) {
  const records = throughputs.map((perSecond) => ({
    durationNs: 1e9,
    outcomes: [perSecond, 0, 0, 0, 0, 0, 0],
    client: { userNs: 8e8, systemNs: 1e8 },
    server: { cpuNs: 1e8 },
  }));
  const target = { definition: { name: 'redis' }, profile: 'default' };
  const load = { kind: 'window', inFlight: 100, operations: 1000, durationNs: null };
  return /** @type {any} */ ({ target, load, records, capacities, failure: null });
}

test('headroom is that of rounds side by side, and below 2 there is no figure', () => {
  // The machine was ten times slower in the last two rounds, for both.
  const throughputs = [50_000, 5000, 5000];
  const enough = toClientCeiling('redis', driverJob(throughputs, [200_000, 20_000, 20_000]));
  assert.deepEqual([enough.headroom, enough.opsPerSecond, enough.reason], [4, 5000, null]);
  assert.equal(enough.n, 3);
  const short = toClientCeiling('redis', driverJob(throughputs, [95_000, 9500, 9500]));
  assert.deepEqual([short.headroom, short.opsPerSecond, short.interval], [1.9, null, null]);
  assert.match(short.reason ?? '', /only 1\.9 times as fast as the driver, not 2/);
  const failed = { ...driverJob([], []), failure: 'it did not open' };
  const none = toClientCeiling('redis', failed);
  assert.deepEqual([none.opsPerSecond, none.n, none.reason], [null, 0, 'it did not open']);
});
