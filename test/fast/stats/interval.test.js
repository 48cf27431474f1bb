/** Intervals of a mean, held to published values and to their own coverage. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mean, sampleStandardDeviation } from 'simple-statistics';
import { figureOver } from '../../../stats/interval.js';
import { assertNear } from './near.js';
import { LEW, MICHELSO } from './nist.js';
import { createNormal, lognormal } from './simulation.js';

test('mean and deviation of NIST Michelso equal the certified values', () => {
  assert.equal(MICHELSO.length, 100);
  assertNear(mean([...MICHELSO]), 299.8524, 1e-15);
  assertNear(sampleStandardDeviation([...MICHELSO]), 0.0790105478190518, 1e-12);
});

test('mean and deviation of NIST Lew equal the certified values', () => {
  assert.equal(LEW.length, 200);
  assertNear(mean([...LEW]), -177.435, 1e-15);
  assertNear(sampleStandardDeviation([...LEW]), 277.332168044316, 1e-14);
});

test('the figure of rounds is their geometric mean with Student t on logs', () => {
  const values = [100, 110, 90, 105, 98];
  const logs = values.map(Math.log);
  const half = (2.776445105197794 * sampleStandardDeviation(logs)) / Math.sqrt(5);
  const figure = figureOver(values);
  assertNear(figure?.value ?? null, Math.exp(mean(logs)), 1e-14);
  assertNear(figure?.low ?? null, Math.exp(mean(logs) - half), 1e-9);
  assertNear(figure?.high ?? null, Math.exp(mean(logs) + half), 1e-9);
  assertNear(figure?.spread ?? null, Math.expm1(half), 1e-8);
  assert.equal(figure?.n, 5);
});

test('a value of zero makes the figure an arithmetic mean', () => {
  const figure = figureOver([0, 1, 2]);
  assertNear(figure?.value ?? null, 1, 1e-15);
  assertNear(figure?.high ?? null, 1 + 4.302652729749464 / Math.sqrt(3), 1e-9);
});

test('one round has no interval, and no round has no figure', () => {
  const one = { value: 42, low: null, high: null, spread: null, n: 1 };
  assert.deepEqual(figureOver([42]), one);
  assert.equal(figureOver([]), null);
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
      const { low = null, high = null } =
        figureOver(lognormal(normal, { n, median: 61_454, sigma })) ?? {};
      assert.ok(low !== null && high !== null);
      if (low > 61_454 || high < 61_454) misses += 1;
    }
    assert.ok(misses >= 40 && misses <= 160, `n ${n}, sigma ${sigma}: ${misses} of 2000 missed`);
  }
});

test('a non-finite value is refused', () => {
  for (const bad of [Number.NaN, Infinity]) {
    assert.throws(() => figureOver([1, bad]), { code: 'E_USAGE', message: /value 1/ });
  }
});
