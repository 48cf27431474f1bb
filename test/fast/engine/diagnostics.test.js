/** Doubts about a figure are warnings and marks of the tables, never omissions. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  diagnose,
  diagnosticWarnings,
  littleOf,
  summarizeConditions,
} from '../../../engine/diagnostics.js';
import { loadReport } from '../../../report/index.js';
import { benchmark, buildResult, measuredRound, SYNC } from '../../helpers/result-builder.js';

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

test('an inconsistent benchmark is marked in the table, with a warning and a hint', async () => {
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

test('the law is not applied to requests in flight without a latency', () => {
  const round = measuredRound(0, SYNC, {
    throughput: 100,
    outcomes: { error: 50 },
    inFlightMean: 7,
  });
  assert.equal(littleOf(round), null);
  const few = measuredRound(0, SYNC, { throughput: 100, outcomes: { error: 5 }, inFlightMean: 7 });
  assert.equal(littleOf(few)?.holds, false);
});

test('a benchmark still warming up during measurement is marked, with a warning', () => {
  const timelines = (/** @type {(window: number) => number} */ of) => {
    const own = benchmarkOf([{}, {}, {}]);
    for (const [i, round] of own.rounds.entries()) {
      const operations = Array.from({ length: 31 }, (_, at) => Math.round(of(at) + i));
      round.timeline = { windowNs: 1e8, operations };
    }
    return own;
  };
  const rising = timelines((at) => 1000 + 10 * at);
  const level = { ...timelines(() => 1000), storage: 'x' };
  assert.equal(diagnose(rising).drift?.marked, true);
  assert.equal(diagnose(level).drift?.marked, false);
  assert.equal(diagnose(benchmarkOf([{}, {}])).drift, null, 'its rounds are short');
  const [warning, ...more] = diagnosticWarnings(buildResult({ benchmarks: [rising, level] }));
  assert.deepEqual([warning.code, more], ['W_UNSTEADY', []]);
  assert.match(warning.message, /^still warming up, or slowing down, in 1 of 2 benchmarks/);
  assert.match(String(warning.hint), /--warmup/);
  const load = /** @type {const} */ ({ ...SYNC, kind: 'rate', rate: 100 });
  assert.equal(diagnose({ ...rising, load }).drift, null, 'its speed is what was offered');
});

test('an outlying round causes a warning and still counts', () => {
  const specs = [10_000, 10_010, 9_990, 10_005, 5_000].map((throughput) => ({ throughput }));
  const result = buildResult({ benchmarks: [benchmarkOf(specs)] });
  assert.deepEqual(diagnose(result.benchmarks[0]).outliers, [4]);
  const [{ code, message }] = diagnosticWarnings(result);
  assert.equal(code, 'W_OUTLIER');
  assert.match(message, /^round 5 is an outlier/);
});

test('drift, steal and throttling cause warnings with hints; unknown is not fine', () => {
  const measured = benchmarkOf([{}, {}, {}]);
  const [, second] = measured.rounds;
  assert.ok(second.conditions);
  Object.assign(second.conditions, {
    canaryNs: 1.3e6,
    stealShare: 0.08,
    throttledCount: 3,
    throttledNs: 250e6,
  });
  const warnings = diagnosticWarnings(buildResult({ benchmarks: [measured] }));
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['W_CANARY', 'W_STEAL', 'W_THROTTLED'],
  );
  for (const { hint } of warnings) assert.ok(hint);
  assert.match(warnings[0].message, /\(1 of 3 times more than 5 %\)/);
  assert.match(warnings[2].message, /3 times, 250 ms/);
});

test('a value unknown in all rounds is null in the summary, and "unknown" in the report', async () => {
  const measured = benchmarkOf([{}]);
  measured.rounds[0].conditions = {
    canaryNs: null,
    stealShare: null,
    busyShare: null,
    throttledCount: null,
    throttledNs: null,
    loadAverage: null,
  };
  const { n, ...summary } = summarizeConditions([measured]);
  assert.equal(n, 1);
  for (const [name, value] of Object.entries(summary)) {
    assert.equal(value, name === 'drifted' ? 0 : null, name);
  }
  const { render } = await loadReport('console');
  const text = render(buildResult({ benchmarks: [measured] }));
  assert.match(text, /speed within unknown, all processors unknown busy/);
  assert.match(text, /governor unknown/);
});
