/** The rank sum test, held to exact distributions. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mannWhitney } from '../../../stats/mannwhitney.js';
import { assertNear } from './near.js';
import { createNormal } from './simulation.js';

/**
 * The definition, without ranks or tables: every subset is tried, pairs are counted.
 * @param {number[]} a
 * @param {number[]} b
 * @returns {{ u: number, p: number }}
 */
function byEnumeration(a, b) {
  const pool = [...a, ...b];
  const uOf = (/** @type {number[]} */ left, /** @type {number[]} */ right) => {
    let u = 0;
    for (const x of left) for (const y of right) u += x > y ? 1 : x === y ? 0.5 : 0;
    return u;
  };
  const u = uOf(a, b);
  const middle = (a.length * b.length) / 2;
  let all = 0;
  let extreme = 0;
  for (let mask = 0; mask < 1 << pool.length; mask += 1) {
    const left = pool.filter((_, i) => mask & (1 << i));
    if (left.length !== a.length) continue;
    const right = pool.filter((_, i) => !(mask & (1 << i)));
    all += 1;
    if (Math.abs(uOf(left, right) - middle) >= Math.abs(u - middle)) extreme += 1;
  }
  return { u, p: extreme / all };
}

test('the two known answers come out exactly', () => {
  const apart = mannWhitney([2, 1, 3, 5], [12, 11, 13, 15]);
  assert.equal(apart.u, 0);
  assertNear(apart.p, 2 / 70, 1e-14);
  assertNear(apart.p, 0.0285714, 1e-5);
  const mixed = mannWhitney([2, 1, 3, 5], [0, 4, 6, 7]);
  assert.equal(mixed.u, 5);
  assertNear(mixed.p, 34 / 70, 1e-14);
  assertNear(mixed.p, 0.485714, 1e-5);
  assert.equal(mixed.method, 'exact');
});

test('p is exact with ties too: it equals the enumeration of all splits', () => {
  const values = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(values, values, (a, b) => {
      const { u, p, method } = mannWhitney(a, b);
      const expected = byEnumeration(a, b);
      assert.equal(u, expected.u);
      assert.equal(method, 'exact');
      assertNear(p, expected.p, 1e-12);
    }),
    { seed: 7, numRuns: 150 },
  );
});

test('swapping the sides keeps p and turns U over', () => {
  const [a, b] = [
    [1, 4, 4, 9],
    [4, 2, 8, 8, 8, 3],
  ];
  const there = mannWhitney(a, b);
  const back = mannWhitney(b, a);
  assert.equal(there.u + back.u, a.length * b.length);
  assertNear(back.p, /** @type {number} */ (there.p), 1e-14);
});

test('beyond 60 values it is the normal approximation with corrections, as SciPy has it', () => {
  // biome-ignore format: three lines of numbers, not forty
  const a = [
    12.0, 7.4, 10.4, 9.4, 9.5, 9.8, 8.0, 9.8, 9.1, 13.3, 10.2, 9.6, 9.7, 9.3,
    8.9, 9.6, 10.5, 9.8, 11.0, 9.8, 10.0, 11.5, 10.5, 9.5, 9.8, 10.5, 11.9, 9.7,
    9.8, 11.0, 9.1, 9.7, 10.9, 10.6, 10.1, 10.7, 7.2, 11.0, 9.0, 8.3,
  ];
  // biome-ignore format: three lines of numbers, not forty
  const b = [
    9.8, 10.3, 12.2, 11.2, 8.9, 10.5, 9.9, 10.6, 8.9, 10.7, 10.7, 12.1, 10.8, 11.0,
    9.0, 12.8, 8.6, 11.6, 10.2, 9.6, 9.8, 9.8, 10.9, 10.4, 12.0, 8.7, 10.5, 9.6,
    11.3, 8.4, 10.2, 10.7, 9.0, 11.5, 10.7, 11.5, 11.5, 9.5, 9.7, 10.3,
  ];
  const result = mannWhitney(a, b);
  assert.equal(result.u, 616.5);
  assert.equal(result.method, 'normal');
  assertNear(result.p, 0.07786444912975346, 1e-12);
});

test('exact and normal agree where one gives way to the other', () => {
  const normal = createNormal(3);
  const a = Array.from({ length: 30 }, () => normal() + 0.5);
  const b = Array.from({ length: 30 }, () => normal());
  const exact = mannWhitney(a, b);
  assert.equal(exact.method, 'exact');
  const approximate = mannWhitney([...a, 0.31], b);
  assert.equal(approximate.method, 'normal');
  assert.ok(exact.p !== null && approximate.p !== null);
  assert.ok(Math.abs(exact.p - approximate.p) < 0.01);
});

test('equal values give p 1, and an empty side gives no p', () => {
  assert.equal(mannWhitney([4, 4], [4, 4, 4]).p, 1);
  assert.equal(mannWhitney(new Array(40).fill(4), new Array(40).fill(4)).p, 1);
  assert.deepEqual(mannWhitney([], [1]), { u: 0, p: null, method: 'none' });
});
