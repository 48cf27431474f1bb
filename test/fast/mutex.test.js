/**
 * The mutex without servers: which names are drawn, waits and fairness, options, lines, verdicts.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { requestRun } from '../../engine/request.js';
import { decode } from '../../measure/hdr.js';
import { tabulate } from '../../report/model.js';
import { rowTexts } from '../../report/text.js';
import { stressVerdict, toLockRows } from '../../workloads/mutex/analysis.js';
import { workload } from '../../workloads/mutex/index.js';
import { legacyLinesOf } from '../../workloads/mutex/legacy.js';
import { drawSets } from '../../workloads/mutex/names.js';
import { report } from '../../workloads/mutex/report.js';
import { fromEnvironment, legacyLines, nameOf } from '../../workloads/mutex/run-hooks.js';
import { sleepMsOf } from '../../workloads/mutex/sections.js';
import { jainIndex, waitMetrics } from '../../workloads/mutex/waits.js';

describe('drawing', () => {
  test('n distinct names out of 2n - 1: any two sets have one in common', () => {
    const keys = fc.integer({ min: 1, max: 12 });
    fc.assert(
      fc.property(keys, fc.integer(), (n, seed) => {
        const sets = drawSets(n, seed, 20);
        for (const set of sets) assert.equal(new Set(set).size, n);
        assert.ok(new Set(sets.flat()).size <= 2 * n - 1);
        for (const set of sets) {
          for (const other of sets) assert.ok(set.some((name) => other.includes(name)));
        }
        assert.deepEqual(drawSets(n, seed, 20), sets);
      }),
    );
  });

  test('tasks sleep 1.01 ms to 2.00 ms, each always the same', () => {
    const sleeps = Array.from({ length: 100 }, (_, task) => sleepMsOf(task));
    assert.equal(Math.min(...sleeps), 1.01);
    assert.equal(Math.max(...sleeps), 2);
    assert.equal(new Set(sleeps).size, 100);
    assert.equal(sleepMsOf(100), 1.01);
  });
});

describe('waits and fairness', () => {
  test('Jain’s index: 1 if all had the same, 1/n if one had all', () => {
    assert.equal(jainIndex([5, 5, 5, 5]), 1);
    assert.equal(jainIndex([0, 0, 8, 0]), 1 / 4);
    assert.equal(jainIndex([1, 2, 3]), 36 / (3 * 14));
    assert.equal(jainIndex([0, 0]), null);
  });

  test('percentiles are nearest ranks, and need at least ten values', () => {
    const waits = Array.from({ length: 1000 }, (_, i) => 1000 - i);
    const { waitHistogram, ...metrics } = waitMetrics(waits);
    assert.deepEqual(metrics, {
      waitP50Ns: 500,
      waitP99Ns: 990,
      waitMaxNs: 1000,
      waitMeanNs: 500.5,
    });
    const histogram = decode(String(waitHistogram), { count: 1000 });
    assert.deepEqual(
      [0.5, 0.99].map((q) => histogram.percentile(q)),
      [500, 990],
    );
    assert.equal(waitMetrics(waits.slice(0, 999)).waitP99Ns, null);
    assert.deepEqual(waitMetrics([]), {
      waitP50Ns: null,
      waitP99Ns: null,
      waitMaxNs: null,
      waitMeanNs: null,
      waitHistogram: null,
    });
  });
});

describe('a workload with variants', () => {
  test('a lock of one name is offered only for single names and stress', () => {
    const locks = { one: { summary: '', several: 'it has one key', options: {} } };
    const definition = /** @type {any} */ ({ locks });
    const offers = (/** @type {any} */ parameters) => workload.offers?.(definition, parameters);
    assert.equal(offers({ handler: 'one', keys: 1 }), true);
    assert.deepEqual(offers({ handler: 'one', keys: 2 }), {
      reason: 'not supported: it has one key',
      hint: 'use --lock-keys 1',
    });
    assert.equal(offers({ test: 'stress', handler: 'one', keys: 2 }), true);
    assert.equal(offers({ handler: 'other', keys: 1 }), false);
  });

  /** @param {Record<string, any>} options */
  const planOf = async (options) => (await requestRun({ workload: 'mutex', ...options })).plan;
  /** @param {Record<string, any>} options */
  const stressOf = (options) => planOf({ test: 'stress', ...options });

  test('the original program’s defaults', async () => {
    const { variants = [] } = await planOf({ handlers: ['script'] });
    assert.deepEqual(
      variants.map(({ parameters: { test, keys }, loads }) => [test, keys, loads[0]]),
      [
        ...[1, 2, 3, 5, 10].map((n) => [
          ...['lock', n],
          { kind: 'window', inFlight: 10, operations: 1000, durationNs: null },
        ]),
        ...[1, 2, 3, 5, 10].map((n) => [
          ...['count', n],
          { kind: 'window', inFlight: 100, operations: null, durationNs: 5e9 },
        ]),
        ['killed', 1, { kind: 'sync', inFlight: 1, operations: 3, durationNs: null }],
      ],
    );
    const [{ parameters, loads }] = (await stressOf({})).variants ?? [];
    const { tries, holdMs, keys } = parameters;
    assert.deepEqual({ tries, holdMs, keys }, { tries: 10, holdMs: 2000, keys: 5 });
    assert.equal(loads?.[0].operations, 30);
  });

  test('options of the other test, and a lock that expires too early, are refused', async () => {
    const usage = { code: 'E_USAGE' };
    await assert.rejects(planOf({ processes: 3 }), { ...usage, message: /--processes/ });
    await assert.rejects(stressOf({ tests: ['lock'] }), { ...usage, message: /--tests/ });
    await assert.rejects(stressOf({ keys: [1, 2] }), usage);
    await assert.rejects(stressOf({ sleep: 2000, expiry: 2000 }), usage);
    await assert.rejects(planOf({ handlers: ['scrpt'] }), { ...usage, message: /scrpt/ });
    const file = ['./test/helpers/broken-lock.js'];
    assert.ok(await planOf({ handlers: ['broken'], storages: file }));
    await assert.rejects(planOf({ handlers: ['mine'], storages: file }), {
      ...usage,
      message: '--handlers mine: unknown lock implementation',
    });
  });

  test('a file of --handlers brings its storage and all of its locks', async () => {
    const old = './examples/old-mutex.js';
    const locks = (/** @type {any} */ { variants = [] }) => [
      ...new Set(variants.map((/** @type {any} */ { parameters }) => parameters.handler)),
    ];
    const alone = await planOf({ handlers: [old] });
    assert.deepEqual([alone.storages, locks(alone)], [[old], ['0.1.2', '0.2.3']]);
    const beside = await planOf({ handlers: ['pure', old], storages: ['ioredis'] });
    assert.deepEqual(beside.storages, ['ioredis', old]);
    assert.deepEqual(locks(beside), ['pure', '0.1.2', '0.2.3']);
    const stress = await stressOf({ handlers: [old] });
    assert.deepEqual([stress.storages, locks(stress)], [[old], ['0.1.2', '0.2.3']]);
    const usage = { code: 'E_USAGE' };
    await assert.rejects(planOf({ handlers: ['pure', old] }), {
      ...usage,
      message: '--handlers pure needs storages',
    });
    await assert.rejects(planOf({ handlers: ['./examples/my-driver.js'] }), {
      ...usage,
      message: '--handlers ./examples/my-driver.js: a storage without locks',
    });
  });

  test('the original program’s variable chooses the handler, or is refused', () => {
    const handlerOf = (/** @type {string} */ name) =>
      fromEnvironment({ REDIS_EM_MUTEX_HANDLER: name });
    assert.deepEqual(['pure', 'Script', 'auto', ''].map(handlerOf), [
      { handlers: 'pure' },
      { handlers: 'script' },
      { handlers: 'script' },
      {},
    ]);
    assert.throws(() => handlerOf('lua'), {
      code: 'E_USAGE',
      message: 'REDIS_EM_MUTEX_HANDLER=lua: unknown lock implementation',
      hint: 'accepted values: pure, script, auto; for others use --handlers',
    });
  });
});

