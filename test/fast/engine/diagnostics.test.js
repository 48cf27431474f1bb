/** What speaks against a figure: told in warnings and marked in the tables, never left out. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  diagnose,
  diagnosticWarnings,
  isUnsteady,
  lawOf,
  summarizeConditions,
} from '../../../engine/diagnostics.js';
import { noiseOf, ranksOf, throughputsOf } from '../../../report/analysis/ranks.js';
import { loadReport } from '../../../report/index.js';
import { compareRounds } from '../../../stats/compare.js';
import { noiseFloor, successiveRounds } from '../../../stats/noise.js';
import {
  benchmark,
  buildResult,
  failedRound,
  measuredRound,
  rounds,
  SYNC,
} from '../../helpers/result-builder.js';

/**
 * @param {Partial<import('../../helpers/result-builder.js').RoundSpec>[]} specs one a round
 * @param {string} [storage]
 */
function benchmarkOf(specs, storage = 'redis') {
  const own = specs.map((spec, i) => measuredRound(i, SYNC, { throughput: 10_000, ...spec }));
  for (const { scheduled, outcomes } of own) {
    assert.equal(
      Object.values(outcomes).reduce((a, b) => a + b, 0),
      scheduled,
    );
  }
  return benchmark({ storage, load: SYNC, rounds: own });
}

test('a benchmark whose number in flight is 3 % off is marked inconsistent, 1 % off is not', () => {
  const good = measuredRound(0, SYNC, { throughput: 10_000 });
  const off = (/** @type {number} */ factor) => ({ inFlightMean: good.inFlightMean * factor });
  assert.equal(diagnose(benchmarkOf([off(1.01), off(0.99)])).inconsistent, null);
  const { inconsistent } = diagnose(benchmarkOf([{}, off(0.97), off(1.05)]));
  assert.ok(Math.abs((inconsistent?.difference ?? 0) - 0.05) < 0.01, 'the worst round is reported');
});

test('an inconsistent benchmark is marked in the table and warned about, with a hint', async () => {
  const result = buildResult({ benchmarks: [benchmarkOf([{ inFlightMean: 1.5 }, {}])] });
  const [warning] = diagnosticWarnings(result);
  assert.equal(warning.code, 'W_LITTLE');
  assert.equal(warning.benchmark, 'redis:default/get/sync');
  assert.match(warning.message, /1\.5 in flight were counted, throughput × latency gives 1;/);
  assert.ok(warning.hint);
  const { render } = await loadReport('console');
  assert.match(render({ ...result, warnings: [warning] }), /^ *[–\d]+ +! redis .*$/m);
  assert.match(render({ ...result, warnings: [warning] }), /inconsistent/);
});

test('the law is not held against what was in flight without a latency', () => {
  const round = measuredRound(0, SYNC, {
    throughput: 100,
    outcomes: { error: 50 },
    inFlightMean: 7,
  });
  assert.equal(lawOf(round), null);
  const few = measuredRound(0, SYNC, { throughput: 100, outcomes: { error: 5 }, inFlightMean: 7 });
  assert.equal(lawOf(few)?.holds, false);
});

test('a warm-up that never came to rest is said of the benchmark, one of many rounds is not', () => {
  const curve = Array.from({ length: 20 }, (_, i) => 100 + 10 * (i % 2));
  assert.equal(isUnsteady(diagnose(benchmarkOf([{ curve }, { curve }, {}]))), true);
  assert.equal(isUnsteady(diagnose(benchmarkOf([{ curve }, {}, {}]))), false);
  assert.equal(isUnsteady(diagnose(benchmarkOf([{ curve: [] }]))), true, 'no warm-up is no rest');
  const warnings = diagnosticWarnings(
    buildResult({ benchmarks: [benchmarkOf([{ curve }]), benchmarkOf([{}], 'x')] }),
  );
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['W_UNSTEADY'],
  );
  assert.match(warnings[0].message, /^no steady state in 1 of 2 benchmarks/);
});

test('a round far from the others is warned about and counted all the same', () => {
  const specs = [10_000, 10_010, 9_990, 10_005, 5_000].map((throughput) => ({ throughput }));
  const result = buildResult({ benchmarks: [benchmarkOf(specs)] });
  assert.deepEqual(diagnose(result.benchmarks[0]).outliers, [4]);
  const [{ code, message }] = diagnosticWarnings(result);
  assert.equal(code, 'W_OUTLIER');
  assert.match(message, /^round 5 is an outlier/);
  assert.equal(throughputsOf(result.benchmarks[0]).length, 5);
});

