/**
 * The harness measured by itself: what it costs over a bare loop, what recording costs over the
 * clock, what it keeps in memory, how fast it starts. Contenders run in processes of their own, in
 * turn within one run (A B B A), and a figure is the median over the pairs.
 */

import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { DATASET_DEFAULTS } from '../lib/dataset.js';
import { systemClock } from '../lib/measure/clock.js';
import { Histogram } from '../lib/measure/histogram.js';
import { OK } from '../lib/outcome.js';
import { createRandom } from '../lib/random.js';
import { executeInChild } from '../lib/run/executor.js';
import { measure } from './figures.js';

const BARE = fileURLToPath(new URL('./bare.js', import.meta.url));
const BIN = fileURLToPath(new URL('../bin/dragstrip.js', import.meta.url));
const IN_FLIGHT = 100;
/** Until all that runs is compiled, on both sides. */
const WARMUP = 60_000;

/**
 * @param {import('./figures.js').BenchContext} context
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* run(context) {
  yield* harnessAgainstBare(context);
  yield recordingCost(context);
  yield await memoryGrowth(context);
  yield* helpTime(context);
  yield await processCost(context);
}

/** @param {import('./figures.js').BenchContext} context */
async function* harnessAgainstBare({ smoke, servers, rows }) {
  // Many short pairs: the machine's drift lies between them, not within them.
  const pairs = smoke ? 2 : 41;
  const operations = smoke ? 2000 : 40_000;
  const contenders = [
    { storage: 'ioredis', server: 'redis', endpoint: 'main', target: 0.97 },
    { storage: 'manual-hs', server: 'mariadb', endpoint: 'read', target: 0.93 },
  ];
  for (const { storage, server, endpoint, target } of contenders) {
    const address = servers[server];
    const port = address[endpoint].port ?? 0;
    const throughput = [];
    const cpu = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const bare = () => runBare([storage, port, operations, IN_FLIGHT, WARMUP, pair, rows]);
      const ours = () => runOurs({ storage, address, operations, seed: pair, rows });
      const [a, b] =
        pair % 2 === 0 ? [await ours(), await bare()] : swap(await bare(), await ours());
      throughput.push(b.durationNs / a.durationNs);
      cpu.push(b.cpuNs / a.cpuNs);
    }
    const what = `harness over a bare loop, ${storage}, window ${IN_FLIGHT}`;
    yield measure(`${what}: throughput`, throughput, { target, better: 'higher', unit: '×' });
    yield measure(`${what}: client CPU saved`, cpu, { better: 'higher', unit: '×' });
  }
}

/**
 * @template T
 * @param {T} first
 * @param {T} second
 * @returns {[T, T]}
 */
function swap(first, second) {
  return [second, first];
}

/**
 * @param {(string | number)[]} args
 * @returns {Promise<{ durationNs: number, cpuNs: number }>}
 */
async function runBare(args) {
  const { stdout } = await execa(process.execPath, ['--expose-gc', BARE, ...args.map(String)]);
  return JSON.parse(stdout);
}

/**
 * @param {{ storage: string, address: import('../lib/types.js').Address, operations: number,
 *   seed: number, rows: number }} options
 */
async function runOurs({ storage, address, operations, seed, rows }) {
  const { record, failure } = await executeInChild(
    spec({ storage, address, operations, seed, rows, inFlight: IN_FLIGHT }),
    {},
  );
  if (record?.client == null || record.outcomes[OK] !== operations) {
    throw new Error(
      `${storage}: ${failure?.message ?? record?.failure?.message ?? 'wrong answers'}`,
    );
  }
  const { userNs, systemNs } = record.client;
  return { durationNs: record.durationNs, cpuNs: userNs + systemNs };
}

/**
 * @param {{ storage: string, address?: import('../lib/types.js').Address, operations: number,
 *   seed?: number, rows: number, inFlight: number, warmup?: number }} options
 * @returns {import('../lib/run/cell.js').CellSpec}
 */
