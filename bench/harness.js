/**
 * Benchmarks of the harness: its overhead over a bare loop, the cost of recording, memory growth,
 * and start-up time. Contenders run in separate processes, alternately within one run (A B B A),
 * and a figure is the median over the pairs.
 */

import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { DATASET_DEFAULTS } from '../lib/dataset.js';
import { createRandom } from '../lib/random.js';
import { systemClock } from '../measure/clock.js';
import { Histogram } from '../measure/histogram.js';
import { againstBare } from './against-bare.js';
import { playAlone } from './alone.js';
import { measure } from './figures.js';

const BIN = fileURLToPath(new URL('../bin/dragstrip.js', import.meta.url));
const IN_FLIGHT = 100;

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
  const dataset = { ...DATASET_DEFAULTS, rows };
  const contest = { smoke, operations: smoke ? 2000 : 20_000, inFlight: IN_FLIGHT };
  for (const { storage, server, target } of /** @type {const} */ ([
    { storage: 'ioredis', server: 'redis', target: 0.97 },
    { storage: 'manual-hs', server: 'mariadb', target: 0.93 },
  ])) {
    const what = `harness over a bare loop, ${storage}, window ${IN_FLIGHT}`;
    const spec = { storage, workload: /** @type {const} */ ('get'), keys: 1, dataset };
    yield* againstBare({ ...spec, address: servers[server] }, { ...contest, what, target });
  }
}

/**
 * @param {{ operations: number, inFlight: number, warmup: number }} amount
 * @returns {ReturnType<typeof playAlone>}
 */
function playMemory({ operations, inFlight, warmup }) {
  return playAlone({
    storage: 'memory',
    load: { kind: 'window', inFlight, operations, durationNs: null },
    dataset: { ...DATASET_DEFAULTS, rows: 1000 },
    seed: 1,
    warmup,
  });
}

/** @param {import('./figures.js').BenchContext} context */
function recordingCost({ smoke }) {
  const readings = smoke ? 10_000 : 200_000;
  const passes = smoke ? 3 : 101;
  const random = createRandom(1);
  // Realistic latencies, spread over some thousand buckets.
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
    const pair = pass % 2 === 0 ? [recorded(), clockOnly()] : [clockOnly(), recorded()].reverse();
    if (pass >= 10) costs.push((pair[0] - pair[1]) / readings);
  }
  if (sum === 0) throw new Error('the loops were optimised away');
  return measure('recording a latency, excluding the clock', costs, {
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
    // The warm-up is the first tenth: 500,000 of 5,000,000.
    const { client } = await playMemory({
      operations: operations * 0.9,
      warmup: operations * 0.1,
      inFlight: 1000,
    });
    growth.push((client.rssBytesMax - client.rssBytesBefore) / 1e6);
  }
  return measure(
    `growth of resident memory after the first tenth of ${operations} operations`,
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
  const durations = times.map((time, i) => time - starts[i]);
  yield measure('excluding the start of Node', durations, { better: 'lower', unit: 'ms' });
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
    const round = await playMemory({ operations: 1000, warmup: 0, inFlight: 100 });
    costs.push((Number(round.processNs) - Number(round.workNs)) / 1e6);
  }
  return measure('process of a benchmark, excluding its work', costs, {
    target: 250,
    better: 'lower',
    unit: 'ms',
  });
}
