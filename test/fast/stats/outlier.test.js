/** Outliers: what lies too many median absolute deviations away. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOutliers } from '../../../stats/outlier.js';

test('the three known results: two, none and one', () => {
  assert.deepEqual(findOutliers([10, 10, 10, 10, 10, 10, 10, 100, 100]), [7, 8]);
  assert.deepEqual(findOutliers([-0.2, 0, 0.2]), []);
  assert.deepEqual(findOutliers([-0.2, 0, 0.2, 4]), [3]);
});

test('the limit is 14.826 median absolute deviations', () => {
  assert.deepEqual(findOutliers([-1, 0, 1, -1, 1, 14.8]), []);
  assert.deepEqual(findOutliers([-1, 0, 1, -1, 1, 0, 14.9]), [6]);
});

test('equal values and no values have no outlier', () => {
  assert.deepEqual(findOutliers([3, 3, 3]), []);
  assert.deepEqual(findOutliers([]), []);
});

test('the values are not changed, and a non-finite one is refused', () => {
  const values = Object.freeze([3, 1, 2]);
  findOutliers(values);
  assert.deepEqual(values, [3, 1, 2]);
  assert.throws(() => findOutliers([Number.NaN]), { code: 'E_USAGE' });
});
