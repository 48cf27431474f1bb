/** The studentised range and Fisher's F, against tables, other programs and exact cases. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fTail, logGamma, regularizedBeta } from '../../../stats/beta.js';
import { studentQuantile, studentTail } from '../../../stats/student.js';
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
        assert.ok(Math.abs(difference) < 1e-11, `${df}, ${t}: off by ${difference}`);
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

describe('the incomplete beta function', () => {
  test('ln Γ at whole and half numbers', () => {
    near(logGamma(5), Math.log(24), 1e-13);
    near(logGamma(0.5), Math.log(Math.PI) / 2, 1e-13);
    near(logGamma(0.25), 1.2880225246980774, 1e-13);
    near(logGamma(171), 706.5730622457874, 1e-11);
  });

  test('of one parameter 1 it is a power', () => {
    near(regularizedBeta(0.3, 2.5, 1), 0.3 ** 2.5, 1e-14);
    near(regularizedBeta(0.3, 1, 4), 1 - 0.7 ** 4, 1e-14);
    assert.equal(regularizedBeta(0, 2, 3), 0);
    assert.equal(regularizedBeta(1, 2, 3), 1);
  });

  test('F with one degree of freedom is the square of Student’s t', () => {
    for (const df of [1, 4, 21, 300]) near(fTail(2.3 ** 2, 1, df), 2 * studentTail(2.3, df), 1e-12);
    near(fTail(3.478, 4, 10), 0.05, 1e-4);
    assert.equal(fTail(0, 3, 4), 1);
    assert.throws(() => fTail(1, 0, 4), { code: 'E_USAGE' });
  });
});
