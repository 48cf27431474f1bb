/**
 * Fetches of many keys, without servers: drawn keys, verification, and replay of a trace.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requestRun } from '../../engine/request.js';
import { summarizeSeries } from '../../engine/series.js';
import { createDataset } from '../../lib/dataset.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { runLoad } from '../../load/load.js';
import { TraceRecorder } from '../../load/trace-recorder.js';
import { medianOfSorted } from '../../stats/percentile.js';
import { inOrder } from '../../storages/in-order.js';
import { createVerifier, nothingCompared } from '../../workloads/get/verifier.js';
import { fitPoints, toFetchGroups } from '../../workloads/mget/analysis.js';
import {
  KEY_COUNTS,
  operationsOf,
  planFetches,
  prepareFetches,
  verifyFetch,
} from '../../workloads/mget/fetches.js';
import { workload } from '../../workloads/mget/index.js';
import { workload as single } from '../../workloads/mget/single.js';

const dataset = createDataset({ rows: 500, valueSize: 64, seed: 9 });

describe('the plan of fetches', () => {
  test('has the original program’s numbers of keys: 1 twice, then 5 to 100', () => {
    assert.deepEqual(
      [...KEY_COUNTS],
      [1, 1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100],
    );
    const { series } = planFetches({ cycles: 3, lead: 2 }, 1);
    assert.deepEqual(
      series.map(({ keys }) => keys),
      [...KEY_COUNTS],
    );
    assert.deepEqual(
      series.map(({ warmup }) => warmup),
      KEY_COUNTS.map((_, i) => i === 0),
    );
  });

  test('puts uncounted fetches of the same size before and after each series', () => {
    const options = { counts: [2, 7], cycles: 4, lead: 3 };
    const { sizes, series } = planFetches(options, 1);
    assert.equal(sizes.length, operationsOf(options));
    assert.deepEqual(Array.from(sizes), [...Array(10).fill(2), ...Array(10).fill(7)]);
    assert.deepEqual(
      series.map(({ from, to }) => [from, to]),
      [
        [3, 7],
        [13, 17],
      ],
    );
  });

  test('of a scatter reaches both ends of its range, and has seen each size before', () => {
    const scatter = { minKeys: 3, maxKeys: 6 };
    const { sizes, series } = planFetches({ scatter, cycles: 400, lead: 2 }, 5);
    const [{ from, to, keysOf }] = series;
    assert.equal(to - from, 400);
    assert.deepEqual([...new Set(keysOf)].sort(), [3, 4, 5, 6]);
    assert.deepEqual(Array.from(sizes.subarray(from, to)), keysOf);
    assert.deepEqual(Array.from(sizes.subarray(0, 4)), [3, 4, 5, 6]);
  });

  test('draws existing keys, each once per fetch, equal for the same seed', () => {
    const options = { mget: { counts: [1, 40, 499], cycles: 5, lead: 1 } };
    const ops = operationsOf(options.mget);
    const { fetches } = prepareFetches({ dataset, seed: 3, ops, options });
    assert.equal(fetches.length, ops);
    for (const ids of fetches) {
      assert.equal(new Set(ids).size, ids.length);
      assert.ok(ids.every((id) => Number.isInteger(id) && id >= 1 && id <= dataset.rows));
    }
    assert.deepEqual(prepareFetches({ dataset, seed: 3, ops, options }).fetches, fetches);
    assert.notDeepEqual(prepareFetches({ dataset, seed: 4, ops, options }).fetches, fetches);
  });

  /** @param {Record<string, any>} options */
  const planOf = async (options) => (await requestRun({ workload: 'mget', ...options })).plan;

  test('refuses a fetch of more keys than are stored', async () => {
    const refused = { code: 'E_USAGE', message: 'a fetch of 501 keys, but only 500 are stored' };
    await assert.rejects(planOf({ counts: [501], rows: 500 }), refused);
    await assert.rejects(planOf({ test: 'scatter', maxKeys: 501, rows: 500 }), refused);
  });

  test('has a load as long as its series, and leads as long as the widest window', async () => {
    const plan = await planOf({
      cycles: 10,
      pipelined: true,
      loads: [1, 4].map((inFlight) => ({ kind: 'window', inFlight })),
    });
    assert.deepEqual(plan.workloads, ['mget', 'mget-single']);
    assert.deepEqual(
      plan.loads.map(({ operations }) => operations),
      [22 * 18, 22 * 18],
    );
    assert.deepEqual(plan.dataset, { rows: 50_000, valueSize: 2048, seed: 1 });
  });

  test('refuses open loops, bursts and reversed ranges', async () => {
    for (const load of [{ kind: 'burst' }, { kind: 'rate', rate: 5 }]) {
      await assert.rejects(planOf({ loads: [load] }), { code: 'E_USAGE' });
    }
    const turned = { test: 'scatter', minKeys: 9, maxKeys: 3 };
    await assert.rejects(planOf(turned), { message: /--min-keys 9 is more than/ });
  });
});

