/** The cost of full comparisons, by a clock that the work itself advances. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OK } from '../../../lib/outcome.js';
import { COST_AIM, ComparisonCost, EVERY_MAX } from '../../../load/comparison-cost.js';
import { FullComparisons } from '../../../load/full-comparisons.js';
import { runLoad, WHOLE_EVERY } from '../../../load/load.js';
import { runHere } from '../../helpers/run-here.js';

const TAG_NS = 100;
const OPERATIONS = 20_000;
/** Replies that are compared together. */
const BATCH = 64;
/** Enough for a share within 10 %. */
const COMPARED_BATCHES = 200;

/** Times of the clock, and CPU time. */
let timeNs = 0;
const newCost = () => new ComparisonCost(() => ({ userNs: timeNs, systemNs: 0 }));

/**
 * @param {{ operationNs?: number, wholeNs?: number }} work
 * @param {Partial<import('../../../load/load.js').LoadOptions>} options
 * @returns {Promise<boolean[]>} whether each reply was compared in full
 */
async function play({ operationNs = 500, wholeNs = 100 }, options) {
  /** @type {boolean[]} */
  const inFull = [];
  await runLoad({
    op: (index) => {
      timeNs += operationNs;
      return options.calls === 'sync' ? index : Promise.resolve(index);
    },
    verify: (_index, _reply, whole) => {
      inFull.push(whole);
      timeNs += whole ? TAG_NS + wholeNs : TAG_NS;
      return OK;
    },
    calls: 'promise',
    kind: 'window',
    inFlight: 100,
    operations: OPERATIONS,
    durationNs: Number.POSITIVE_INFINITY,
    stallNs: 1e15,
    replyBytes: 1024,
    clock: { now: () => timeNs, date: () => '' },
    ...options,
  });
  return inFull;
}

/** @param {readonly boolean[]} inFull */
const shareOf = (inFull) => inFull.filter(Boolean).length / inFull.length;

test('a warm-up compares one batch in 16, and returns the share that costs 2 %', async () => {
  for (const [work, every] of /** @type {const} */ ([
    [{ operationNs: 500, wholeNs: 100 }, 17],
    [{ operationNs: 500, wholeNs: 50 }, 9],
    [{ operationNs: 10_000, wholeNs: 100 }, 1],
    [{ operationNs: 22_000, wholeNs: 400 }, 2],
    [{ operationNs: 20, wholeNs: 100 }, EVERY_MAX],
    [{ operationNs: 500, wholeNs: 0 }, 1],
  ])) {
    const cost = newCost();
    const warmup = await play(work, { cost });
    assert.ok(Math.abs(shareOf(warmup) - 1 / 16) < 0.01, `${shareOf(warmup)}`);
    assert.equal(cost.every(), every, JSON.stringify(work));
    const expected = 1 / Math.max(WHOLE_EVERY.small, every);
    const operations = (BATCH * COMPARED_BATCHES) / expected;
    const whole = shareOf(await play(work, { wholeEvery: every, operations }));
    assert.ok(Math.abs(whole / expected - 1) < 0.1, `${whole} in full, not ${expected}`);
    if (every === EVERY_MAX) continue;
    assert.ok(whole * work.wholeNs < 1.1 * COST_AIM * (work.operationNs + TAG_NS));
  }
});

test('the slow first operations are excluded from the cost', async () => {
  const cost = newCost();
  await play({ operationNs: 50_000, wholeNs: 5000 }, { cost, operations: 19_200 });
  await play({}, { cost });
  assert.equal(cost.every(), 17);
});

test('pauses between loads and waiting are not part of an operation', () => {
  let cpuNs = 0;
  const cost = new ComparisonCost(() => ({ userNs: 0, systemNs: cpuNs }));
  for (let load = 0, ns = 0; load < 40; load += 1) {
    cpuNs += 1e9;
    cost.restart();
    for (let batch = 0; batch < 7; batch += 1) {
      const verifyNs = cost.isWhole() ? 110 : 10;
      ns += 64 * 9000;
      cpuNs += 64 * (500 + verifyNs);
      cost.add(ns, ns + 64 * verifyNs, 64);
    }
  }
  assert.equal(cost.every(), Math.ceil(100 / (COST_AIM * 510)));
});

test('few batches, or individually verified replies, give no result', async () => {
  const few = newCost();
  await play({}, { cost: few, operations: 3000 });
  assert.equal(few.every(), 1);
  for (const alone of [{ calls: /** @type {const} */ ('sync') }, { replyBytes: 1e6 }]) {
    const cost = newCost();
    const comparisons = new FullComparisons(7);
    const inFull = await play({}, { cost, comparisons, ...alone });
    assert.equal(cost.every(), 1);
    const expected = new FullComparisons(7);
    const drawn = inFull.map(() => expected.next(WHOLE_EVERY.others));
    assert.deepEqual(inFull, drawn);
  }
});

test('the process measures it before the rounds, and the result has the share', async () => {
  const { benchmarks } = await runHere({
    storages: ['memory'],
    rows: 500,
    valueSize: 1024,
    loads: [{ kind: 'window', inFlight: 20, operations: 60_000 }],
    rounds: 1,
    anyway: true,
  });
  assert.ok(benchmarks.length > 0);
  for (const { id, rounds } of benchmarks) {
    const { replies = 0, whole = 0 } = rounds[0].compared ?? {};
    assert.ok(replies >= 60_000, id);
    // A promise of an array's value takes less than ten times as long as the comparison.
    assert.ok(whole < replies / 5, `${id}: ${whole} of ${replies} in full`);
    assert.ok(whole > replies / (1.2 * EVERY_MAX), `${id}: ${whole} of ${replies} in full`);
  }
});
