/** Runs by slices of workloads with variants, of a mix, and beside loads that run whole. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from '../../index.js';
import { resultSchema } from '../../lib/result.js';
import { runHere } from '../helpers/run-here.js';

/** @param {import('../../lib/result.js').Round} round */
function assertExact({ scheduled, outcomes, latency }) {
  const sum = Object.values(outcomes).reduce((all, n) => all + n, 0);
  assert.equal(sum, scheduled);
  assert.equal(latency?.count, outcomes.ok);
  assert.equal(outcomes.ok, scheduled);
}

test('variants share a process; each has separate sums, kinds and compared replies', async () => {
  const result = await run(
    /** @type {any} */ ({
      workload: 'ycsb',
      core: ['a', 'c'],
      inFlight: [1, 8],
      rows: 300,
      valueSize: 64,
      storages: ['memory', 'memory:sync'],
      rounds: 2,
      warmup: 50,
      precision: 0.03,
      budget: 3000,
    }),
  );
  resultSchema.parse(JSON.parse(JSON.stringify(result)));
  assert.equal(result.state, 'complete');
  assert.equal(result.comparison?.loads.length, 4);
  assert.deepEqual(
    result.comparison?.loads.map(
      ({ parameters, inFlight }) => `${parameters?.['core']}${inFlight}`,
    ),
    ['a1', 'a8', 'c1', 'c8'],
  );
  assert.equal(result.benchmarks.length, 8);
  for (const { id, rounds, parameters, state } of result.benchmarks) {
    assert.deepEqual([id, state, rounds.length], [id, 'measured', 2]);
    for (const round of rounds) {
      assertExact(round);
      const kinds = Object.fromEntries((round.kinds ?? []).map(({ name, ok }) => [name, ok]));
      assert.equal(
        Object.values(kinds).reduce((sum, n) => sum + n, 0),
        round.outcomes.ok,
      );
      assert.equal(round.compared?.replies, kinds['read'], id);
      assert.equal(kinds['update'] > 0, parameters?.['core'] === 'a', id);
    }
  }
  for (const { contenders } of result.comparison?.loads ?? []) {
    const again = contenders.filter(({ group }) => group === 'again');
    assert.equal(again.length, 1);
    for (const { rounds } of contenders) assert.equal(rounds.length, 2);
  }
});

test('a mix is sliced', async () => {
  const result = await runHere(
    /** @type {any} */ ({
      workload: 'mix',
      mix: 'get:80,set:20',
      rows: 300,
      storages: ['memory:sync', 'memory'],
      loads: [{ kind: 'sync' }],
      rounds: 2,
      warmup: 50,
      precision: 0.03,
      budget: 1000,
    }),
  );
  for (const { rounds, id } of result.benchmarks) {
    assert.equal(rounds.length, 2, id);
    for (const round of rounds) {
      assertExact(round);
      assert.deepEqual(
        round.kinds?.map(({ ok }) => ok > 0),
        [true, true],
      );
    }
  }
});

test('unsliceable variants run whole, once per round, and the result states it', async () => {
  const result = await runHere({
    storages: ['memory', 'memory:sync'],
    rows: 200,
    rounds: 2,
    warmup: 50,
    precision: 0.03,
    budget: 3000,
    loads: [
      { kind: 'sync' },
      { kind: 'burst', operations: 400 },
      { kind: 'rate', rate: 2000, durationMs: 100 },
    ],
  });
  resultSchema.parse(JSON.parse(JSON.stringify(result)));
  assert.equal(result.comparison?.loads.length, 1);
  const reasons = new Map(
    result.comparison?.whole?.map(({ benchmark, reason }) => [benchmark, reason]),
  );
  assert.equal(reasons.size, 4);
  for (const { id, load, rounds, state } of result.benchmarks) {
    assert.deepEqual([id, state, rounds.length], [id, 'measured', 2]);
    assert.equal(reasons.has(id), load.kind !== 'sync', id);
    for (const round of rounds) assertExact(round);
    if (load.kind === 'burst') assert.equal(rounds[0].scheduled, 400);
    if (load.kind === 'rate') assert.ok(rounds[0].open !== undefined);
  }
});

test('codecs are sliced: each has its fixtures, allocation and comparisons', async () => {
  const result = await runHere(
    /** @type {any} */ ({
      workload: 'codec',
      test: 'decoding',
      protocols: ['messagepack'],
      rounds: 2,
      warmup: 5,
      precision: 0.03,
      budget: 3000,
      fixtures: ['sets'],
    }),
  );
  const ran = result.benchmarks.filter(({ state }) => state !== 'skipped');
  assert.ok(ran.length > 3);
  for (const { id, rounds, state } of ran) {
    assert.deepEqual([id, state, rounds.length], [id, 'measured', 2]);
    for (const round of rounds) {
      assertExact(round);
      assert.ok(Number(round.metrics?.['bytes']) > 0, id);
      // The processes of all rounds are alike: that of the first one compares.
      assert.equal((round.compared?.bytes ?? 0) > 0, round.round === 0, id);
    }
  }
});

test('fetches of many keys are sliced by their number of keys: a round has a series per number', async () => {
  const result = await runHere(
    /** @type {any} */ ({
      workload: 'mget',
      test: 'concurrency',
      counts: [1, 20],
      inFlight: [1, 8],
      storages: ['memory', 'memory:sync'],
      rows: 300,
      valueSize: 64,
      pipelined: true,
      rounds: 2,
      warmup: 50,
      budget: 3000,
    }),
  );
  resultSchema.parse(JSON.parse(JSON.stringify(result)));
  assert.equal(result.comparison?.loads.length, 8, 'keys × in flight × ways');
  assert.equal(result.benchmarks.length, 8);
  for (const { id, rounds, state, load } of result.benchmarks) {
    assert.deepEqual([id, state, rounds.length], [id, 'measured', 2]);
    for (const round of rounds) {
      assertExact(round);
      const { series = [], compared } = round;
      assert.deepEqual(
        series.map(({ keys, warmup }) => [keys, warmup]),
        [
          [1, false],
          [20, false],
        ],
      );
      const fetched = series.reduce((sum, { ok, keys }) => sum + ok * Number(keys), 0);
      assert.equal(compared?.replies, fetched, id);
      for (const { ok, latency, inFlightMean } of series) {
        assert.equal(latency?.count, ok);
        const most = load.inFlight ?? 1;
        assert.ok(inFlightMean > 0 && inFlightMean <= most * 1.001, `${id}: ${inFlightMean}`);
      }
    }
  }
});

test('a scatter runs whole, and its result has the reason', async () => {
  const options = { workload: 'mget', test: 'scatter', storages: ['memory'], rows: 300, rounds: 2 };
  const { comparison, options: stored } = await run(
    /** @type {any} */ ({ ...options, maxKeys: 5 }),
  );
  assert.equal(comparison, undefined);
  assert.match(String(stored['whole']), /its own number of keys/);
  await assert.rejects(
    run(/** @type {any} */ ({ ...options, precision: 0.03 })),
    /--precision cannot be used here: each fetch of a scatter has its own number of keys/,
  );
  await assert.rejects(
    run(/** @type {any} */ ({ ...options, test: 'concurrency', cycles: 100, budget: 3000 })),
    /--budget cannot be used here: --cycles fixes the amount/,
  );
});
