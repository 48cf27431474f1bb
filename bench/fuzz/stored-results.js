/**
 * Small stored results for the fuzzer: without blocks, with a digest, and with packed values of
 * segments.
 */

import { digestOf } from '../../lib/digest.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { packValues } from '../../lib/packed-values.js';

/**
 * @param {string} histogram histogram of `ok` values
 * @param {number} ok
 * @returns {object} a round of a benchmark
 */
function roundOf(histogram, ok) {
  const latency = { count: ok, minNs: 97, maxNs: 4800, meanNs: 2425, histogram };
  const percentiles = { p50Ns: 2425, p90Ns: null, p99Ns: null, p999Ns: null };
  return {
    round: 0,
    position: 0,
    state: 'measured',
    failure: null,
    createdNs: 1,
    samples: [],
    outcomes: Object.fromEntries(OUTCOMES.map((name) => [name, name === 'ok' ? ok : 0])),
    scheduled: ok,
    durationNs: 1e9,
    throughput: ok,
    inFlightMean: 1,
    latency: { ...latency, ...percentiles },
    client: null,
    server: null,
    pendingBytes: null,
    processNs: null,
    workNs: null,
    warmup: { operations: 1, durationNs: 1, curve: [1], windowNs: 1 },
    timeline: { windowNs: 1, operations: [ok] },
  };
}

/** @param {string} histogram @param {number} ok */
function resultOf(histogram, ok) {
  const benchmark = {
    id: 'a:default/get/sync',
    storage: 'a',
    profile: 'default',
    workload: 'get',
    load: { kind: 'sync', inFlight: 1, operations: ok, durationNs: null },
    state: 'measured',
    reason: null,
    hint: null,
    rounds: [roundOf(histogram, ok)],
  };
  const environment = {
    node: '20',
    v8: '11',
    platform: 'linux',
    arch: 'x64',
    os: 'o',
    cpu: 'c',
    cores: 2,
    memoryBytes: 1,
    governor: null,
    virtual: null,
    loadAverage: null,
  };
  const times = { startedAt: '2026-11-21T10:00:00Z', finishedAt: '2026-11-21T10:02:13Z' };
  return {
    schema: 'dragstrip-result',
    schemaVersion: 2,
    dragstrip: '0.1.0',
    id: 'x',
    command: 'race',
    state: 'complete',
    ...times,
    options: { rounds: 1 },
    dataset: { rows: 9, valueSize: 16, seed: 1 },
    environment,
    servers: [],
    storages: [],
    benchmarks: [benchmark],
    harnessOverhead: [],
    warnings: [],
  };
}

/**
 * @param {string} histogram histogram of `ok` values
 * @param {number} ok
 * @returns {Buffer[]}
 */
export function storedResults(histogram, ok) {
  const whole = resultOf(histogram, ok);
  const round = { timePs: packValues([1, 2, null]), medianNs: packValues([0, 5]) };
  const comparison = { loads: [{ contenders: [{ name: 'a', rounds: [round] }] }] };
  return [whole, { ...whole, digest: digestOf(whole) }, { ...whole, comparison }].map((document) =>
    Buffer.from(JSON.stringify(document)),
  );
}
