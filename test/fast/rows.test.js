/** From a result to the rows of its tables. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelOf } from '../../lib/label.js';
import { decode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import { toGroups } from '../../report/analysis/rows.js';
import { summarize } from '../../report/summary.js';
import {
  BURST,
  benchmark,
  brokenResult,
  buildResult,
  latencyFields,
  measuredRound,
  raceResult,
  rounds,
  SPREAD,
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

test('one group per workload and load, without skipped benchmarks', () => {
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

test('networked by speed, embedded, the overhead, then those without a figure; ties keep order', () => {
  const [, burst] = toGroups(raceResult());
  assert.deepEqual(
    burst.rows.map(({ label }) => label),
    [
      ...['manual-hs', 'ioredis:tuned', 'redis:tuned', 'ioredis', 'redis'],
      ...['node-handlersocket', 'lmdb', 'memory'],
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

/** @param {import('../../report/analysis/rows.js').Row[]} rows */
const ratiosOf = (rows) =>
  Object.fromEntries(rows.map(({ label, ratio }) => [label, ratio?.ratio]));

test('ratios are to the fastest of the same kind, by common rounds', () => {
  const [sync] = toGroups(raceResult());
  const ratios = ratiosOf(sync.rows);
  assert.equal(ratios['manual-hs'], 1);
  assert.equal(ratios['lmdb'], 1);
  assert.ok(Math.abs((ratios['redis'] ?? 0) - 12_521 / 15_302) < 1e-6);
  assert.equal(ratios['memory'], undefined);
});

test('whole loads have ranks; embedded ones only if alone', () => {
  const [sync] = toGroups(raceResult());
  const rankOf = (/** @type {string} */ name) =>
    sync.rows.find(({ label }) => label === name)?.rank ?? null;
  assert.deepEqual(rankOf('manual-hs'), { best: 1, worst: 1 });
  assert.equal(rankOf('lmdb'), null);
  const lmdb = benchmark({ storage: 'lmdb', load: SYNC, rounds: rounds(SYNC, 300_000) });
  const memory = benchmark({ storage: 'memory', load: SYNC, rounds: rounds(SYNC, 2_000_000) });
  const { rows } = groupOf(memory, lmdb);
  assert.deepEqual(
    rows.map(({ label, rank, ratio }) => [label, rank?.best, ratio?.ratio]),
    [
      ['lmdb', 1, 1],
      ['memory', undefined, undefined],
    ],
  );
});

test('wrong replies or a failure exclude a storage from comparison', () => {
  const [group] = toGroups(brokenResult());
  assert.equal(group.rows[0].label, 'redis', 'it is the fastest');
  assert.deepEqual([group.rows[0].ratio, group.rows[0].rank], [null, null]);
  assert.equal(ratiosOf(group.rows)['manual-hs'], 1);
});

test('throughput is the geometric mean of the rounds, and one round has no interval and no rank', () => {
  const [five, other] = groupOf(
    benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, 1000) }),
    benchmark({ storage: 'ioredis', load: SYNC, rounds: rounds(SYNC, 900) }),
  ).rows;
  const logs = five.source.rounds.map(({ throughput }) => Math.log(throughput));
  const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / 5);
  assert.ok(Math.abs((five.throughput?.value ?? 0) / mean - 1) < 1e-12);
  assert.equal(five.n, 5);
  assert.ok((five.throughput?.spread ?? 0) > 0.01);
  assert.deepEqual([five.rank?.best, other.rank?.best, other.ratio?.answer], [1, 2, 'slower']);
  const [single, slower] = groupOf(
    benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, 1000).slice(0, 1) }),
    benchmark({ storage: 'ioredis', load: SYNC, rounds: rounds(SYNC, 900).slice(0, 1) }),
  ).rows;
  assert.deepEqual([single.throughput?.spread, single.rank, slower.rank], [null, null, null]);
  assert.ok(Math.abs((slower.ratio?.ratio ?? 0) - 0.9) < 1e-6);
  assert.deepEqual([slower.ratio?.low, slower.ratio?.answer], [null, 'not resolved']);
});

test('a missing round: its contender is shown, marked and unranked, the others keep their ranks', () => {
  const broken = rounds(SYNC, 5000);
  broken[2] = { ...broken[2], state: 'aborted' };
  const { rows } = groupOf(
    benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, 1000) }),
    benchmark({ storage: 'ioredis', load: SYNC, rounds: broken, state: 'aborted' }),
    benchmark({ storage: 'hiredis', load: SYNC, rounds: rounds(SYNC, 900) }),
  );
  const summary = rows.map(({ label, rank, mark, n }) => [label, rank?.best ?? null, mark, n]);
  assert.deepEqual(summary, [
    ['ioredis', null, 'wrong', 4],
    ['redis', 1, null, 5],
    ['hiredis', 2, null, 5],
  ]);
  assert.ok((rows[0].throughput?.value ?? 0) > 4000);
});

