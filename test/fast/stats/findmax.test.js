/** The greatest rate within a limit, found on systems whose answer is known. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRandom } from '../../../lib/random.js';
import { Histogram } from '../../../measure/histogram.js';
import { findMax, POINTS_MAX } from '../../../stats/findmax.js';

const MU = 10_000;
const LIMIT_NS = 5e6;
/** The response time of M/M/1 is exponential with µ − λ: p99 = ln(100) / (µ − λ). */
const ANSWER = MU - Math.log(100) / (LIMIT_NS / 1e9);

/**
 * A simulated M/M/1 queue: Lindley's recursion, W' = max(0, W + S − A).
 * @param {number} lambda arrivals a second
 * @param {number} seed
 * @param {number} [operations]
 * @returns {number} p99 of the response time, ns
 */
function simulateP99(lambda, seed, operations = 200_000) {
  const random = createRandom(seed, 0x6d6d);
  const exponential = (/** @type {number} */ rate) => -Math.log1p(-random() / 2 ** 32) / rate;
  const histogram = new Histogram();
  let wait = 0;
  for (let i = 0; i < operations; i += 1) {
    const service = exponential(MU);
    histogram.record((wait + service) * 1e9);
    wait = Math.max(0, wait + service - exponential(lambda));
  }
  return histogram.percentile(0.99);
}

/**
 * @template {{ passed: boolean }} T
 * @param {(rate: number) => T} trial
 * @param {Parameters<typeof findMax<T>>[0]} options
 */
function search(trial, options) {
  const steps = findMax(options);
  let next = steps.next();
  while (!next.done) next = steps.next(trial(next.value));
  return next.value;
}

/**
 * @param {(about: { rate: number, isConfirm: boolean, isBeyond: boolean }) => boolean} passes
 *   isConfirm: the rate passed before; isBeyond: that was confirmed, and this is above it
 * @param {{ pointsMax?: number }} [options]
 */
function searchByPhase(passes, options = {}) {
  const passed = new Set();
  let isBeyond = false;
  return search((rate) => ({ passed: passes({ rate, isConfirm: passed.has(rate), isBeyond }) }), {
    start: 1000,
    ...options,
    onPoint(point) {
      isBeyond = point.phase === 'confirm' && point.passed;
      if (point.passed) passed.add(point.rate);
    },
  });
}

/** @param {number} seed */
function simulatedProbe(seed) {
  let trials = 0;
  return (/** @type {number} */ rate) => {
    trials += 1;
    const latencyNs = simulateP99(rate, seed + trials);
    return { passed: latencyNs <= LIMIT_NS, latencyNs };
  };
}

test('the simulation itself has the p99 of the formula', () => {
  for (const lambda of [1000, 5000, 8000, 9000]) {
    const expected = (Math.log(100) / (MU - lambda)) * 1e9;
    const p99 = simulateP99(lambda, 1, 1_000_000);
    assert.ok(Math.abs(p99 / expected - 1) < 0.05, `${lambda}/s: ${p99} against ${expected}`);
  }
});

for (const [seed, start] of [
  [1, 1000],
  [2, 100],
  [3, 40_000],
]) {
  test(`M/M/1 at µ 10,000/s, p99 within 5 ms: 9,079/s to 3 % (from ${start}/s)`, () => {
    const { rate, confirmed, points, reason } = search(simulatedProbe(seed * 1000), { start });
    assert.equal(Math.round(ANSWER), 9079);
    assert.ok(rate !== null && Math.abs(rate / ANSWER - 1) < 0.03, `${rate}`);
    assert.equal(confirmed, true, `${reason}`);
    assert.ok(points.length <= POINTS_MAX);
    const beyond = points.at(-1);
    assert.equal(beyond?.phase, 'beyond');
    assert.equal(beyond?.passed, false);
    assert.ok(Math.abs((beyond?.rate ?? 0) / rate - 1.05) < 1e-3, 'it fails 5 % above');
    const confirm = points.at(-2);
    assert.deepEqual([confirm?.phase, confirm?.passed, confirm?.rate], ['confirm', true, rate]);
  });
}

describe('a server with a sharp edge', () => {
  /** @param {number} edge */
  const edgeAt = (edge) => {
    let trials = 0;
    return {
      probe: (/** @type {number} */ rate) => {
        trials += 1;
        return { passed: rate <= edge };
      },
      trials: () => trials,
    };
  };

  for (const edge of [37, 999, 1000, 1001, 8765, 123_456, 7_654_321]) {
    test(`at ${edge}/s is found to 1 %, below it`, () => {
      const { probe, trials } = edgeAt(edge);
      const { rate, confirmed, points } = search(probe, { start: 500 });
      assert.ok(rate !== null && rate <= edge && rate >= edge / 1.0101, `${rate}`);
      assert.equal(confirmed, true);
      assert.equal(trials(), points.length * 2, 'two trials that agree are enough');
    });
  }

  test('if every rate passes, or none, it is reported and the search ends', () => {
    const all = search(() => ({ passed: true }), { start: 1000 });
    assert.deepEqual([all.rate, all.confirmed], [1e7, false]);
    assert.match(String(all.reason), /higher rates are not tried/);
    const none = search(() => ({ passed: false }), { start: 1000 });
    assert.deepEqual([none.rate, none.confirmed], [null, false]);
    assert.match(String(none.reason), /62\.5 per second already exceeds/);
    assert.equal(none.points.length, 5);
  });
});

test('a point is the best two of three', () => {
  const verdicts = [true, false, true, false, true, false];
  const { points } = search(() => ({ passed: verdicts.shift() ?? false }), {
    start: 1000,
    pointsMax: 2,
  });
  assert.deepEqual(
    points.map(({ passed, trials }) => [passed, trials.map((trial) => trial.passed)]),
    [
      [true, [true, false, true]],
      [false, [false, true, false]],
    ],
  );
});

test('luck is not the result: a failed confirmation continues below', () => {
  // Until the first confirmation the edge seems to be 4,000, then it is 3,000.
  let edge = 4000;
  const { rate, confirmed, points } = searchByPhase(({ rate: candidate, isConfirm }) => {
    if (isConfirm) edge = 3000;
    return candidate <= edge;
  });
  assert.ok(rate !== null && rate <= 3000 && rate > 2970, `${rate}`);
  assert.equal(confirmed, true);
  assert.ok(points.some(({ phase, passed }) => phase === 'confirm' && !passed));
});

test('if 5 % above passes after all, the search continues there', () => {
  let edge = 3000;
  const { rate, confirmed } = searchByPhase(({ rate: candidate, isBeyond }) => {
    if (isBeyond) edge = 4000;
    return candidate <= edge;
  });
  assert.ok(rate !== null && rate <= 4000 && rate > 3960, `${rate}`);
  assert.equal(confirmed, true);
});

test('if nothing passes after a refuted result, there is none', () => {
  let isRefuted = false;
  const { rate, confirmed } = searchByPhase(({ rate: candidate, isConfirm }) => {
    if (isConfirm) isRefuted = true;
    return !isRefuted && candidate <= 3000;
  });
  assert.deepEqual([rate, confirmed], [null, false]);
});

test('the number of points is limited without agreement, and the result states it', () => {
  const { rate, confirmed, reason, points } = searchByPhase(
    ({ rate: candidate, isConfirm }) => !isConfirm && candidate <= 3000,
    { pointsMax: 12 },
  );
  assert.equal(points.length, 12);
  assert.equal(confirmed, false);
  assert.ok(rate === null || rate <= 3000);
  assert.match(String(reason), /no end after 12 points/);
});
