/**
 * A synthetic result of codecs, for the tests of reports: correct ones, a wrong one, a bound, a
 * skip.
 */

import { benchmark, buildResult, failedRound, rounds } from './result-builder.js';

/** @type {import('../../lib/result.js').Load} */
const LOAD = { kind: 'sync', inFlight: 1, operations: 100, durationNs: null };
const FIXTURE = { bytes: 276_000, rows: 12_000, replies: 12_000, repeat: 12 };
const PARAMETERS = { protocol: 'resp', direction: 'decode', fixture: 'get-16' };

/**
 * @type {[string, string, string | null, number, number][]} name, kind, version, ops/s, heap bytes
 *   per row
 */
const VARIANTS = [
  ['redis-parser', 'driver', '3.0.0', 610, 32],
  ['node-redis', 'driver', '6.3.1', 410, 128],
  ['resp-plain', 'ours', null, 604, 32],
  ['resp-count', 'bound', null, 4100, 0],
];

/** @param {string} storage @param {object} fields */
function codecBenchmark(storage, fields) {
  const id = `${storage}:default/codec[protocol=resp,direction=decode,fixture=get-16]/sync`;
  return benchmark({
    storage,
    load: LOAD,
    workload: 'codec',
    parameters: PARAMETERS,
    ...fields,
    id,
  });
}

export function codecResult() {
  const wrong = {
    code: 'E_DATA',
    message: 'wrong: at [637] it gives "a|b", right is "abc"',
  };
  return buildResult({
    command: 'codec-decoding',
    servers: [],
    storages: [
      ...VARIANTS,
      /** @type {const} */ (['swapped', 'rejected', null]),
      /** @type {const} */ (['hiredis', 'driver', '0.5.0']),
    ].map(([name, kind, version]) => ({
      name,
      profile: 'default',
      summary: name,
      package: version === null ? null : name,
      version,
      server: null,
      calls: 'sync',
      options: { protocol: 'resp', kind },
    })),
    benchmarks: [
      ...VARIANTS.map(([name, , , perSecond, heapBytes]) =>
        codecBenchmark(name, {
          rounds: rounds(LOAD, perSecond, { clientCpuNs: 1.05e9 / perSecond }).map((round) => ({
            ...round,
            metrics: { ...FIXTURE, heapBytes: heapBytes * FIXTURE.rows, bufferBytes: 0 },
          })),
        }),
      ),
      codecBenchmark('swapped', {
        state: 'failed',
        reason: wrong.message,
        rounds: [failedRound(0, wrong)],
      }),
      codecBenchmark('hiredis', {
        state: 'skipped',
        reason: 'it is not built for this Node',
        hint: 'npm run build:hiredis',
      }),
    ],
  });
}
