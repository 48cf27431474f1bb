/** A synthetic result of inserts, for the tests of reports. */

import { measuredRound } from './result-builder.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */

const ROWS = 1000;
const DURABILITY = { cassandra: 'commitlog_sync periodic', ioredis: 'appendonly no' };

/** @returns {Result} 1,000 rows on two storages; one strategy failed */
export function insertResult() {
  const benchmarks = [
    makeBenchmark('cassandra', { strategy: 'async' }, { rowsPerSecond: 10_000, inFlight: 100 }),
    makeBenchmark('cassandra', { strategy: 'batch_pure', batch: 100 }, { rowsPerSecond: 40_000 }),
    failedBenchmark('cassandra', { strategy: 'logged_batch', batch: 100 }),
    makeBenchmark('ioredis', { strategy: 'async' }, { rowsPerSecond: 100_000, inFlight: 100 }),
  ];
  return /** @type {any} */ ({
    schema: 'dragstrip-result',
    schemaVersion: 2,
    dragstrip: '0.0.0',
    id: 'made-up',
    command: 'insert',
    state: 'complete',
    startedAt: '2026-01-01T00:00:00.000Z',
    finishedAt: '2026-01-01T00:01:00.000Z',
    options: { rounds: 3 },
    dataset: { rows: ROWS, valueSize: 8, seed: 1 },
    environment: {
      node: 'v20.0.0',
      v8: '11',
      platform: 'linux',
      arch: 'x64',
      os: 'Linux',
      cpu: 'a CPU',
      cores: 4,
      memoryBytes: 2 ** 33,
      governor: null,
      virtual: false,
      loadAverage: null,
    },
    servers: [],
    storages: ['cassandra', 'ioredis'].map((name) => ({
      name,
      profile: 'default',
      summary: name,
      package: name,
      version: '1.0.0',
      server: name,
      protocol: null,
      calls: 'promise',
      options: {},
    })),
    benchmarks,
    harnessOverhead: [],
    warnings: [],
  });
}

/**
 * @param {'cassandra' | 'ioredis'} storage
 * @param {{ strategy: string, batch?: number }} parameters
 * @param {{ rowsPerSecond: number, inFlight?: number }} figures
 * @returns {Benchmark}
 */
function makeBenchmark(storage, parameters, { rowsPerSecond, inFlight = 5 }) {
  const { batch = 1 } = parameters;
  const requests = ROWS / batch;
  const load = { kind: /** @type {const} */ ('window'), inFlight, durationNs: null };
  const loadOfRow = { ...load, operations: requests };
  const metrics = {
    rows: ROWS,
    requests,
    right: ROWS,
    lost: 0,
    twice: 0,
    wrong: 0,
    how: 'somehow',
    acknowledged: ROWS,
    refused: 0,
    written: null,
    durability: DURABILITY[storage],
  };
  const rounds = [0, 1, 2].map((round) => ({
    ...measuredRound(round, loadOfRow, { throughput: rowsPerSecond / batch, clientCpuNs: 50_000 }),
    metrics,
  }));
  return { ...emptyBenchmark(storage, parameters, loadOfRow), state: 'measured', rounds };
}

/**
 * @param {'cassandra' | 'ioredis'} storage
 * @param {{ strategy: string, batch: number }} parameters
 * @returns {Benchmark}
 */
function failedBenchmark(storage, parameters) {
  const load = { kind: /** @type {const} */ ('window'), inFlight: 5, operations: 10 };
  const own = { ...load, durationNs: null };
  const round = measuredRound(0, own, { throughput: 100 });
  const failure = { code: 'E_DATA', message: 'wrong rows: of 1000, 999 are right' };
  return {
    ...emptyBenchmark(storage, parameters, own),
    state: 'failed',
    reason: failure.message,
    rounds: [{ ...round, state: 'failed', failure }],
  };
}

/**
 * @param {string} storage
 * @param {Record<string, string | number>} parameters
 * @param {import('../../lib/result.js').Load} load
 * @returns {Benchmark}
 */
function emptyBenchmark(storage, parameters, load) {
  const words = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return {
    id: `${storage}:default/insert[${words.join(',')}]/window-${load.inFlight}`,
    storage,
    profile: 'default',
    workload: 'insert',
    parameters,
    load,
    state: 'planned',
    reason: null,
    hint: null,
    rounds: [],
  };
}
