/** Outliers: what lies too many median absolute deviations away. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOutliers } from '../../../stats/outlier.js';

test('the three known answers come out: two, none and one', () => {
  const most = findOutliers([10, 10, 10, 10, 10, 10, 10, 100, 100]);
  assert.deepEqual([most.count, most.mad, most.indexes], [2, 0, [7, 8]]);
  assert.equal(findOutliers([-0.2, 0, 0.2]).count, 0);
  assert.deepEqual(findOutliers([-0.2, 0, 0.2, 4]).indexes, [3]);
});

test('the limit is 14.826 median absolute deviations, and it may be another', () => {
  assert.equal(findOutliers([-1, 0, 1, -1, 1, 14.8]).count, 0);
  assert.equal(findOutliers([-1, 0, 1, -1, 1, 0, 14.9]).count, 1);
  assert.equal(findOutliers([-1, 0, 1, -1, 1, 0, 14.9], { limit: 20 }).count, 0);
});

test('equal values and no values have no outlier', () => {
  assert.equal(findOutliers([3, 3, 3]).count, 0);
  assert.deepEqual(findOutliers([]), { count: 0, indexes: [], median: null, mad: null });
});

test('the values are left as they are, and one that is not finite is refused', () => {
  const values = Object.freeze([3, 1, 2]);
  findOutliers(values);
  assert.deepEqual(values, [3, 1, 2]);
  assert.throws(() => findOutliers([Number.NaN]), { code: 'E_USAGE' });
});
