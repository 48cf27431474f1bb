/** Intervals of a mean, held to published values and to their own coverage. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mean, sampleStandardDeviation } from 'simple-statistics';
import { meanInterval, medianInterval } from '../../../stats/interval.js';
import { summarizeRounds } from '../../../stats/summary.js';
import { assertNear } from './near.js';
import { LEW, MICHELSO } from './nist.js';
import { createNormal, lognormal } from './simulation.js';

test('mean and deviation of NIST Michelso come out as certified', () => {
  assert.equal(MICHELSO.length, 100);
  assertNear(mean([...MICHELSO]), 299.8524, 1e-15);
  assertNear(sampleStandardDeviation([...MICHELSO]), 0.0790105478190518, 1e-12);
});

test('mean and deviation of NIST Lew come out as certified', () => {
  assert.equal(LEW.length, 200);
  assertNear(mean([...LEW]), -177.435, 1e-15);
  assertNear(sampleStandardDeviation([...LEW]), 277.332168044316, 1e-14);
});

test('the interval of a mean is Student t on logs', () => {
  const values = [100, 110, 90, 105, 98];
  const logs = values.map(Math.log);
  const half = (2.776445105197794 * sampleStandardDeviation(logs)) / Math.sqrt(5);
  const result = meanInterval(values);
  assertNear(result.mean, Math.exp(mean(logs)), 1e-14);
  assertNear(result.low, Math.exp(mean(logs) - half), 1e-12);
  assertNear(result.high, Math.exp(mean(logs) + half), 1e-12);
  assertNear(result.relativeHalfWidth, Math.sinh(half), 1e-12);
  assert.equal(result.n, 5);
  assert.equal(result.confidence, 0.95);
  assert.equal(result.method, 't-log');
});

test('a value of zero makes the interval one of Student t on the values, and says so', () => {
  const result = meanInterval([0, 1, 2]);
  assert.equal(result.method, 't');
  assertNear(result.mean, 1, 1e-15);
  assertNear(result.high, 1 + 4.302652729749464 / Math.sqrt(3), 1e-12);
  assert.equal(meanInterval([1, 2, 3], { scale: 'linear' }).method, 't');
});

test('one round has no interval, and no round has not even a mean', () => {
  const one = meanInterval([42]);
  assert.deepEqual([one.mean, one.low, one.high, one.relativeHalfWidth], [42, null, null, null]);
  assert.deepEqual([one.n, one.method], [1, 'none']);
  const none = meanInterval([]);
  assert.deepEqual([none.mean, none.low, none.n, none.method], [null, null, 0, 'none']);
});

test('the interval of a mean misses 2 to 8 of 100 times over simulated lognormal rounds', () => {
  for (const [n, sigma] of [
    [3, 0.3],
    [5, 0.02],
    [5, 0.5],
    [10, 0.1],
  ]) {
    const normal = createNormal(1000 * n + sigma * 100);
    let misses = 0;
    for (let i = 0; i < 2000; i += 1) {
      const { low, high } = meanInterval(lognormal(normal, { n, median: 61_454, sigma }));
      assert.ok(low !== null && high !== null);
      if (low > 61_454 || high < 61_454) misses += 1;
    }
    assert.ok(misses >= 40 && misses <= 160, `n ${n}, sigma ${sigma}: ${misses} of 2000 missed`);
  }
});

test('the interval of a median is by order statistics from six values on, and none below', () => {
  const five = medianInterval([5, 1, 4, 2, 3]);
  assert.deepEqual([five.median, five.low, five.high, five.coverage], [3, null, null, null]);
  assert.equal(five.method, 'none');
  const six = medianInterval([6, 1, 5, 2, 4, 3]);
  assert.deepEqual([six.median, six.low, six.high], [3.5, 1, 6]);
  assert.equal(six.method, 'order-statistics');
  assertNear(six.coverage, 1 - 2 / 64, 1e-14);
});

/**
 * @param {number} n
 * @param {number} depth
 * @returns {number} coverage from the depth-th smallest to the depth-th largest, from whole numbers
 */
