/** Student's t and Fisher's F, held to tables, exact cases and each other. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fTail,
  logGamma,
  normalShare,
  studentQuantile,
  studentTail,
} from '../../../stats/distributions.js';
import { assertNear } from './near.js';

const LEVELS = [0.8, 0.95, 0.975, 0.995, 0.9995];

// Computed with 30 digits (mpmath) by bisection of the regularized incomplete beta function.
/** @type {[number, number[]][]} */
const TABLE = [
  [1, [1.3763819204712, 6.313751514675, 12.7062047361747, 63.656741162872, 636.61924876872]],
  [2, [1.0606601717798, 2.9199855803537, 4.3026527297495, 9.9248432009183, 31.599054576444]],
  [3, [0.9784723123633, 2.3533634348018, 3.18244630528371, 5.8409093097334, 12.923978636687]],
  [4, [0.94096457723518, 2.13184678632665, 2.7764451051978, 4.60409487135, 8.6103015813793]],
  [5, [0.919543780240826, 2.015048373333, 2.5705818356363, 4.0321429835552, 6.86882662588111]],
  [6, [0.90570328518053, 1.9431802805153, 2.44691185114497, 3.70742802132478, 5.95881617881876]],
  [9, [0.88340385968553, 1.8331129326562, 2.2621571627982, 3.2498355415921, 4.7809125859311]],
  [10, [0.87905782855059, 1.8124611228117, 2.2281388519863, 3.169272672617, 4.5868938587026]],
  [29, [0.85419198588186, 1.6991270265335, 2.0452296421327, 2.7563859036706, 3.6594050194663]],
  [59, [0.84775594938139, 1.6710930321039, 2.0009953780883, 2.661758752163, 3.4632103049519]],
  [99, [0.8452670319535, 1.660391156017, 1.9842169515864, 2.6264054572808, 3.3915288333637]],
  [999, [0.84198118225895, 1.6463803454275, 1.96234146113345, 2.5807596372676, 3.3002924403987]],
  [5.58462, [0.910809803832305, 1.969373717656, 2.4917135830392, 3.8233876172531, 6.2769688951778]],
];

test('quantiles of Student t agree with tables to 4e-8, also for fractional degrees of freedom', () => {
  for (const [df, row] of TABLE) {
    for (const [i, expected] of row.entries()) {
      assertNear(studentQuantile(LEVELS[i], df), expected, 4e-8, `t(${LEVELS[i]}, ${df})`);
      assertNear(studentQuantile(1 - LEVELS[i], df), -expected, 4e-8, `lower t, ${df}`);
    }
  }
});

test('one and two degrees of freedom agree with their closed forms', () => {
  for (const p of [0.501, 0.6, 0.9, 0.99, 0.999999]) {
    assertNear(studentQuantile(p, 1), Math.tan(Math.PI * (p - 0.5)), 4e-8, 'Cauchy');
    const closed = (2 * p - 1) / Math.sqrt(2 * p * (1 - p));
    assertNear(studentQuantile(p, 2), closed, 4e-8, 'two degrees');
  }
});

test('the quantile and the tail are inverse to each other from 1e-12 to 0.1', () => {
  for (const df of [1, 2.5, 4, 17, 400, 12_345.6]) {
    for (let exponent = -1; exponent >= -12; exponent -= 1) {
      const t = -studentQuantile(10 ** exponent, df);
      assertNear(studentTail(t, df), 10 ** exponent, 1e-6, `tail 1e${exponent}, ${df}`);
    }
  }
});

test('tails with exact fractions agree to 1e-7', () => {
  assertNear(studentTail(1, 1), 1 / 4, 1e-7);
  assertNear(studentTail(Math.sqrt(3), 1), 1 / 6, 1e-7);
  assertNear(studentTail(2, 2), 0.5 - 1 / Math.sqrt(6), 1e-7);
});

test('with many degrees of freedom Student t becomes the normal distribution', () => {
  assertNear(studentQuantile(0.975, 1e5), 1.9599877075346095, 4e-8);
  assertNear(studentQuantile(0.975, 1e7), 1.959964221767205, 4e-8);
  assertNear(studentTail(1.5, 1e6), normalShare(-1.5), 5e-6);
});

test('the tail is symmetric and defined at the ends', () => {
  assert.equal(studentTail(0, 3), 0.5);
  assert.equal(studentTail(Infinity, 3), 0);
  assert.equal(studentTail(-Infinity, 3), 1);
  assertNear(studentTail(-2, 7) + studentTail(2, 7), 1, 1e-15);
  assert.equal(studentQuantile(0.5, 3), 0);
});

test('the normal share and ln Γ at known values', () => {
  for (const [z, expected] of [
    [0, 0.5],
    [0.5, 0.3085375387259869],
    [1.96, 0.024997895148220435],
    [3, 0.0013498980316300933],
    [5, 2.866515718791939e-7],
  ]) {
    assert.ok(Math.abs(normalShare(-z) - expected) < 2e-16, `z ${z}`);
    assert.ok(Math.abs(normalShare(z) - (1 - expected)) < 4e-16, `z ${z}`);
  }
  assertNear(logGamma(5), Math.log(24), 1e-12);
  assertNear(logGamma(0.25), 1.2880225246980774, 1e-12);
  assertNear(logGamma(171), 706.5730622457874, 1e-12);
});

test('F with one degree of freedom is the square of Student’s t', () => {
  for (const df of [1, 4, 21, 300]) {
    assertNear(fTail(2.3 ** 2, 1, df), 2 * studentTail(2.3, df), 1e-7);
  }
  assertNear(fTail(3.478, 4, 10), 0.05, 1e-4);
  assert.equal(fTail(0, 3, 4), 1);
});

test('a level or degrees of freedom out of range are refused with a usage error', () => {
  for (const p of [0, 1, -0.1, Number.NaN]) {
    assert.throws(() => studentQuantile(p, 3), { code: 'E_USAGE' });
  }
  for (const df of [0, -1, Number.NaN, Infinity]) {
    assert.throws(() => studentTail(1, df), { code: 'E_USAGE' });
  }
  assert.throws(() => fTail(1, 0, 4), { code: 'E_USAGE' });
  assert.throws(() => studentTail(Number.NaN, 4), { code: 'E_USAGE' });
});
