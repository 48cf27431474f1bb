/** Percentiles of lists: the nearest rank, and which may be printed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  medianOfSorted,
  percentile,
  printablePercentile,
  upperMedian,
} from '../../../stats/percentile.js';

const TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

test('a percentile is the smallest value that as large a share does not exceed', () => {
  const found = [0, 0.05, 0.1, 0.11, 0.5, 0.9, 0.91, 1].map((q) => percentile(TEN, q));
  assert.deepEqual(found, [1, 1, 1, 2, 5, 9, 10, 10]);
  assert.equal(percentile([], 0.5), null);
  assert.throws(() => percentile(TEN, 1.01), { code: 'E_USAGE' });
});

test('it is printed if ten values are above it', () => {
  const values = Array.from({ length: 1000 }, (_, i) => i + 1);
  assert.equal(printablePercentile(values, 0.99), 990);
  assert.equal(printablePercentile(values.slice(1), 0.99), null);
  // 100,000 × (1 - 0.9999) is just below 10.
  assert.equal(printablePercentile(Array(100_000).fill(7), 0.9999), 7);
});

test('the median of an even number is the mean of the middle ones, or the upper one', () => {
  assert.deepEqual(
    [medianOfSorted(TEN), medianOfSorted([1, 2, 9]), medianOfSorted([])],
    [5.5, 2, null],
  );
  assert.deepEqual(
    [upperMedian([9, 1, 5, 3]), upperMedian([3, 1, 2]), upperMedian([])],
    [5, 2, null],
  );
});