function coverageOf(n, depth) {
  let outside = 0n;
  let choose = 1n;
  for (let k = 0; k < depth; k += 1) {
    outside += 2n * choose;
    choose = (choose * BigInt(n - k)) / BigInt(k + 1);
  }
  return 1 - Number((outside * 10n ** 15n) / 2n ** BigInt(n)) / 1e15;
}

test('the interval of a median is the narrowest of order statistics that covers 95 %', () => {
  for (let n = 6; n <= 60; n += 1) {
    const result = medianInterval(Array.from({ length: n }, (_, i) => i + 1));
    assert.ok(result.low !== null && result.high !== null);
    assert.equal(result.low + result.high, n + 1);
    assertNear(result.coverage, coverageOf(n, result.low), 1e-12, `n ${n}`);
    assert.ok(coverageOf(n, result.low) >= 0.95, `n ${n} covers too little`);
    assert.ok(coverageOf(n, result.low + 1) < 0.95, `n ${n} is too wide`);
  }
  assert.equal(medianInterval([1, 2, 3, 4, 5, 6, 7], { confidence: 0.99 }).method, 'none');
  assert.equal(medianInterval([1, 2, 3, 4, 5, 6, 7, 8], { confidence: 0.99 }).low, 1);
});

test('the interval of a median holds for thousands of rounds', () => {
  const values = Array.from({ length: 5000 }, (_, i) => i);
  const { low, high } = medianInterval(values);
  assert.ok(low !== null && high !== null);
  assertNear((high - low) / 2, 1.96 * Math.sqrt(5000 / 4), 0.03);
});

test('the interval of a median misses at most 8 of 100 times over lognormal rounds', () => {
  const normal = createNormal(5);
  let misses = 0;
  for (let i = 0; i < 2000; i += 1) {
    const { low, high } = medianInterval(lognormal(normal, { n: 9, median: 100, sigma: 0.4 }));
    assert.ok(low !== null && high !== null);
    if (low > 100 || high < 100) misses += 1;
  }
  // Nine values from the 2nd to the 8th cover 96.1 %.
  assert.ok(misses >= 40 && misses <= 160, `${misses} of 2000 missed`);
});

test('a summary of rounds has what a report prints: mean, interval, n, median, outliers', () => {
  const rounds = [61_000, 62_000, 61_500, 60_900, 61_900];
  const summary = summarizeRounds(rounds);
  assert.equal(summary.median, 61_500);
  assert.equal(summary.n, 5);
  assert.equal(summary.mean, summary.interval.mean);
  assertNear(summary.mean, 61_458.4, 1e-4);
  assertNear(summary.interval.relativeHalfWidth, 0.0101, 0.01);
  assert.equal(summary.outliers.count, 0);
  assert.deepEqual(summarizeRounds([...rounds, 1000]).outliers.indexes, [5]);
});

test('a summary of no rounds is empty and not zero', () => {
  const summary = summarizeRounds([]);
  assert.deepEqual([summary.median, summary.mean, summary.n], [null, null, 0]);
});

test('a value that is not finite and a confidence out of range are refused', () => {
  for (const bad of [Number.NaN, Infinity]) {
    assert.throws(() => meanInterval([1, bad]), { code: 'E_USAGE', message: /value 1/ });
    assert.throws(() => medianInterval([bad]), { code: 'E_USAGE' });
    assert.throws(() => summarizeRounds([bad]), { code: 'E_USAGE' });
  }
  for (const confidence of [0, 1, 95]) {
    assert.throws(() => meanInterval([1, 2], { confidence }), { code: 'E_USAGE' });
  }
});

test('the values given are left in their order', () => {
  const values = Object.freeze([3, 1, 2, 9, 8, 7, 4]);
  meanInterval(values);
  medianInterval(values);
  summarizeRounds(values);
  assert.deepEqual(values, [3, 1, 2, 9, 8, 7, 4]);
});
