/** Ceilings: the sweep with processes made up and with real ones, shares of them, when they apply. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figureOf } from '../../engine/ceiling-seats.js';
import { toClientCeiling } from '../../engine/client-ceilings.js';
import { createProcesses } from '../../engine/contender-process.js';
import { emptySegment } from '../../engine/segment.js';
import { measureServerCeiling } from '../../engine/server-ceilings.js';
import { clientCeilingOf, limitsFrom, limitsSchema, serverCeilingOf } from '../../lib/ceilings.js';
import { parseResult } from '../../lib/parse-result.js';
import { resultSchema } from '../../lib/result.js';
import { startFakeServer } from '../../limits/fake/process.js';
import { toGroups } from '../../report/analysis/rows.js';
import { loadReport } from '../../report/index.js';
import { raceResult } from '../helpers/result-builder.js';

/** @typedef {import('../../engine/contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('../../engine/contender-process.js').ProcessFactory} ProcessFactory */

const PLAN = {
  loads: [],
  rounds: 4,
  dataset: { rows: 1000, valueSize: 1024, seed: 1 },
  seed: 1,
  timeoutMs: 1000,
};

/**
 * @param {import('../../lib/types.js').Endpoint} endpoint
 * @returns {import('../../engine/targets.js').StorageTarget} target of a server at that address
 */
function targetAt(endpoint) {
  const server = { name: 'redis', address: { main: endpoint }, pids: [], version: '7' };
  const definition = { name: 'redis', server: 'redis' };
  return /** @type {any} */ ({ definition, source: 'redis', profile: 'default', server });
}

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
function madeUpProcesses() {
  /** @type {ContenderSpec[]} */
  const specs = [];
  /** @type {ProcessFactory} */
  const processes = (spec) => {
    specs.push(spec);
    return {
      open: async () => {},
      warm: async () => ({ costNs: 1, refused: false }),
      prepare: async () => {},
      async run(index) {
        const { inFlight, connections = 1 } = loadsOf(spec)[index];
        const depth = (inFlight ?? 0) / connections;
        const perSecond = 1000 * Math.min(depth, 64 ** 2 / depth) * (connections === 2 ? 1.5 : 1);
        const segment = emptySegment();
        segment.outcomes[0] = 1000;
        segment.client = { userNs: 2e6, systemNs: 0 };
        segment.servers = { '': { cpu: [[5e6, 8e6]], rssBytes: null, threads: {} } };
        segment.figures = {
          // The short looks of the sweep come out too high.
          spanNs: 1e12 / perSecond / (spec.tasks.length > 1 ? 1.3 : 1),
          spanOperations: 1000,
          medianNs: null,
          valid: true,
          lateNs: 0,
          latency: null,
        };
        return segment;
      },
      close: async () => ({ kept: [], process: emptySegment() }),
      pin: async () => {},
      abort() {},
      kill() {},
      ended: async () => 1e6,
    };
  };
  return { specs, processes };
}

/** @param {ContenderSpec} spec */
function loadsOf({ tasks }) {
  return tasks.flatMap((task) => task?.load ?? []);
}

/** @param {ContenderSpec} spec @returns {string[]} the cells of a process */
function cellsOf(spec) {
  return loadsOf(spec).map(({ inFlight, connections }) => `${connections} × ${inFlight}`);
}

/**
 * @param {Partial<import('../../engine/client-ceilings.js').CeilingPlan>} plan
 * @param {Partial<import('../../engine/server-ceilings.js').SweepContext>} context
 * @param {import('../../lib/types.js').Endpoint} [endpoint]
 */
function sweep(plan, context, endpoint = { host: '127.0.0.1', port: 1 }) {
  const whole = { budgetNs: Number.POSITIVE_INFINITY, ...context };
  return measureServerCeiling({ ...PLAN, ...plan }, 'redis', targetAt(endpoint), whole);
}

test('the sweep measures every depth and connection, and reports rounds, not the sweep', async () => {
  const { specs, processes } = madeUpProcesses();
  const figure = await sweep({}, { processes });
  assert.ok(figure);
  assert.deepEqual([figure.connections, figure.depth, figure.n], [2, 64, 4]);
  assert.ok(Math.abs(Number(figure.opsPerSecond) - 96_000) < 1e-6);
  assert.equal(figure.points.length, 4 * 7);
  assert.ok(Math.max(...figure.points.map((one) => one.opsPerSecond)) > 120_000);
  assert.deepEqual([figure.clientCpuNs, figure.serverCpuNs], [2000, 3000]);
  assert.equal(specs.length, 4 + 3 * 4, 'a process for each number of connections and each round');
  const finals = specs.slice(4).flatMap(cellsOf);
  assert.equal(finals[0], '2 × 128');
  assert.deepEqual(finals.slice(3, 6), finals.slice(0, 3).reverse(), 'rounds are mirrored');
});

test('a late sweep measures only the best point, in three rounds', async () => {
  const { specs, processes } = madeUpProcesses();
  const figure = await sweep({ rounds: 5, roundsLeast: 3 }, { budgetNs: 0, processes });
  assert.deepEqual([figure?.connections, figure?.depth, figure?.n], [2, 64, 3]);
  assert.equal(specs.length, 4 + 3);
});

test('large values are swept less deep: at most 64 MiB are in flight', async () => {
  const { specs, processes } = madeUpProcesses();
  const { dataset } = PLAN;
  await sweep({ rounds: 1, dataset: { ...dataset, valueSize: 2 ** 20 } }, { processes });
  const deepest = specs.slice(0, 4).map((spec) => cellsOf(spec).at(-1));
  assert.deepEqual(deepest, ['1 × 64', '2 × 32', '3 × 48', '4 × 64']);
  const { specs: few, processes: again } = madeUpProcesses();
  await sweep({ rounds: 1, dataset: { ...dataset, valueSize: 2 ** 24 } }, { processes: again });
  assert.deepEqual(few.slice(0, 4).map(cellsOf), [
    ['1 × 1', '1 × 4'],
    ['2 × 2'],
    ['3 × 3'],
    ['4 × 4'],
  ]);
});

