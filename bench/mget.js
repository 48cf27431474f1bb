/**
 * Fetches of many keys through the harness against a bare loop: the same driver, keys and window,
 * in processes of their own, in turn within one run (A B B A). What the harness adds is the trace
 * of each fetch and the check of each value.
 */

import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { getLoader } from '../data/loaders/index.js';
import { createDataset, MGET_PLACES } from '../lib/dataset.js';
import { OK } from '../lib/outcome.js';
import { executeInChild } from '../lib/run/executor.js';
import { measure } from './figures.js';

const BARE = fileURLToPath(new URL('./bare-mget.js', import.meta.url));
const TARGET = 0.95;
const IN_FLIGHT = 16;
const VALUE_SIZE = 2048;
/** Keys of a fetch, and fetches that take about half a second. */
const CONTESTS = Object.freeze([
  { keys: 1, operations: 20_000 },
  { keys: 10, operations: 8000 },
  { keys: 100, operations: 1250 },
]);

/**
 * @param {import('./figures.js').BenchContext} context
 * @returns {AsyncGenerator<import('./figures.js').Figure>}
 */
export async function* run({ smoke, servers }) {
  const dataset = createDataset({ rows: smoke ? 1000 : 50_000, valueSize: VALUE_SIZE });
  const loader = await getLoader('redis');
  const place = { address: servers['redis'], credentials: {}, places: MGET_PLACES };
  await loader.seed({ ...place, dataset });
  try {
    for (const { keys, operations } of CONTESTS) {
      yield* contest({ keys, operations: smoke ? 100 : operations, dataset, smoke, servers });
    }
  } finally {
    await loader.remove?.(place);
  }
}

/**
 * @param {{ keys: number, operations: number, dataset: import('../lib/types.js').Dataset,
 *   smoke: boolean, servers: import('./figures.js').BenchContext['servers'] }} options
 */
async function* contest({ keys, operations, dataset, smoke, servers }) {
  const pairs = smoke ? 2 : 31;
  const warmup = Math.ceil(operations / 2);
  const address = servers['redis'];
  const { rows, valueSize } = dataset;
  const throughput = [];
  const cpu = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const port = address.main.port ?? 0;
    const words = [port, keys, operations, IN_FLIGHT, warmup, pair, rows, valueSize];
    const bare = async () => {
      const { stdout } = await execa(process.execPath, ['--expose-gc', BARE, ...words.map(String)]);
      return JSON.parse(stdout);
    };
    const ours = () => runOurs({ keys, operations, warmup, address, dataset, seed: pair });
    const inTurn = pair % 2 === 0 ? [ours, bare] : [bare, ours];
    const times = new Map();
    for (const each of inTurn) times.set(each, await each());
    throughput.push(times.get(bare).durationNs / times.get(ours).durationNs);
    cpu.push(times.get(bare).cpuNs / times.get(ours).cpuNs);
  }
  const what = `mget of ${keys} over a bare loop, ioredis, window ${IN_FLIGHT}`;
  yield measure(`${what}: throughput`, throughput, {
    target: TARGET,
    better: 'higher',
    unit: '×',
  });
  yield measure(`${what}: client CPU saved`, cpu, { better: 'higher', unit: '×' });
}

/**
 * @param {{ keys: number, operations: number, warmup: number, seed: number,
 *   address: import('../lib/types.js').Address, dataset: import('../lib/types.js').Dataset }}
 * options
 */
async function runOurs({ keys, operations, warmup, address, dataset, seed }) {
  const { rows, valueSize, seed: datasetSeed } = dataset;
  const { record, failure } = await executeInChild(
    {
      storage: 'ioredis',
      profile: 'default',
      workload: 'mget',
      workloadOptions: { mget: { counts: [keys], cycles: operations, lead: 0 } },
      load: { kind: 'window', inFlight: IN_FLIGHT, operations, durationNs: null },
      address,
      credentialsOf: null,
      serverPids: [],
      dataset: { rows, valueSize, seed: datasetSeed },
      folder: '',
      seed,
      warmupOperations: warmup,
      stallNs: 10e9,
    },
    {},
  );
  if (record?.client == null || record.outcomes[OK] !== operations) {
    throw new Error(`mget: ${failure?.message ?? record?.failure?.message ?? 'wrong answers'}`);
  }
  const { userNs, systemNs } = record.client;
  return { durationNs: record.durationNs, cpuNs: userNs + systemNs };
}
