/** Kneedle on curves whose knee is known: from its paper, and by calculus. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kneedle } from '../../../stats/kneedle.js';

/**
 * @param {readonly number[]} xs
 * @param {(x: number) => number} f
 */
const curve = (xs, f) => xs.map((x) => ({ x, y: f(x) }));
const upTo = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => i + 1);

test('the curve of figure 2 of the paper, -1/(x + 0.1) + 5, has its knee at 0.22', () => {
  const xs = Array.from({ length: 10 }, (_, i) => i / 9);
  const { state, x } = kneedle(curve(xs, (one) => -1 / (one + 0.1) + 5));
  assert.equal(state, 'knee');
  assert.equal(Number(x).toFixed(2), '0.22');
});

test('a server that saturates at N* has its knee there, whatever its capacity', () => {
  for (const knee of [4, 10, 30]) {
    for (const capacity of [1, 120_000]) {
      const f = (/** @type {number} */ x) => capacity * Math.min(1, x / knee);
      assert.deepEqual(kneedle(curve(upTo(100), f)), { state: 'knee', x: knee });
    }
  }
});

test('N / (N + K) up to M has its knee at √((1 + K)(M + K)) − K, where it rises as its chord', () => {
  for (const [k, m] of [
    [5, 100],
    [20, 400],
  ]) {
    const { x } = kneedle(curve(upTo(m), (n) => n / (n + k)));
    assert.equal(x, Math.round(Math.sqrt((1 + k) * (m + k)) - k));
  }
});

test('the order of the points, their unit, and a fall after the knee do not matter', () => {
  const points = [
    { x: 1, y: 20 },
    { x: 10, y: 90 },
    { x: 100, y: 160 },
    { x: 1000, y: 165 },
  ];
  const knee = { state: 'knee', x: 100 };
  assert.deepEqual(kneedle(points), knee);
  assert.deepEqual(kneedle([...points].reverse()), knee);
  assert.deepEqual(kneedle(points.map(({ x, y }) => ({ x, y: y * 1e6 }))), knee);
  assert.deepEqual(kneedle([...points.slice(0, 3), { x: 1000, y: 110 }]), knee);
});

test('of two knees the one farther above the straight line counts', () => {
  const ys = [0, 25, 50, 50, 50, 75, 100, 100, 100, 100, 100];
  assert.deepEqual(kneedle(ys.map((y, x) => ({ x, y }))), { state: 'knee', x: 6 });
});

test('no knee: a line, a root that still rises, a flat curve, too few points', () => {
  assert.deepEqual(kneedle(curve([1, 4, 16], (x) => 3 * x)), { state: 'rising', x: null });
  assert.equal(kneedle(curve([1, 10, 100, 1000], Math.sqrt)).state, 'rising');
  assert.deepEqual(
    kneedle(curve([1, 10, 100, 1000], (x) => 100 + Math.sin(x))),
    { state: 'flat', x: null },
    'noise of 1 % is no rise',
  );
  assert.equal(kneedle(curve([1, 10, 100], (x) => 100 - x)).state, 'flat');
  assert.deepEqual(kneedle(curve([1, 10], Math.log)), { state: 'few', x: null });
  assert.equal(kneedle([]).state, 'few');
});
