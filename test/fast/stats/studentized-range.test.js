/** The studentised range, against tables and exact cases. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { studentQuantile, studentTail } from '../../../stats/distributions.js';
import {
  studentizedRangeQuantile,
  studentizedRangeTail,
} from '../../../stats/studentized-range.js';
import { assertNear as near } from './near.js';

describe('the studentised range', () => {
  test('quantiles as in the tables (H. L. Harter, 1960)', () => {
    const table = [
      [0.95, 2, 10, 3.151],
      [0.95, 3, 10, 3.877],
      [0.95, 4, 20, 3.958],
      [0.95, 10, 20, 5.008],
      [0.99, 5, 10, 6.136],
      [0.95, 20, 60, 5.241],
      [0.95, 3, 120, 3.356],
    ];
    for (const [p, k, df, q] of table) near(studentizedRangeQuantile(p, k, df), q, 6e-4);
  });

  test('of two means it is √2 times Student’s t', () => {
    for (const df of [1, 2, 5, 7, 30, 200]) {
      for (const t of [0.5, 2, 5]) {
        const difference = studentizedRangeTail(t * Math.SQRT2, 2, df) - 2 * studentTail(t, df);
        assert.ok(Math.abs(difference) < 1e-8, `${df}, ${t}: off by ${difference}`);
      }
      near(studentizedRangeQuantile(0.95, 2, df) / Math.SQRT2, studentQuantile(0.975, df), 1e-6);
    }
  });

  test('falls with the width and rises with the number of means', () => {
    assert.equal(studentizedRangeTail(0, 3, 10), 1);
    assert.ok(studentizedRangeTail(3, 3, 10) > studentizedRangeTail(4, 3, 10));
    assert.ok(studentizedRangeTail(3, 3, 10) < studentizedRangeTail(3, 4, 10));
    assert.throws(() => studentizedRangeTail(3, 1, 10), { code: 'E_USAGE' });
    assert.throws(() => studentizedRangeTail(3, 2, 0), { code: 'E_USAGE' });
  });
});
