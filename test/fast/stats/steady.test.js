/** The steady state of a series. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steadyState } from '../../../stats/steady.js';

const REST = [100, 101, 99, 100, 101, 99, 100, 101, 99, 100];

test('rest is reached when the last ten windows vary by at most 2 %', () => {
  const warmup = [20, 50, 80, 95];
  const result = steadyState([...warmup, ...REST, 100]);
  assert.equal(result.steady, true);
  // With 95 among them ten windows vary by 1.8 %, with 80 by more.
  assert.equal(result.reachedAt, 13);
  assert.ok(result.variation !== null && result.variation < 0.01);
});

test('a series that keeps climbing has no steady state', () => {
  const climbing = Array.from({ length: 40 }, (_, i) => 100 * 1.02 ** i);
  const result = steadyState(climbing);
  assert.deepEqual([result.steady, result.reachedAt], [false, null]);
  assert.ok(result.variation !== null && result.variation > 0.02);
});

test('rest that was lost again is not steady, though it was reached', () => {
  const result = steadyState([...REST, 60, 100]);
  assert.deepEqual([result.steady, result.reachedAt], [false, 10]);
});

test('fewer than ten windows and windows of nothing tell nothing', () => {
  const none = { steady: false, reachedAt: null, variation: null };
  assert.deepEqual(steadyState(REST.slice(1)), none);
  assert.deepEqual(steadyState([]), none);
  assert.deepEqual(steadyState(new Array(10).fill(0)), none);
});

test('the limit of 2 % is met from below', () => {
  // Deviation over mean of half at 1 - e and half at 1 + e is e · √(10 / 9).
  const spread = (/** @type {number} */ e) => REST.map((_, i) => (i % 2 ? 1 - e : 1 + e));
  assert.equal(steadyState(spread(0.0189)).steady, true);
  assert.equal(steadyState(spread(0.0191)).steady, false);
  assert.equal(steadyState(spread(0.0191), { limit: 0.03 }).steady, true);
  assert.equal(steadyState([50, 1, 1], { windows: 2 }).steady, true);
});
