/**
 * Synthetic results for the tests of reports: every number follows from a few per storage, so that
 * a golden file changes only with a report.
 */

import { OUTCOMES } from '../../lib/outcome.js';
import { createRandom, drawBelow } from '../../lib/random.js';
import { resultSchema } from '../../lib/result.js';
import { encode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/result.js').Round} Round */
/** @typedef {import('../../lib/result.js').Load} Load */
/** @typedef {import('../../lib/result.js').Latency} Latency */

/** @type {Load} */
export const SYNC = { kind: 'sync', inFlight: 1, operations: 5000, durationNs: null };
/** @type {Load} */
export const BURST = { kind: 'burst', inFlight: null, operations: 50_000, durationNs: null };

/**
 * @typedef {object} RoundSpec
 * @property {number} throughput scheduled operations per second
 * @property {Partial<Record<import('../../lib/types.js').Outcome, number>>} [outcomes] outcomes
 *   except ok
 * @property {Round['samples']} [samples]
 * @property {number} [serverCpuNs] per operation; absent: unreadable
 * @property {number} [clientCpuNs] per operation
 * @property {number[]} [curve] curve of the warm-up; absent: a stable one
 * @property {number} [inFlightMean] absent: by Little's law
 * @property {Latency} [latency] absent: near its mean
 */

/** A warm-up that became stable. */
const STEADY = [60, 120, 190, 240, 270, 268, 271, 266, 269, 270, 268, 272, 269, 271, 267, 270];

/**
 * @param {number} round from 0
 * @param {Load} load
 * @param {RoundSpec} spec
 * @returns {Round}
 */
export function measuredRound(round, load, spec) {
  const scheduled = load.operations ?? 0;
  const outcomes = outcomesOf(scheduled, spec.outcomes ?? {});
  const durationNs = Math.round((scheduled / spec.throughput) * 1e9);
  const { ok } = outcomes;
  const latency = ok === 0 ? null : (spec.latency ?? latencyOf(ok, durationNs, load, round));
  return {
    round,
    position: round,
    state: 'measured',
    failure: null,
    createdNs: 2_343_461,
    scheduled,
    outcomes,
    samples: spec.samples ?? [],
    durationNs,
    throughput: (ok / durationNs) * 1e9,
    inFlightMean: spec.inFlightMean ?? (latency === null ? 0 : (latency.meanNs * ok) / durationNs),
    latency,
    client: {
      userNs: (spec.clientCpuNs ?? 9000) * ok * 0.75,
      systemNs: (spec.clientCpuNs ?? 9000) * ok * 0.25,
      rssBytesBefore: 60 * 2 ** 20,
      rssBytesAfter: 90 * 2 ** 20,
      rssBytesMax: (load.kind === 'burst' ? 130 : 92) * 2 ** 20,
      gcCount: 12,
      gcNs: 21_000_000,
    },
    server:
      spec.serverCpuNs === undefined ? null : { cpuNs: spec.serverCpuNs * ok, rssBytes: 2 ** 28 },
    pendingBytes: load.kind === 'burst' ? 812 + round : null,
    conditions: {
      canaryNs: 1e6 * (1 + round * 0.004),
      canaryDrift: round * 0.004,
      stealShare: 0,
      busyShare: 0.62,
      throttledCount: null,
      throttledNs: null,
      loadAverage: 1.1 + round / 10,
    },
    warmup: { operations: 5000, durationNs: 2e8, curve: spec.curve ?? STEADY, windowNs: 1e7 },
    timeline: { windowNs: 1e8, operations: [ok] },
    processNs: durationNs + 4e8,
    workNs: durationNs + 2e8,
  };
}

/**
 * @param {number} round
 * @param {{ code: string, message: string }} failure
 * @returns {Round} a round of a failed process, in the form of the runner
 */
export function failedRound(round, failure) {
  return {
    ...measuredRound(round, SYNC, { throughput: 1 }),
    state: 'failed',
    failure,
    createdNs: null,
    scheduled: 0,
    outcomes: outcomesOf(0, {}),
    durationNs: 0,
    throughput: 0,
    inFlightMean: 0,
    latency: null,
    client: null,
    workNs: null,
  };
}

/**
 * @param {number} scheduled
 * @param {RoundSpec['outcomes'] & {}} others
 * @returns {Round['outcomes']}
 */
function outcomesOf(scheduled, others) {
  const ok = scheduled - Object.values(others).reduce((sum, n) => sum + n, 0);
  return /** @type {Round['outcomes']} */ (
    Object.fromEntries(OUTCOMES.map((name) => [name, name === 'ok' ? ok : (others[name] ?? 0)]))
  );
}

/** Cached for results that are built several times. @type {Map<string, Latency>} */
const latencies = new Map();

/**
 * @param {number} count
 * @param {number} durationNs
 * @param {Load} load
 * @param {number} seed
 * @returns {Latency}
 */
function latencyOf(count, durationNs, load, seed) {
  const key = `${count} ${durationNs} ${load.kind} ${seed}`;
  const made = latencies.get(key);
  if (made !== undefined) return made;
  const random = createRandom(seed, count);
  const histogram = new Histogram();
  for (let i = 0; i < count; i++) {
    const own = load.kind === 'burst' ? (durationNs * (i + 1)) / count : durationNs / count;
    histogram.record(own * (0.8 + 0.4 * (drawBelow(random, 1000) / 1000)));
  }
  const latency = latencyFields(histogram);
  latencies.set(key, latency);
  return latency;
}

/**
 * @param {Histogram} histogram
 * @returns {Latency}
 */
export function latencyFields(histogram) {
  return {
    count: histogram.count,
    minNs: histogram.min,
    maxNs: histogram.max,
    meanNs: histogram.mean,
    ...histogram.percentiles(),
    histogram: encode(histogram),
  };
}

/**
 * @param {Partial<Benchmark> & { storage: string, load: Load }} fields
 * @returns {Benchmark}
 */
export function benchmark({ storage, load, ...fields }) {
  const profile = fields.profile ?? 'default';
  return {
    id: `${storage}:${profile}/get/${load.kind}`,
    storage,
    profile,
    workload: 'get',
    load,
    state: 'measured',
    reason: null,
    hint: null,
    rounds: [],
    ...fields,
  };
}

/**
 * @param {Partial<Record<keyof Result, unknown>>} [fields] differences from the run below
 * @returns {Result} checked against the schema
 */
export function buildResult(fields = {}) {
  return resultSchema.parse({
    schema: 'dragstrip-result',
    schemaVersion: 2,
    dragstrip: '0.1.0',
    id: '20261121-100000-race',
    command: 'race',
    state: 'complete',
    startedAt: '2026-11-21T10:00:00.000Z',
    finishedAt: '2026-11-21T10:02:13.400Z',
    options: { rounds: 5 },
    dataset: { rows: 100_000, valueSize: 1024, seed: 1 },
    environment: {
      node: '20.20.2',
      v8: '11.3.244.8',
      platform: 'linux',
      arch: 'x64',
      os: 'Debian GNU/Linux 12',
      cpu: 'Intel Xeon 2.50 GHz',
      cores: 2,
      memoryBytes: 8 * 2 ** 30,
      governor: null,
      virtual: true,
      loadAverage: [0.4, 0.3, 0.2],
    },
    servers: SERVERS,
    storages: STORAGES.map(([name, pack, version, server, profile, options]) => ({
      name,
      profile: profile ?? 'default',
      summary: `${name} in a made-up run`,
      package: pack,
      version,
      server,
      calls: 'promise',
      options: options ?? {},
    })),
    benchmarks: [],
    harnessOverhead: [
      { load: 'sync', nsPerOperation: 182.4, n: 3 },
      { load: 'burst', nsPerOperation: 95.06, n: 3 },
    ],
    warnings: [],
    ...fields,
  });
}

const SERVERS = [
  {
    name: 'redis',
    version: '7.0.15',
    address: { main: '127.0.0.1:40001' },
    source: 'dragstrip',
    settings: { save: '', appendonly: 'no' },
  },
  {
    name: 'mariadb',
    version: '10.11.6',
    address: { sql: '127.0.0.1:40002', read: '127.0.0.1:40003', write: '127.0.0.1:40004' },
    source: 'flag',
    settings: { innodb_flush_log_at_trx_commit: '2' },
  },
];

/** @type {[string, string | null, string | null, string | null, string?, object?][]} */
const STORAGES = [
  ['memory', null, null, null],
  ['redis', 'redis', '6.3.1', 'redis'],
  ['redis', 'redis', '6.3.1', 'redis', 'tuned', { commandTimeout: 0 }],
  ['ioredis', 'ioredis', '6.0.0', 'redis'],
  ['ioredis', 'ioredis', '6.0.0', 'redis', 'tuned', { enableAutoPipelining: true }],
  ['hiredis', 'hiredis', null, 'redis'],
  ['node-handlersocket', 'node-handlersocket', '0.1.0', 'mariadb'],
  ['manual-hs', null, null, 'mariadb'],
  ['tarantool', 'tarantool-driver', '3.1.0', 'tarantool'],
  ['mysql2', 'mysql2', '3.24.5', 'mariadb'],
  ['lmdb', 'lmdb', '3.5.6', null],
];

/** Five rounds around a throughput, some per cent apart, deterministic. */
export const SPREAD = [1, 1.013, 0.984, 1.006, 0.991];

/**
 * @param {Load} load
 * @param {number} throughput
 * @param {Partial<RoundSpec>} [rest]
 * @returns {Round[]}
 */
export function rounds(load, throughput, rest = {}) {
  return SPREAD.map((factor, round) =>
    measuredRound(round, load, { ...rest, throughput: throughput * factor }),
  );
}

const NOT_BUILT = {
  state: /** @type {const} */ ('skipped'),
  reason: 'hiredis is not built: no compiler was found',
  hint: 'apt-get install g++ make, then npm run build:hiredis',
};
const NO_TARANTOOL = {
  state: /** @type {const} */ ('skipped'),
  reason: 'no server answers at 127.0.0.1:3301 (tarantool)',
  hint: 'dragstrip servers start tarantool, or --tarantool host:port',
};

/** A complete race without failures, with two skipped storages and one warning. */
export function raceResult() {
  const of = (/** @type {Load} */ load, /** @type {Record<string, number>} */ speeds) =>
    Object.entries(speeds).map(([label, throughput]) => {
      const [storage, profile = 'default'] = label.split(':');
      const embedded = storage === 'memory' || storage === 'lmdb';
      const cost = embedded ? { clientCpuNs: 1e9 / throughput } : { serverCpuNs: 4120 };
      const { clientCpuNs } = { clientCpuNs: 0.8e9 / throughput, ...cost };
      const spec = { ...cost, clientCpuNs };
      return benchmark({ storage, profile, load, rounds: rounds(load, throughput, spec) });
    });
  return buildResult({
    benchmarks: [
      ...of(SYNC, {
        memory: 2_450_000,
        redis: 12_521,
        'redis:tuned': 13_077,
        ioredis: 10_623,
        'node-handlersocket': 4272,
        'manual-hs': 15_302,
        lmdb: 385_200,
      }),
      benchmark({ storage: 'hiredis', load: SYNC, ...NOT_BUILT }),
      benchmark({ storage: 'tarantool', load: SYNC, ...NO_TARANTOOL }),
      ...of(BURST, {
        memory: 4_120_000,
        redis: 40_429,
        'redis:tuned': 61_454,
        ioredis: 61_454,
        'ioredis:tuned': 148_300,
        'node-handlersocket': 3118,
        'manual-hs': 487_894,
        lmdb: 412_000,
      }),
      benchmark({ storage: 'hiredis', load: BURST, ...NOT_BUILT }),
      benchmark({ storage: 'tarantool', load: BURST, ...NO_TARANTOOL }),
    ],
    warnings: [
      {
        code: 'W_GOVERNOR',
        message: 'the frequency governor of the processor is not known',
        hint: 'compare only runs of the same machine',
        benchmark: null,
      },
    ],
  });
}

/** Texts of a malicious or broken server: escapes, markup, formulas, and more than one line. */
export const HOSTILE = "ERR \u001b[2J\u001b[31m<b>|`x`|</b>\r\n=cmd|'/c calc'!A0 @team \u202egnp";

/** A race with many problems: wrong replies, a failed benchmark, one that did not run. */
export function brokenResult() {
  const samples = Array.from({ length: 6 }, (_, i) => ({
    outcome: i % 2 === 0 ? 'mismatch' : 'error',
    operation: i * 1000,
    code: i % 2 === 0 ? null : 'E_SERVER',
    message: i % 2 === 0 ? `row ${i}: the value of row 7` : HOSTILE,
  }));
  const failure = { code: 'E_TARGET', message: 'connection reset by 127.0.0.1:40001' };
  return buildResult({
    state: 'aborted',
    finishedAt: '2026-11-21T10:00:09.120Z',
    benchmarks: [
      benchmark({
        storage: 'redis',
        load: SYNC,
        rounds: [
          measuredRound(0, SYNC, {
            throughput: 99_000,
            outcomes: { miss: 3, mismatch: 40, error: 2, timeout: 1 },
            samples,
          }),
          measuredRound(1, SYNC, { throughput: 98_000, outcomes: { mismatch: 6 }, samples }),
        ],
      }),
      benchmark({
        storage: 'ioredis',
        load: SYNC,
        state: 'failed',
        rounds: [measuredRound(0, SYNC, { throughput: 11_000 }), failedRound(1, failure)],
      }),
      benchmark({
        storage: 'mysql2',
        load: SYNC,
        state: 'failed',
        reason: HOSTILE,
        hint: 'look at the log of the server',
        rounds: [],
      }),
      benchmark({
        storage: 'manual-hs',
        load: SYNC,
        rounds: [measuredRound(0, SYNC, { throughput: 15_000, serverCpuNs: 3900 })],
      }),
      benchmark({
        storage: 'node-handlersocket',
        load: SYNC,
        rounds: [
          measuredRound(0, SYNC, {
            throughput: 2000,
            outcomes: { error: 5000 },
            samples: samples.slice(1, 2),
          }),
        ],
      }),
      benchmark({ storage: 'redis', profile: 'tuned', load: SYNC, state: 'planned' }),
    ],
    harnessOverhead: [],
    warnings: [
      { code: 'W_TEXT', message: HOSTILE, hint: null, benchmark: 'redis:default/get/sync' },
    ],
  });
}
