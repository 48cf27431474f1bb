/** Coordinated omission: what a stall hides and what the correction restores. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correctOmission, correctOmissionCounts } from '../../../lib/analysis/omission.js';
import { isPrintable, percentile } from '../../../lib/analysis/percentile.js';

const MS = 1e6;
const SECOND = 1e9;

test('the known answer: 10,000 of 1 ms and one of 100 s at 10 ms become 20,000 values', () => {
  const values = [...new Array(10_000).fill(MS), 100 * SECOND];
  const corrected = correctOmission(values, 10 * MS);
  assert.equal(corrected.length, 20_000);
  assert.equal(percentile(corrected, 0.5), MS);
  assert.equal(percentile(corrected, 0.75), 50 * SECOND);
  assert.equal(percentile(corrected, 0.9), 80 * SECOND);
  assert.equal(percentile(corrected, 0.99), 98 * SECOND);
  // Uncorrected, the stall of 100 s is not even seen by the 99.9th percentile.
  assert.equal(percentile(values, 0.999), MS);
});

test('counted values are corrected as the values one by one', () => {
  const values = [1, 25, 25, 30, 9];
  const counts = correctOmissionCounts(
    [
      [1, 1],
      [25, 2],
      [30, 1],
      [9, 1],
    ],
    10,
  );
  assert.deepEqual(counts, [
    [1, 1],
    [9, 1],
    [10, 1],
    [15, 2],
    [20, 1],
    [25, 2],
    [30, 1],
  ]);
  const listed = counts.flatMap(([value, count]) => new Array(count).fill(value));
  assert.deepEqual(correctOmission(values, 10), listed);
});

test('values up to the interval, and just below twice it, stand for themselves', () => {
  assert.deepEqual(correctOmission([10, 3], 10), [3, 10]);
  assert.deepEqual(correctOmission([19.5], 10), [19.5]);
  assert.deepEqual(correctOmission([20], 10), [10, 20]);
  assert.deepEqual(correctOmission([], 10), []);
});

test('an interval of zero or one that is far too short is refused before memory runs out', () => {
  assert.throws(() => correctOmission([1], 0), { code: 'E_USAGE' });
  assert.throws(() => correctOmission([Number.NaN], 1), { code: 'E_USAGE' });
  assert.throws(() => correctOmission([3600 * SECOND], 1000), { code: 'E_USAGE' });
});

test('a percentile is printable only with ten values beyond it', () => {
  assert.equal(isPrintable(1000, 0.99), true);
  assert.equal(isPrintable(999, 0.99), false);
  assert.equal(isPrintable(10_000, 0.999), true);
  // 100,000 × (1 - 0.9999) is 9.99999999999889 in floating point, yet it means ten.
  assert.equal(isPrintable(100_000, 0.9999), true);
  assert.equal(isPrintable(99_999, 0.9999), false);
  assert.equal(isPrintable(20, 0.5), true);
  assert.equal(isPrintable(0, 0.5), false);
  assert.throws(() => isPrintable(10, 99), { code: 'E_USAGE' });
});

test('a percentile is the value of nearest rank', () => {
  assert.equal(percentile([], 0.5), null);
  assert.equal(percentile([7], 0), 7);
  assert.equal(percentile([1, 2, 3, 4], 0.5), 2);
  assert.equal(percentile([1, 2, 3, 4], 0.51), 3);
  assert.equal(percentile([1, 2, 3, 4], 1), 4);
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  for (let q = 1; q <= 100; q += 1) assert.equal(percentile(hundred, q / 100), q, `p${q}`);
});