test('an aborted run is compared by common rounds', () => {
  const result = buildResult({
    benchmarks: [
      benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, 1000).slice(0, 4) }),
      benchmark({ storage: 'ioredis', load: SYNC, rounds: rounds(SYNC, 900).slice(0, 3) }),
    ],
  });
  const [{ rows }] = toGroups({ ...result, state: 'aborted' });
  assert.deepEqual(
    rows.map(({ rank, ratio }) => [rank?.best, ratio?.n]),
    [
      [1, 3],
      [2, 3],
    ],
  );
});

test('percentiles are of all rounds together, null with too few values above', () => {
  const twice = rounds(SYNC, 1000).slice(0, 2);
  const { latency } = groupOf(benchmark({ storage: 'redis', load: SYNC, rounds: twice })).rows[0];
  const [a, b] = twice.map((round) => decode(round.latency?.histogram ?? ''));
  const merged = a.merge(b);
  assert.equal(merged.count, 10_000);
  assert.equal(latency?.p99Ns, merged.percentile(0.99));
  assert.equal(latency?.p999Ns, merged.percentile(0.999), '10 of 10,000 lie above');
  const single = groupOf(benchmark({ storage: 'redis', load: SYNC, rounds: twice.slice(0, 1) }))
    .rows[0];
  assert.equal(single.latency?.p999Ns, null, '5 of 5,000 do');
});

test('a summary has each figure under its own name, inside its interval', () => {
  const histogram = new Histogram();
  // 20,000 values in two rounds: 50 % at 1 ms, 99 % at 3 ms, 99.9 % at 7 ms.
  for (const [ms, count] of [
    [1, 6000],
    [3, 3940],
    [7, 55],
    [11, 5],
  ]) {
    for (let i = 0; i < count; i += 1) histogram.record(ms * 1e6);
  }
  const latency = latencyFields(histogram);
  const costs = { clientCpuNs: 60_000, serverCpuNs: 4000, outcomes: { miss: 9 }, latency };
  const speeds = [920, 900, 910, 890, 900];
  const slower = speeds.map((throughput, round) => measuredRound(round, SYNC, { throughput }));
  const [wrong, fast, slow] = summarize(
    buildResult({
      benchmarks: [
        benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, 1000) }),
        benchmark({ storage: 'ioredis', load: SYNC, rounds: slower }),
        benchmark({ storage: 'mysql2', load: SYNC, rounds: rounds(SYNC, 2000, costs) }),
      ],
    }),
  );
  assert.deepEqual(
    [wrong, fast, slow].map(({ storage, rank, n, state }) => [storage, rank?.best, n, state]),
    [
      ['mysql2', undefined, 5, 'measured'],
      ['redis', 1, 5, 'measured'],
      ['ioredis', 2, 5, 'measured'],
    ],
  );
  for (const [name, ms] of /** @type {const} */ ([
    ['p50Ns', 1],
    ['p99Ns', 3],
  ])) {
    assert.ok(Math.abs(Number(wrong[name]) / (ms * 1e6) - 1) < 0.005, `${name}: ${wrong[name]}`);
  }
  assert.ok(Math.abs(Number(wrong.clientCpuNs) - 60_000) < 1e-6);
  assert.ok(Math.abs(Number(wrong.serverCpuNs) - 4000) < 1e-6);
  assert.deepEqual([wrong.wrong, wrong.vsFastest, slow.wrong], [45, null, 0]);
  for (const { throughput } of [fast, slow]) {
    const { value, low, high } = /** @type {any} */ (throughput);
    assert.ok(low < value && value < high, JSON.stringify(throughput));
  }
  assert.equal(fast.vsFastest?.ratio, 1);
  const { ratio, low, high } = /** @type {any} */ (slow.vsFastest);
  const logs = speeds.map((speed, i) => Math.log(speed / (1000 * SPREAD[i])));
  const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  assert.ok(Math.abs(ratio / mean - 1) < 1e-6, `${ratio}, not ${mean}`);
  assert.ok(low < ratio && ratio < high && high < 1, JSON.stringify(slow.vsFastest));
  assert.equal(slow.serverCpuNs, null);
});

test('CPU is the geometric mean of the rounds per ok operation, and null if unknown', () => {
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

test('outcomes are summed over all rounds, and operations not run are not wrong', () => {
  const [{ rows }] = toGroups(brokenResult());
  const redis = rows.find(({ label }) => label === 'redis');
  assert.equal(redis?.wrong, 52);
  assert.equal(redis?.scheduled, 10_000);
  assert.equal(redis?.outcomes.ok, 9948);
  const unsent = measuredRound(0, SYNC, { throughput: 10, outcomes: { unsent: 7, dropped: 1 } });
  const row = groupOf(benchmark({ storage: 'redis', load: SYNC, rounds: [unsent] })).rows[0];
  assert.deepEqual([row.wrong, row.notRun], [0, 8]);
});

test('memory is the maximum of the client, and for a burst the median per request', () => {
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