/**
 * @param {Record<string, any>} parameters
 * @param {Record<string, any> | null} metrics
 * @param {Record<string, any>} [more]
 */
function benchmarkOf(parameters, metrics, more = {}) {
  const outcomes = { ok: 1, miss: 0, mismatch: 0, error: 0, timeout: 0, dropped: 0, unsent: 0 };
  const round = {
    state: 'measured',
    durationNs: 530_289_000,
    scheduled: 1,
    outcomes,
    client: { userNs: 270e6, systemNs: 60e6 },
    metrics,
    ...more,
  };
  return {
    storage: 'ioredis',
    profile: 'default',
    workload: 'mutex',
    parameters,
    load: { kind: 'window', inFlight: 10, operations: 1000, durationNs: 5e9 },
    state: metrics === null ? 'skipped' : 'measured',
    reason: metrics === null ? 'not offered: one key' : null,
    rounds: metrics === null ? [] : [round],
  };
}

/** @param {any[]} benchmarks */
function resultOf(...benchmarks) {
  return /** @type {import('../../lib/result.js').Result} */ (
    /** @type {any} */ ({ dragstrip: '0.1.0', benchmarks })
  );
}

describe('report of locks', () => {
  test('the original program’s lines, to the column', () => {
    const metrics = { sections: 4679, violations: 0 };
    const result = resultOf(
      benchmarkOf({ test: 'lock', handler: 'script', keys: 1 }, metrics),
      benchmarkOf({ test: 'lock', handler: 'script', keys: 10 }, null),
      benchmarkOf({ test: 'count', handler: 'script', keys: 1 }, metrics),
    );
    assert.deepEqual(legacyLinesOf(result, 'lock'), [
      'Test 1',
      '',
      'Version: 0.1.0, handler: ioredis script',
      'lock/unlock 1000 times with concurrency: 10',
      '                    user     system      total        real',
      'keys: 1/ 1      0.270000   0.060000   0.330000 (  0.530289)',
      'keys:10/19  not offered: one key',
    ]);
    assert.deepEqual(legacyLinesOf(result, 'count').slice(2), [
      'Version: 0.1.0, handler: ioredis script',
      'lock/write/incr/read/del/unlock in 5 seconds + cooldown period:',
      '                      user     system      total        real',
      'keys: 1/ 1  4679  0.270000   0.060000   0.330000 (  0.530289)',
    ]);
    const benchmarks = result.benchmarks
      .filter(({ state }) => state !== 'skipped')
      .map((benchmark) => ({
        source: benchmark,
        keys: { id: benchmark.id, ...benchmark.parameters },
      }));
    const [first, second] = tabulate(result, report, benchmarks);
    assert.equal(first.rows.length, 1, 'what is not offered is among the skipped');
    assert.match(first.title, /Test 1/);
    assert.match(second.title, /Test 2/);
    assert.deepEqual(rowTexts(first, first.rows[0]).slice(0, 4), [
      'ioredis script',
      '1/1',
      '4,679',
      '8,823',
    ]);
  });

  test('several rounds: medians, except the longest wait and the sum of violations', () => {
    const benchmark = benchmarkOf(
      { test: 'lock', handler: 'script', keys: 1 },
      { sections: 10, violations: 1, waitMaxNs: 5 },
    );
    const [round] = benchmark.rounds;
    benchmark.rounds.push(
      { ...round, durationNs: 1e9, metrics: { sections: 20, violations: 2, waitMaxNs: 9 } },
      { ...round, durationNs: 3e9, metrics: { sections: 60, violations: 0, waitMaxNs: 7 } },
    );
    const [row] = toLockRows(resultOf(benchmark));
    assert.equal(row.sections, 20);
    assert.equal(row.realNs, 1e9);
    assert.equal(row.waitMaxNs, 9);
    assert.equal(row.violations, 3);
  });

  test('one verdict: held, violated, or undecided', () => {
    const parameters = { test: 'stress', handler: 'script', keys: 5 };
    const metrics = { sections: 150, violations: 0, timeouts: 0, overruns: 0, kills: 2 };
    const verdict = (/** @type {any} */ more, /** @type {any} */ round = {}) =>
      stressVerdict(resultOf(benchmarkOf(parameters, { ...metrics, ...more }, round)));
    assert.deepEqual(verdict({}), {
      verdict: 'held',
      text:
        'ioredis script: mutual exclusion held: 150 critical sections, 0 violations, 0 timeouts, ' +
        '2 processes killed',
    });
    assert.equal(verdict({ violations: 1 }).verdict, 'broken');
    assert.match(verdict({ violations: 1, overruns: 2 }).text, /some may be due to locks/);
    assert.equal(verdict({ timeouts: 3 }, { scheduled: 2 }).verdict, 'open');
    assert.equal(verdict({ sections: 0 }).verdict, 'open');
    assert.equal(stressVerdict(resultOf()).verdict, 'open');
  });
});

