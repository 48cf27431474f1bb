/** From a result to the rows of its tables. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelOf } from '../../lib/label.js';
import { decode } from '../../measure/hdr.js';
import { toGroups } from '../../report/analysis/rows.js';
import {
  BURST,
  benchmark,
  brokenResult,
  buildResult,
  measuredRound,
  raceResult,
  rounds,
  SYNC,
} from '../helpers/result-builder.js';

/**
 * @param {import('../../lib/result.js').Benchmark[]} benchmarks
 * @returns {import('../../report/analysis/rows.js').Group}
 */
function groupOf(...benchmarks) {
  const [group, ...others] = toGroups(buildResult({ benchmarks }));
  assert.equal(others.length, 0);
  return group;
}

test('one group for each workload and load, skipped benchmarks in none', () => {
  const groups = toGroups(raceResult());
  assert.deepEqual(
    groups.map(({ load, rows }) => [load.kind, rows.length]),
    [
      ['sync', 7],
      ['burst', 8],
    ],
  );
  const window = (/** @type {number} */ inFlight) => ({
    kind: /** @type {const} */ ('window'),
    inFlight,
    operations: 1000,
    durationNs: null,
  });
  const benchmarks = [10, 100, 10].map((k, i) =>
    benchmark({
      storage: i === 2 ? 'ioredis' : 'redis',
      load: window(k),
      rounds: rounds(window(k), 1000),
    }),
  );
  assert.deepEqual(
    toGroups(buildResult({ benchmarks })).map(({ rows }) => rows.length),
    [2, 1],
  );
});

test('fastest first, the harnessOverhead last, then what gave no number; ties stay as they are', () => {
  const [, burst] = toGroups(raceResult());
  assert.deepEqual(
    burst.rows.map(({ label }) => label),
    [
      ...['manual-hs', 'lmdb', 'ioredis:tuned', 'redis:tuned', 'ioredis', 'redis'],
      ...['node-handlersocket', 'memory'],
    ],
  );
  const [broken] = toGroups(brokenResult());
  assert.deepEqual(
    broken.rows.slice(-2).map(({ label, throughput }) => [label, throughput]),
    [
      ['mysql2', null],
      ['redis:tuned', null],
    ],
  );
});

test('the reference is the fastest that talks to a server; embedded ones have ratios above 1', () => {
  const [sync] = toGroups(raceResult());
  assert.equal(sync.reference?.label, 'manual-hs');
  const ratios = Object.fromEntries(sync.rows.map(({ label, ratio }) => [label, ratio]));
  assert.equal(ratios['manual-hs'], 1);
  assert.ok(Math.abs((ratios['lmdb'] ?? 0) - 385_200 / 15_302) < 1e-6);
  assert.ok(Math.abs((ratios['redis'] ?? 0) - 12_521 / 15_302) < 1e-6);
});

test('without a server the fastest embedded one is the reference, and memory never', () => {
  const lmdb = benchmark({ storage: 'lmdb', load: SYNC, rounds: rounds(SYNC, 300_000) });
  const memory = benchmark({ storage: 'memory', load: SYNC, rounds: rounds(SYNC, 2_000_000) });
  assert.equal(groupOf(memory, lmdb).reference?.label, 'lmdb');
  const alone = groupOf(memory);
  assert.equal(alone.reference, null);
  assert.equal(alone.rows[0].ratio, null);
});

test('wrong answers or a failure keep a storage from being the reference', () => {
  const [group] = toGroups(brokenResult());
  assert.equal(group.rows[0].label, 'redis', 'it is the fastest');
  assert.equal(group.reference?.label, 'manual-hs');
});

test('throughput is the median of the rounds, with n, and one round has no interval', () => {
  const five = groupOf(benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, 1000) }))
    .rows[0];
  assert.ok(Math.abs((five.throughput?.median ?? 0) - 1000) < 1e-6);
  assert.equal(five.n, 5);
  assert.ok((five.throughput?.interval.relativeHalfWidth ?? 0) > 0.01);
  const one = groupOf(
    benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, 1000).slice(0, 1) }),
  ).rows[0];
  assert.equal(one.throughput?.interval.relativeHalfWidth, null);
});

test('percentiles are those of all rounds together, null where too few values lie above', () => {
  const twice = rounds(SYNC, 1000).slice(0, 2);
  const { latency } = groupOf(benchmark({ storage: 'redis', load: SYNC, rounds: twice })).rows[0];
  const [a, b] = twice.map((round) => decode(round.latency?.histogram ?? ''));
  const merged = a.merge(b);
  assert.equal(latency?.count, 10_000);
  assert.equal(latency?.p99Ns, merged.percentile(0.99));
  assert.equal(latency?.p999Ns, merged.percentile(0.999), '10 of 10,000 lie above');
  const single = groupOf(benchmark({ storage: 'redis', load: SYNC, rounds: twice.slice(0, 1) }))
    .rows[0];
  assert.equal(single.latency?.p999Ns, null, '5 of 5,000 do');
});

test('CPU is that of all rounds for each ok operation, and null where it is not known', () => {
  const known = groupOf(
    benchmark({
      storage: 'redis',
      load: SYNC,
      rounds: rounds(SYNC, 1000, { clientCpuNs: 60_000, serverCpuNs: 4000, outcomes: { miss: 9 } }),
    }),
  ).rows[0];
  assert.ok(Math.abs((known.clientCpuNs ?? 0) - 60_000) < 1e-6);
  assert.ok(Math.abs((known.serverCpuNs ?? 0) - 4000) < 1e-6);
  const none = measuredRound(0, SYNC, { throughput: 10, outcomes: { error: 5000 } });
  const row = groupOf(benchmark({ storage: 'redis', load: SYNC, rounds: [none] })).rows[0];
  assert.deepEqual([row.clientCpuNs, row.serverCpuNs, row.latency], [null, null, null]);
});

test('outcomes are those of all rounds, and what was not run is not a wrong answer', () => {
  const [{ rows }] = toGroups(brokenResult());
  const redis = rows.find(({ label }) => label === 'redis');
  assert.equal(redis?.wrong, 52);
  assert.equal(redis?.scheduled, 10_000);
  assert.equal(redis?.outcomes.ok, 9948);
  const unsent = measuredRound(0, SYNC, { throughput: 10, outcomes: { unsent: 7, dropped: 1 } });
  const row = groupOf(benchmark({ storage: 'redis', load: SYNC, rounds: [unsent] })).rows[0];
  assert.deepEqual([row.wrong, row.notRun], [0, 8]);
});

test('memory is the greatest of the client, and for a burst the median for each request', () => {
  const [, burst] = toGroups(raceResult());
  assert.equal(burst.load.kind, BURST.kind);
  assert.equal(burst.rows[0].rssBytesMax, 130 * 2 ** 20);
  assert.equal(burst.rows[0].pendingBytes, 814);
});

test('a damaged histogram is named with its benchmark and round', () => {
  const result = raceResult();
  const { latency } = result.benchmarks[1].rounds[2];
  assert.ok(latency);
  latency.histogram = 'AAAA';
  assert.throws(() => toGroups(result), {
    code: 'E_USAGE',
    message: /^benchmark redis:default\/get\/sync, round 2: not a histogram/,
  });
});

test('the default profile has no suffix', () => {
  assert.equal(labelOf({ storage: 'ioredis', profile: 'default' }), 'ioredis');
  assert.equal(labelOf({ storage: 'ioredis', profile: 'tuned' }), 'ioredis:tuned');
});