describe('the verdict on a fetch', () => {
  const ids = [5, 2, 9];
  const right = ids.map(dataset.value);
  const verify = (/** @type {any} */ values, whole = false) =>
    verifyFetch(createVerifier(dataset, nothingCompared()), ids, values, whole);

  test('is ok for the correct values, in full or by their tags', () => {
    assert.equal(verify(right), OK);
    assert.equal(verify(right, true), OK);
  });

  test('is a mismatch for values in another order, too few, too many or no list', () => {
    assert.equal(verify([right[1], right[0], right[2]]), MISMATCH);
    assert.equal(verify(right.slice(1)), MISMATCH);
    assert.equal(verify([...right, right[0]]), MISMATCH);
    assert.equal(verify(/** @type {any} */ ('abc')), MISMATCH);
  });

  test('is a miss for null or undefined, and a mismatch for another value', () => {
    assert.equal(verify([right[0], null, right[2]]), MISS);
    assert.equal(verify([undefined, right[1], right[2]]), MISS);
    assert.equal(verify([null, right[1], right[0]]), MISMATCH);
  });

  test('detects one wrong letter after the tag if each value is compared in full', () => {
    const bent = `${right[2].slice(0, -1)}!`;
    assert.equal(verify([right[0], right[1], bent], true), MISMATCH);
  });

  test('of rows in the store’s order equals that of the keys’ order', () => {
    const rows = [9, 5].map((id) => ({ id, str: dataset.value(id) }));
    assert.deepEqual(inOrder(rows, ids), [right[0], undefined, right[2]]);
  });
});

describe('single reads at once', () => {
  const options = { mget: { counts: [3], cycles: 2, lead: 1 } };
  const context = { dataset, seed: 1, ops: 4, options };

  test('are one fetch in every style of calls', async () => {
    const { fetches } = prepareFetches(context);
    const expected = fetches[0].map(dataset.value);
    const close = async () => {};
    const byPromise = single.prepare(context)({
      get: async (/** @type {number} */ id) => dataset.value(id),
      close,
    });
    assert.deepEqual(await byPromise.op(0), expected);
    const bySync = single.prepare(context)(
      { get: (/** @type {number} */ id) => dataset.value(id), close },
      'sync',
    );
    assert.deepEqual(bySync.op(0), expected);
    const later = (/** @type {number} */ id, /** @type {any} */ done) =>
      setImmediate(done, null, dataset.value(id));
    const byCallback = single.prepare(context)({ get: later, close }, 'callback');
    const reply = await new Promise((resolve) => byCallback.op(0, (_error, all) => resolve(all)));
    assert.deepEqual(reply, expected);
    assert.equal(byCallback.verify(0, reply, true), OK);
  });

  test('fail once if several of them fail', async () => {
    let calls = 0;
    const get = (/** @type {number} */ _id, /** @type {any} */ done) =>
      setImmediate(done, new Error('lost'));
    const handle = { get, close: async () => {} };
    const bound = single.prepare(context)(handle, 'callback');
    await new Promise((resolve) => {
      bound.op(0, (error) => {
        calls += 1;
        assert.equal(error.message, 'lost');
        setImmediate(() => setImmediate(resolve));
      });
    });
    assert.equal(calls, 1);
  });
});