describe('stress prints', () => {
  const parameters = { test: 'stress', handler: 'script', keys: 5, tries: 10, holdMs: 50 };
  const metrics = { processId: [11, 12], processOk: [5, 4], processFailures: [0, 3] };
  const benchmark = /** @type {any} */ (benchmarkOf(parameters, metrics));
  const linesOf = (/** @type {any} */ context) => {
    const lines = legacyLines({ test: 'stress', quiet: false, options: {}, ...context });
    const events = ['planned', 'benchmark-start', 'progress', 'benchmark-end'];
    return events.flatMap((type) => lines(/** @type {any} */ ({ type, benchmark })));
  };

  test('the tested lock at the start, and a line per process', () => {
    assert.deepEqual(linesOf({}), [
      `[${process.pid}] Starting with ioredis script, forks: 1000, tries: 10, sleep: 0.05, keys: 5`,
      '[11] Complete; Ok: 5, Failures: 0',
      '[12] Complete; Ok: 4, Failures: 3',
    ]);
  });

  test('nothing with --quiet or for other tests', () => {
    assert.deepEqual(linesOf({ quiet: true }), []);
    assert.deepEqual(linesOf({ test: undefined }), []);
  });

  test('the running test with its lock and keys', () => {
    const named = (/** @type {any} */ parameters) =>
      nameOf(/** @type {any} */ (benchmarkOf(parameters, {})));
    assert.equal(nameOf(benchmark), 'stress: ioredis script');
    assert.equal(
      named({ test: 'count', handler: 'pure', keys: 5 }),
      'Test 2: ioredis pure, keys 5/9',
    );
    assert.equal(named({ test: 'killed', handler: 'redlock' }), 'crash recovery: ioredis redlock');
  });
});
