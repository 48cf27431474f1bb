/** Whole runs of open loops and searches on the memory storage: plan, result, warnings, status. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../cli/status.js';
import { openLoopWarnings } from '../../engine/openloop.js';
import { runRace } from '../../engine/runner.js';
import { evaluateTrial } from '../../engine/schedule/search.js';
import { OUTCOMES } from '../../lib/outcome.js';
import { parseResult } from '../../lib/parse-result.js';
import { encode } from '../../measure/hdr.js';
import { Histogram } from '../../measure/histogram.js';
import { fakeProcesses, rightSegment } from '../helpers/contenders.js';
import { rampResult } from '../helpers/rate-results.js';

/**
 * A store that answers in 1 ms up to 3,000/s, and in 9 ms above: without a process.
 * @param {{ dropped?: number }} [faults]
 */
function pretend({ dropped = 0 } = {}) {
  return fakeProcesses(({ tasks: [task] }) => {
    const { operations, rate, durationNs } = /** @type {any} */ (task).load;
    const count = operations ?? Math.round((rate * durationNs) / 1e9);
    const sent = count - dropped;
    const histogram = new Histogram();
    histogram.recordCount(rate <= 3000 ? 1e6 : 9e6, sent);
    const segment = rightSegment(count, (count / rate) * 1e9);
    segment.outcomes[OUTCOMES.indexOf('ok')] = sent;
    segment.outcomes[OUTCOMES.indexOf('dropped')] = dropped;
    segment.histograms = { latency: histogram.toMessage(), service: histogram.toMessage() };
    segment.open = { offered: count, sent, completed: sent, dropped, late: 0, lateNsMax: 0 };
    return segment;
  });
}

/**
 * @param {Partial<import('../../index.js').RunOptions>} options
 * @param {{ dropped?: number }} [faults]
 */
async function race(options, faults) {
  const result = await runRace(
    { storages: ['memory'], rows: 10, home: '/nonexistent', ...options },
    { processes: pretend(faults) },
  );
  // The document holds to its schema.
  return parseResult(JSON.stringify(result), 'the result');
}

test('a ramp has a benchmark per rate, with offered, sent and dropped operations', async () => {
  const loads = [1000, 2000].map((rate) => ({
    kind: /** @type {const} */ ('rate'),
    rate,
    durationMs: 500,
  }));
  const result = await race({ loads, rounds: 2 });
  assert.deepEqual(
    result.benchmarks.map(({ id }) => id),
    ['memory:default/get/rate-1000', 'memory:default/get/rate-2000'],
  );
  for (const { load, rounds } of result.benchmarks) {
    assert.equal(rounds.length, 2);
    for (const { open, latency, scheduled, outcomes } of rounds) {
      assert.equal(open?.offered, Number(load.rate) / 2);
      assert.equal(open?.offered, open.sent + open.dropped);
      assert.equal(open?.service?.count, latency?.count);
      assert.equal(
        Object.values(outcomes).reduce((a, b) => a + b),
        scheduled,
      );
    }
  }
  assert.equal(statusOf(result), 0);
});

test('more than 0.1 % dropped makes the test invalid: a warning, and exit status 5', async () => {
  const loads = [{ kind: /** @type {const} */ ('rate'), rate: 10_000, operations: 10_000 }];
  const within = await race({ loads }, { dropped: 10 });
  assert.equal(statusOf(within), 0);
  assert.ok(!within.warnings.some(({ code }) => code === 'W_DROPPED'));
  const beyond = await race({ loads }, { dropped: 11 });
  assert.equal(statusOf(beyond), 5);
  const warning = beyond.warnings.find(({ code }) => code === 'W_DROPPED');
  assert.match(String(warning?.message), /0\.11 %.*10000 were in flight.*invalid/);
  assert.match(String(warning?.hint), /--rate|--max-in-flight/);
  assert.equal(warning?.benchmark, 'memory:default/get/rate-10000');
});

test('a search stores every trial as a round, and its result', async () => {
  const result = await race({ findMax: { percentile: 0.99, limitMs: 5, durationMs: 100 } });
  const [search] = result.searches ?? [];
  assert.ok(search.rate !== null && search.rate <= 3000 && search.rate > 2970, `${search.rate}`);
  assert.equal(search.confirmed, true);
  assert.equal(search.reason, null);
  const trials = search.points.reduce((sum, point) => sum + point.trials.length, 0);
  const rounds = result.benchmarks.reduce((sum, benchmark) => sum + benchmark.rounds.length, 0);
  assert.equal(rounds, trials, 'every trial is a round of a benchmark');
  for (const { benchmark, rate, passed } of search.points) {
    const found = result.benchmarks.find(({ id }) => id === benchmark);
    assert.equal(found?.load.rate, rate);
    assert.equal(passed, rate <= 3000);
  }
  assert.equal(new Set(result.benchmarks.map(({ id }) => id)).size, result.benchmarks.length);
  assert.equal(statusOf(result), 0, 'a rate that does not hold is an answer');
  assert.deepEqual(openLoopWarnings(result), []);
});

test('a trial passes within the limit, but not with drops, timeouts or too few values', () => {
  const histogram = new Histogram();
  histogram.recordCount(1e6, 1980);
  histogram.recordCount(4e6, 20);
  const [{ rounds }] = rampResult().benchmarks;
  const [round] = rounds;
  assert.ok(round.latency !== null);
  const latency = { ...round.latency, count: 2000, histogram: encode(histogram) };
  const outcomes = { ...round.outcomes, ok: 2000, dropped: 0 };
  const base = { ...round, scheduled: 2000, latency, outcomes };
  const plan = { percentile: 0.99, limitNs: 1.1e6 };
  assert.equal(evaluateTrial(plan, base).passed, true);
  assert.equal(evaluateTrial({ ...plan, limitNs: 0.9e6 }, base).passed, false);
  assert.equal(evaluateTrial({ ...plan, percentile: 0.999 }, base).passed, false);
  const fault = (/** @type {object} */ others) => ({
    ...base,
    outcomes: { ...outcomes, ...others },
  });
  assert.equal(evaluateTrial(plan, fault({ dropped: 3 })).passed, false);
  assert.equal(evaluateTrial(plan, fault({ dropped: 2 })).passed, true);
  assert.equal(evaluateTrial(plan, fault({ timeout: 1 })).passed, false);
  assert.equal(evaluateTrial(plan, fault({ unsent: 1 })).passed, false);
  assert.throws(() => evaluateTrial(plan, fault({ mismatch: 1 })), /wrong/);
  assert.throws(() => evaluateTrial(plan, { ...base, state: 'failed' }), /failed/);
});

test('late operations have one warning for all tests', () => {
  const warnings = rampResult().warnings.filter(({ code }) => code === 'W_LATE');
  assert.equal(warnings.length, 1);
  assert.match(warnings[0].message, /up to 10 % of the operations in 2 of 6 open loops/);
});