function spec({ storage, address = {}, operations, seed = 1, rows, inFlight, warmup = WARMUP }) {
  return {
    storage,
    profile: 'default',
    workload: 'get',
    workloadOptions: {},
    load: { kind: 'window', inFlight, operations, durationNs: null },
    address,
    credentialsOf: null,
    serverPids: [],
    dataset: { ...DATASET_DEFAULTS, rows },
    folder: '',
    seed,
    warmupOperations: warmup,
    stallNs: 10e9,
  };
}

/** @param {import('./figures.js').BenchContext} context */
function recordingCost({ smoke }) {
  const readings = smoke ? 10_000 : 200_000;
  const passes = smoke ? 3 : 101;
  const random = createRandom(1);
  // Latencies as they come: a spread over some thousand buckets, not one hot counter.
  const values = Float64Array.from({ length: 4096 }, () => 20_000 + (random() % 200_000));
  const histogram = new Histogram();
  let sum = 0;
  const clockOnly = () => {
    const startNs = systemClock.now();
    for (let i = 0; i < readings; i += 1) sum += systemClock.now() + values[i & 4095];
    return systemClock.now() - startNs;
  };
  const recorded = () => {
    const startNs = systemClock.now();
    for (let i = 0; i < readings; i += 1) {
      sum += systemClock.now();
      histogram.record(values[i & 4095]);
    }
    return systemClock.now() - startNs;
  };
  const costs = [];
  for (let pass = 0; pass < passes + 10; pass += 1) {
    const pair = pass % 2 === 0 ? [recorded(), clockOnly()] : swap(clockOnly(), recorded());
    if (pass >= 10) costs.push((pair[0] - pair[1]) / readings);
  }
  if (sum === 0) throw new Error('the loops were optimised away');
  return measure('recording a latency, beyond the clock', costs, {
    target: 5,
    better: 'lower',
    unit: 'ns',
  });
}

/** @param {import('./figures.js').BenchContext} context */
async function memoryGrowth({ smoke }) {
  const operations = smoke ? 20_000 : 5_000_000;
  const growth = [];
  for (let pass = 0; pass < (smoke ? 1 : 3); pass += 1) {
    // The warm-up is the first tenth: 500,000 of the 5,000,000.
    const { record } = await executeInChild(
      spec({
        storage: 'memory',
        operations: operations * 0.9,
        warmup: operations * 0.1,
        rows: 1000,
        inFlight: 1000,
      }),
      {},
    );
    const client = record?.client;
    if (client == null) throw new Error('memory: no record');
    growth.push((client.rssBytesMax - client.rssBytesBefore) / 1e6);
  }
  return measure(
    `resident memory grown after the first tenth of ${operations} operations`,
    growth,
    {
      target: 50,
      better: 'lower',
      unit: 'MB',
    },
  );
}

/** @param {import('./figures.js').BenchContext} context */
async function* helpTime({ smoke }) {
  /** @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const starts = [];
  for (let i = 0; i < (smoke ? 1 : 31); i += 1) {
    times.push(await processTimeMs([BIN, '--help']));
    starts.push(await processTimeMs(['--eval', '0']));
  }
  yield measure('dragstrip --help', times, { target: 150, better: 'lower', unit: 'ms' });
  const own = times.map((time, i) => time - starts[i]);
  yield measure('of it beyond the start of Node itself', own, { better: 'lower', unit: 'ms' });
}

/** @param {string[]} args */
async function processTimeMs(args) {
  const startNs = systemClock.now();
  await execa(process.execPath, args);
  return (systemClock.now() - startNs) / 1e6;
}

/** @param {import('./figures.js').BenchContext} context */
async function processCost({ smoke }) {
  const costs = [];
  for (let i = 0; i < (smoke ? 1 : 11); i += 1) {
    const { record, processNs } = await executeInChild(
      spec({ storage: 'memory', operations: 1000, warmup: 0, rows: 1000, inFlight: 100 }),
      {},
    );
    if (record?.workNs == null || processNs === null) throw new Error('memory: no record');
    costs.push((processNs - record.workNs) / 1e6);
  }
  return measure('a cell’s process, beyond its work', costs, {
    target: 250,
    better: 'lower',
    unit: 'ms',
  });
}