test('a killed process is the reason for the missing figure', async () => {
  const dataset = { rows: 100, valueSize: 16, seed: 1 };
  const fake = await startFakeServer('redis', dataset);
  try {
    const create = createProcesses();
    /** @type {ProcessFactory} */
    const processes = (spec, events) => {
      const remote = create(spec, events);
      const open = remote.open.bind(remote);
      remote.open = () => open().then(() => remote.kill());
      return remote;
    };
    const killed = await sweep({ dataset }, { processes }, fake.endpoint);
    assert.match(killed?.reason ?? '', /process was killed by SIGKILL/);
    assert.deepEqual([killed?.opsPerSecond, killed?.points], [null, []]);
  } finally {
    await fake.stop();
  }
});

test('a stopped sweep has no figure', async () => {
  const stop = new AbortController();
  const { specs, processes } = madeUpProcesses();
  const onProgress = () => specs.length === 2 && stop.abort();
  assert.equal(await sweep({}, { processes, onProgress, signal: stop.signal }), null);
  assert.equal(specs.length, 2, 'no further process');
});

test('a server with unreadable CPU time has none, not a zero', () => {
  const round = { opsPerSecond: 5, operations: 10 };
  const figure = figureOf([
    { ...round, clientCpuNs: 20, serverCpuNs: null },
    { ...round, clientCpuNs: 40, serverCpuNs: 7 },
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

test('a result with limits keeps them after writing and reading', () => {
  const result = withLimits();
  assert.deepEqual(parseResult(JSON.stringify(result), 'x').limits, result.limits);
  assert.ok(limitsSchema.safeParse(limits()).success);
  assert.ok(resultSchema.safeParse(raceResult()).success, 'results from before have none');
});

test('rows have their share of known limits, and the tables show it', async () => {
  const result = withLimits();
  const rows = toGroups(result).flatMap((group) => group.rows);
  const burst = rows.find((row) => row.label === 'redis' && row.source.load.kind === 'burst');
  assert.ok(burst?.throughput?.value);
  const { ofServerCeiling: share } = burst;
  assert.equal('value' in share && share.value, burst.throughput.value / 100_000);
  assert.equal(burst.ofClientCeiling, burst.throughput.value / 50_000);
  const sync = rows.find((row) => row.label === 'redis' && row.source.load.kind === 'sync');
  assert.equal(sync?.ofClientCeiling, null);
  assert.ok(rows.every((row) => row.kind === 'server' || !('value' in row.ofServerCeiling)));
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

test('limits of another result have no separate table', async () => {
  const result = withLimits();
  if (result.limits) result.limits.source = '20261121-090000-limit';
  const { render } = await loadReport('console');
  const text = render(result, { width: 200 });
  assert.doesNotMatch(text, /server ceiling: rows of/);
  assert.match(text, /From\s+the\s+result\s+20261121-090000-limit/);
});

test('stored limits are refused for other rows, another machine or another Node', () => {
  const stored = withLimits();
  const { environment, dataset } = stored;
  const run = { dataset, environment };
  const limits = limitsFrom(stored, run, 'limits.json');
  assert.equal(limits.source, stored.id);
  assert.deepEqual(limits.wire, stored.limits?.wire);
  /** @type {[RegExp, Partial<typeof run>][]} */
  const others = [
    [/different value size \(1024, this run has 64\)/, { dataset: { ...dataset, valueSize: 64 } }],
    [
      /different value size \(1024, this run has uniform:8-64\)/,
      { dataset: { ...dataset, valueSize: 64, valueSizes: 'uniform:8-64' } },
    ],
    [/different processor/, { environment: { ...environment, cpu: 'Z80' } }],
    [/different number of cores/, { environment: { ...environment, cores: 64 } }],
    [/different Node/, { environment: { ...environment, node: 'v99.0.0' } }],
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
  const records = throughputs.map((opsPerSecond) => ({
    opsPerSecond,
    operations: opsPerSecond,
    clientCpuNs: 9e8,
    serverCpuNs: 1e8,
  }));
  const target = { definition: { name: 'redis' }, profile: 'default' };
  const load = { kind: 'window', inFlight: 100, operations: 1000, durationNs: null };
  const protocol = 'redis';
  return /** @type {any} */ ({ target, protocol, load, records, capacities, failure: null });
}

test('headroom is that of paired rounds, and below 2 there is no figure', () => {
  // The machine was ten times slower in the last two rounds, for both.
  const throughputs = [50_000, 5000, 5000];
  const enough = toClientCeiling(driverJob(throughputs, [200_000, 20_000, 20_000]));
  assert.deepEqual([enough.headroom, enough.reason], [4, null]);
  const mean = Math.cbrt(throughputs[0] * throughputs[1] * throughputs[2]);
  assert.ok(Math.abs((enough.opsPerSecond ?? 0) - mean) < 1e-6);
  assert.equal(enough.n, 3);
  const short = toClientCeiling(driverJob(throughputs, [95_000, 9500, 9500]));
  assert.deepEqual([short.headroom, short.opsPerSecond, short.interval], [1.9, null, null]);
  assert.match(short.reason ?? '', /only 1\.9 times as fast as the driver, not 2/);
  const failed = { ...driverJob([], []), failure: 'it did not open' };
  const none = toClientCeiling(failed);
  assert.deepEqual([none.opsPerSecond, none.n, none.reason], [null, 0, 'it did not open']);
});
