/** Intervals of simulated races hold the truth, through the estimator of reports. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { coverageOf, foundBy } from '../../../bench/coverage-counts.js';
import { DEFECTS } from '../../../bench/simulated-race.js';

/** Nominal 95 % less three standard errors over 200 races. bench/coverage.js is exact. */
const [COVERED_MIN, COVERED_MAX] = [0.905, 0.99];
const RACES = 200;

/** @param {number} share @param {string} what */
function assertCovers(share, what) {
  assert.ok(share >= COVERED_MIN && share <= COVERED_MAX, `${what}: ${share} covered`);
}

describe('intervals of ops/s, ratios and A/A contain the true value in 95 of 100 races', () => {
  for (const [contenders, rounds, segments] of [
    [2, 3, 1],
    [2, 10, 3],
    [5, 5, 1],
    [5, 5, 12],
    [12, 3, 1],
  ]) {
    test(`${contenders} contenders, ${rounds} rounds of ${segments} segments`, () => {
      const cell = { contenders, rounds, segments };
      const { own, allRatios, again } = coverageOf(cell, { races: RACES });
      assertCovers(own, 'ops/s');
      assertCovers(again, 'A/A');
      // Šidák's level for all pairs is on the safe side where pairs share a contender.
      assert.ok(allRatios >= COVERED_MIN, `ratios: ${allRatios}`);
    });
  }

  test('whole loads: at least 36 of 40 A/A intervals contain 1', () => {
    const { again } = coverageOf({ contenders: 3, rounds: 5, segments: 1 }, { races: 40 });
    assert.ok(again >= 36 / 40, `${40 * again} of 40`);
  });

  test('one contender that stalls in a round widens no other interval of whole loads', () => {
    const cell = { contenders: 5, rounds: 5, segments: 1 };
    const calm = coverageOf(cell, { races: RACES });
    const { own, allRatios, again, half } = coverageOf(
      { ...cell, stalled: true },
      { races: RACES },
    );
    assertCovers(own, 'ops/s');
    assertCovers(again, 'A/A');
    assert.ok(allRatios >= COVERED_MIN, `ratios: ${allRatios}`);
    assert.ok(half < 1.1 * calm.half, `${half}, without the stall ${calm.half}`);
  });

  test('one contender four times as noisy as the others', () => {
    const factors = [1, 1, 1, 1, 1, 4];
    const cell = { contenders: 6, rounds: 8, segments: 12, factors };
    const { own, ratio, allRatios } = coverageOf(cell, { races: RACES });
    assertCovers(own, 'ops/s');
    assert.ok(ratio >= 0.95, `${ratio}`);
    assert.ok(allRatios >= 0.9, `${allRatios}`);
  });

  test('a run that stops once precise enough', () => {
    const cell = { contenders: 3, rounds: 16, segments: 12, precision: 0.07 };
    const { own, allRatios, rounds } = coverageOf(cell, { races: RACES });
    assertCovers(own, 'ops/s');
    assertCovers(allRatios, 'ratios');
    assert.ok(rounds > 6 && rounds < 15, `${rounds}`);
  });

  for (const processDeviation of [0.01, 0.08]) {
    test(`of the typical speed, processes ${100 * processDeviation} % apart`, () => {
      const cell = { contenders: 4, rounds: 8, segments: 20, processDeviation, ownGarbage: true };
      const found = coverageOf(cell, { races: RACES });
      assertCovers(found.own, 'ops/s');
      assertCovers(found.again, 'A/A');
      assert.ok(found.allRatios >= COVERED_MIN, `ratios: ${found.allRatios}`);
      // Nominal 5 % of the speed and 0.5 % of each of the two others, and three standard errors.
      assert.ok(found.claimed <= 0.09, `claimed of ${found.claimed}`);
      assert.ok(found.split <= 0.01, `split: ${found.split}`);
    });
  }

  test('of the typical speed, in a run that stops once precise enough', () => {
    const cell = { contenders: 3, rounds: 16, segments: 12, precision: 0.07, ownGarbage: true };
    const { own, allRatios, rounds } = coverageOf(cell, { races: RACES });
    assertCovers(own, 'ops/s');
    assertCovers(allRatios, 'ratios');
    assert.ok(rounds > 6 && rounds < 15, `${rounds}`);
  });
});

describe('a defect is detected by its figure, in 40 simulated races', () => {
  const size = { races: 40 };

  test('equal drivers: few false claims', () => {
    assert.ok(foundBy(null, size).anything <= 3);
  });

  for (const [name, finding, least] of /** @type {const} */ ([
    ['late operations', 'shape', 38],
    // Five are due in the five seconds; in one race of four there are fewer than four.
    ['a pause of 30 ms each second', 'long slices', 24],
    ['twice the garbage', 'slower', 38],
    ['a slow start', 'shape', 38],
  ])) {
    test(`${name}: ${finding}`, () => {
      const found = foundBy(DEFECTS[name], size);
      assert.ok(found[finding] >= least, JSON.stringify(found));
      assert.ok(found.faster <= 1, JSON.stringify(found));
    });
  }
});