test('drift, steal and throttling are warned about with what helps; unknown is not fine', () => {
  const own = benchmarkOf([{}, {}, {}]);
  const [, second] = own.rounds;
  assert.ok(second.conditions);
  Object.assign(second.conditions, {
    ...{ canaryNs: 1.3e6, stealShare: 0.08 },
    ...{ throttledCount: 3, throttledNs: 250e6 },
  });
  const warnings = diagnosticWarnings(buildResult({ benchmarks: [own] }));
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['W_CANARY', 'W_STEAL', 'W_THROTTLED'],
  );
  for (const { hint } of warnings) assert.ok(hint);
  assert.match(warnings[0].message, /\(1 of 3 times more than 5 %\)/);
  assert.match(warnings[2].message, /3 times, 250 ms/);
});

test('what no round knows is null in the summary, and "unknown" in the report', async () => {
  const own = benchmarkOf([{}]);
  own.rounds[0].conditions = {
    ...{ canaryNs: null, stealShare: null, busyShare: null },
    ...{ throttledCount: null, throttledNs: null, loadAverage: null },
  };
  const { n, ...summary } = summarizeConditions([own]);
  assert.equal(n, 1);
  for (const [name, value] of Object.entries(summary)) {
    assert.equal(value, name === 'drifted' ? 0 : null, name);
  }
  const { render } = await loadReport('console');
  const text = render(buildResult({ benchmarks: [own] }));
  assert.match(text, /speed within unknown, all processors unknown busy/);
  assert.match(text, /governor unknown/);
});

test('A/A pairs are successive rounds; the last of an odd number has no partner', () => {
  assert.deepEqual(successiveRounds([1, 2, 3, 4, 5]), { a: [1, 3], b: [2, 4] });
  assert.deepEqual(successiveRounds([1, null, 3, 4]), { a: [1, 3], b: [null, 4] });
  assert.deepEqual(successiveRounds([1]), { a: [], b: [] });
});

test('noise is that of as many blocks as are compared: more blocks, less noise', () => {
  const pairs = [{ a: [100, 102, 99], b: [101, 100, 100] }];
  const three = noiseFloor(pairs).noise ?? 0;
  const twelve = noiseFloor(pairs, { blocks: 12 }).noise ?? 0;
  assert.ok(Math.abs(Math.log1p(three) / Math.log1p(twelve) - 2) < 1e-9);
  assert.equal(noiseOf([{ source: benchmarkOf([{}]) }]).noise, null, 'one round tells nothing');
});

test('statistically tied rows share their ranks', () => {
  const row = (/** @type {string} */ label, /** @type {number[]} */ speeds) => ({
    ...{ label, kind: /** @type {const} */ ('server'), state: 'measured', wrong: 0 },
    source: benchmarkOf(
      speeds.map((throughput) => ({ throughput })),
      label,
    ),
  });
  const rows = [
    row('fast', [2000, 2010, 1990, 2005, 1995]),
    row('a', [1000, 1040, 960, 1010, 990]),
    row('b', [1010, 960, 1030, 980, 1020]),
    { ...row('overhead', [9000, 9000, 9000, 9000, 9000]), kind: /** @type {const} */ ('overhead') },
    { ...row('wrong', [9000, 9000, 9000, 9000, 9000]), wrong: 1 },
    row('once', [1000]),
  ];
  assert.deepEqual(ranksOf(rows, null), [
    { best: 1, worst: 1 },
    { best: 2, worst: 3 },
    { best: 2, worst: 3 },
    ...[null, null, null],
  ]);
});

test('a round that failed leaves a gap, not a shift', () => {
  const own = benchmark({ storage: 'redis', load: SYNC, rounds: rounds(SYNC, 1000) });
  own.rounds[1] = failedRound(1, { code: 'E', message: 'm' });
  const values = throughputsOf(own);
  assert.equal(values.length, 5);
  assert.equal(values[1], null);
  assert.ok(values[2] !== null);
});

test('a run whose noise is beyond 5 % calls nothing the same', () => {
  const rounds = { a: [100, 110, 92, 105], b: [103, 101, 99, 100] };
  const noisy = compareRounds(rounds.a, rounds.b, { noise: 0.4 });
  assert.equal(noisy.verdict, 'undecided');
  assert.ok((noisy.low ?? 0) > 1 / 1.4 && (noisy.high ?? 2) < 1.4, 'it is within the noise');
  assert.ok((noisy.roundsNeeded ?? 0) > 4);
  const between = compareRounds([110, 111, 109, 110], [100, 101, 99, 100], { noise: 0.4 });
  assert.deepEqual([between.verdict, between.roundsNeeded], ['undecided', null]);
});
