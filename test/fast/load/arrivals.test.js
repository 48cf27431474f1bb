/** Arrivals of the open loop: constant and Poisson. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arrivals, countArrivals } from '../../../load/arrivals.js';

/**
 * @param {Partial<import('../../../load/rate.js').RateOptions>} options
 * @param {number} count
 */
function draw(options, count) {
  const arrivals = new Arrivals({ perSecond: 1000, arrivals: 'constant', seed: 1, ...options });
  return Float64Array.from({ length: count }, () => arrivals.next());
}

test('constant arrivals are at k / R, also after a million of them', () => {
  const times = draw({ perSecond: 3000 }, 1_000_001);
  assert.equal(times[0], 0);
  assert.equal(times[3], 1e6);
  assert.equal(times[3000], 1e9);
  assert.ok(Math.abs(times[1_000_000] - 1e15 / 3000) < 1);
});

test('the gaps of Poisson arrivals are exponential: mean, variance, quantiles, no memory', () => {
  const n = 400_000;
  const times = draw({ arrivals: 'poisson', perSecond: 20_000 }, n);
  const mean = 50_000;
  const gaps = times.map((at, i) => at - (i === 0 ? 0 : times[i - 1]));
  const average = gaps.reduce((sum, gap) => sum + gap, 0) / n;
  const variance = gaps.reduce((sum, gap) => sum + (gap - average) ** 2, 0) / n;
  // Four standard errors: that of the mean is m / √n, that of the variance m² √(8 / n).
  assert.ok(Math.abs(average / mean - 1) < 4 / Math.sqrt(n), `mean ${average}`);
  assert.ok(Math.abs(variance / mean ** 2 - 1) < 4 * Math.sqrt(8 / n), `variance ${variance}`);
  // Kolmogorov and Smirnov, at 0.1 %: D √n < 1.95.
  const sorted = gaps.slice().sort();
  let distance = 0;
  for (const [i, gap] of sorted.entries()) {
    const cumulative = -Math.expm1(-gap / mean);
    distance = Math.max(distance, cumulative - i / n, (i + 1) / n - cumulative);
  }
  assert.ok(distance * Math.sqrt(n) < 1.95, `D √n = ${distance * Math.sqrt(n)}`);
  let product = 0;
  for (let i = 1; i < n; i += 1) product += (gaps[i] - average) * (gaps[i - 1] - average);
  assert.ok(Math.abs(product / n / variance) < 4 / Math.sqrt(n), 'gaps are independent');
});

test('Poisson arrivals are a function of the seed', () => {
  const options = { arrivals: /** @type {const} */ ('poisson'), seed: 7 };
  assert.deepEqual(draw(options, 100), draw(options, 100));
  assert.notDeepEqual(draw(options, 100), draw({ ...options, seed: 8 }, 100));
});

test('arrivals due within a duration are scheduled, those due at its end are not', () => {
  const bounds = { durationNs: 1e9, operations: Number.POSITIVE_INFINITY };
  const constant = { perSecond: 1000, arrivals: /** @type {const} */ ('constant'), seed: 1 };
  assert.equal(countArrivals(constant, bounds), 1000);
  assert.equal(countArrivals({ ...constant, perSecond: 1000.5 }, bounds), 1001);
  assert.equal(countArrivals({ ...constant, perSecond: 3 }, { ...bounds, durationNs: 1 }), 1);
  assert.equal(countArrivals(constant, { ...bounds, operations: 10 }), 10);
  for (const perSecond of [3, 7, 999.7, 123_456.789]) {
    const count = countArrivals({ ...constant, perSecond }, bounds);
    const times = draw({ perSecond }, count + 1);
    assert.ok(times[count - 1] < 1e9 && times[count] >= 1e9, `${perSecond}: ${count}`);
  }
  const poisson = { ...constant, arrivals: /** @type {const} */ ('poisson') };
  const count = countArrivals(poisson, bounds);
  const times = draw({ arrivals: 'poisson' }, count + 1);
  assert.ok(times[count - 1] < 1e9 && times[count] >= 1e9);
  assert.equal(countArrivals(poisson, { durationNs: Infinity, operations: 5 }), 5);
});