describe('evaluation of a trace', () => {
  test('the median of an even number is the mean of the two in the middle', () => {
    assert.equal(medianOfSorted([1, 2, 4, 9]), 3);
    assert.equal(medianOfSorted([1, 2]), 1.5, 'two cycles crashed the seed');
    assert.equal(medianOfSorted([7]), 7);
    assert.equal(medianOfSorted([1, 5, 6]), 5);
    assert.equal(medianOfSorted([]), null);
  });

  test('counts latencies of the series only, with all requests in flight during it', () => {
    // Two workers, each call 10 ns: 0-10, 5-15, 10-20, …; operations 2 to 5 are the series.
    const calledNs = Float64Array.from({ length: 8 }, (_, i) => i * 5);
    const endedNs = calledNs.map((ns) => ns + 10);
    const series = [{ keys: 3, warmup: false, from: 2, to: 6 }];
    const [one] = summarizeSeries({ calledNs, endedNs }, series);
    assert.deepEqual(one.latenciesNs, [10, 10, 10, 10]);
    assert.equal(one.medianNs, 10);
    assert.equal(one.durationNs, 25, 'from the call at 10 to the reply at 35');
    assert.equal(one.inFlightMean, 2);
    assert.equal(one.throughput, (5 / 25) * 1e9, 'replies at 15, 20, 25, 30 and 35');
  });

  test('shows a lower concurrency if a worker pauses between reply and call', () => {
    // One worker: 6 ns in a call, 4 ns outside.
    const calledNs = Float64Array.from({ length: 12 }, (_, i) => i * 10);
    const endedNs = calledNs.map((ns) => ns + 6);
    const [one] = summarizeSeries({ calledNs, endedNs }, [
      { keys: 1, warmup: false, from: 1, to: 11 },
    ]);
    assert.ok(one.inFlightMean > 0.6 && one.inFlightMean < 0.63, `${one.inFlightMean}`);
  });

  test('excludes wrong and missing replies', () => {
    const calledNs = Float64Array.of(0, 10, 20, Number.NaN);
    const endedNs = Float64Array.of(4, Number.NaN, 26, Number.NaN);
    const series = [{ keys: 0, warmup: false, from: 0, to: 4, keysOf: [2, 3, 5, 7] }];
    const [summary] = summarizeSeries({ calledNs, endedNs }, series);
    assert.deepEqual([summary.ok, summary.cycles, summary.medianNs], [2, 4, 5]);
    assert.deepEqual(
      [summary.latenciesNs, summary.keysOf],
      [
        [4, 6],
        [2, 5],
      ],
    );
    const [none] = summarizeSeries({ calledNs, endedNs }, [
      { keys: 1, warmup: false, from: 3, to: 4 },
    ]);
    assert.deepEqual([none.ok, none.medianNs, none.durationNs], [0, null, 0]);
  });

  test('keeps a load to its window, with medians that can be recomputed', async () => {
    let nowNs = 0;
    const clock = { now: () => nowNs, date: () => '' };
    const options = { mget: { counts: [1, 1, 5], cycles: 20, lead: 4 } };
    const ops = operationsOf(options.mget);
    const handle = {
      get: () => undefined,
      mget: async (/** @type {readonly number[]} */ ids) => {
        await null;
        nowNs += 100 + 10 * ids.length;
        return ids.map((id) => dataset.value(id));
      },
      close: async () => {},
    };
    const bound = workload.prepare({ dataset, seed: 1, ops, options })(handle);
    const { recorder } = await runLoad({
      ...bound,
      calls: 'promise',
      kind: 'window',
      inFlight: 4,
      operations: ops,
      durationNs: Number.POSITIVE_INFINITY,
      stallNs: 1e12,
      clock: /** @type {any} */ (clock),
    });
    assert.ok(recorder instanceof TraceRecorder);
    assert.equal(recorder.outcomes[OK], ops);
    const series = summarizeSeries(recorder, bound.series ?? []);
    assert.deepEqual(
      series.map(({ keys, warmup, ok }) => [keys, warmup, ok]),
      [
        [1, true, 20],
        [1, false, 20],
        [5, false, 20],
      ],
    );
    for (const { latenciesNs, medianNs, inFlightMean } of series) {
      const sorted = [...(latenciesNs ?? [])].sort((a, b) => a - b);
      assert.equal(medianNs, (sorted[9] + sorted[10]) / 2);
      assert.ok(Math.abs(inFlightMean / 4 - 1) < 0.05, `${inFlightMean} of 4`);
    }
  });
});

describe('rows of fetches', () => {
  const load = { kind: 'window', inFlight: 2, operations: 8, durationNs: null };
  /** @param {number[]} latenciesNs */
  const round = (latenciesNs) => ({
    series: [
      {
        keys: 4,
        warmup: false,
        cycles: 2,
        ok: latenciesNs.length,
        medianNs: 1,
        p90Ns: null,
        p99Ns: null,
        minNs: 1,
        maxNs: 9,
        durationNs: 1e9,
        throughput: 10,
        inFlightMean: 2,
        latenciesNs,
      },
    ],
  });
  const benchmark = { storage: 'x', profile: 'default', workload: 'mget', load };
  const result = /** @type {any} */ ({
    dataset: { valueSize: 100 },
    benchmarks: [{ ...benchmark, rounds: [round([10, 30]), round([20, 90])] }],
  });

  test('pool the fetches of all rounds, and count keys and bytes', () => {
    const [{ label, columns }] = toFetchGroups(result);
    const [row] = columns[0].rows;
    assert.equal(label, 'x');
    assert.equal(row.medianNs, 25, 'of 10, 20, 30 and 90');
    assert.deepEqual([row.n, row.keysPerSecond, row.bytesPerSecond], [4, 40, 4000]);
  });

  test('have a line by least squares, or none through a single number of keys', () => {
    const fit = fitPoints([
      [1, 110],
      [2, 120],
      [3, 130],
    ]);
    assert.ok(Math.abs((fit?.slopeNs ?? 0) - 10) < 1e-9);
    assert.ok(Math.abs((fit?.interceptNs ?? 0) - 100) < 1e-9);
    assert.equal(
      fitPoints([
        [4, 1],
        [4, 3],
      ]),
      null,
    );
  });
});
