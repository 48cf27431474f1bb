/** Change points: found where series were made with them, and not where not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changePoints, SERIES_MAX } from '../../../stats/changepoint.js';
import { createNormal } from './simulation.js';

/**
 * @param {number} seed
 * @param {number} sigma
 * @param {[length: number, level: number][]} parts
 */
function steps(seed, sigma, parts) {
  const normal = createNormal(seed);
  return parts.flatMap(([length, level]) =>
    Array.from({ length }, () => level * Math.exp(sigma * normal())),
  );
}

test('a step of 5 % in noise of 1 % is found at its position', () => {
  const series = steps(1, 0.01, [
    [20, 100],
    [15, 105],
  ]);
  const found = changePoints(series);
  assert.equal(found.length, 1);
  assert.ok(Math.abs(found[0].index - 20) <= 1, `at ${found[0].index}`);
  assert.equal(found[0].p, 1 / 200);
  assert.ok(found[0].ratio !== null && Math.abs(found[0].ratio - 1.05) < 0.01);
});

test('steps up and down again are both found, with the means between them', () => {
  const series = steps(2, 0.01, [
    [25, 100],
    [20, 90],
    [25, 100],
  ]);
  const changes = changePoints(series);
  assert.deepEqual(
    changes.map(({ index }) => index),
    [25, 45],
  );
  assert.ok(Math.abs(changes[0].after - 90) < 1);
  assert.equal(changes[0].after, changes[1].before);
});

test('a step after the greatest one is found as well', () => {
  const series = steps(7, 0.01, [
    [20, 100],
    [20, 150],
    [20, 160],
  ]);
  assert.deepEqual(
    changePoints(series).map(({ index }) => index),
    [20, 40],
  );
});

test('a series without a step gives a change point in at most 3 of 100', () => {
  let called = 0;
  for (let seed = 1; seed <= 100; seed += 1) {
    if (changePoints(steps(seed, 0.03, [[30, 100]])).length > 0) called += 1;
  }
  assert.ok(called <= 3, `${called} of 100`);
});

/**
 * The definition of the energy distance, mean by mean.
 * @param {number[]} x
 * @param {number[]} y
 */
function energyOf(x, y) {
  const within = (/** @type {number[]} */ z) => {
    const distances = z.flatMap((first, i) =>
      z.slice(0, i).map((other) => Math.abs(first - other)),
    );
    return distances.reduce((sum, d) => sum + d, 0) / distances.length;
  };
  const across = x.flatMap((first) => y.map((other) => Math.abs(first - other)));
  const between = across.reduce((sum, d) => sum + d, 0) / across.length;
  return ((x.length * y.length) / (x.length + y.length)) * (2 * between - within(x) - within(y));
}

test('the chosen split has the greatest energy distance by definition', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const series = steps(seed, 0.5, [[15, 100]]);
    const energies = [6, 7, 8, 9].map((at) => energyOf(series.slice(0, at), series.slice(at)));
    const best = 6 + energies.indexOf(Math.max(...energies));
    // At a level of 1 any split passes, and six at least leave nothing more to split.
    const found = changePoints(series, { alpha: 1, minSegment: 6, permutations: 1 });
    assert.deepEqual(
      found.map(({ index }) => index),
      [best],
      `seed ${seed}`,
    );
  }
});

test('one outlier is not a new level', () => {
  const series = steps(4, 0.01, [[15, 100]]).concat(40, steps(5, 0.01, [[15, 100]]));
  assert.deepEqual(changePoints(series), []);
});

test('the same series gives the same answer each time', () => {
  const series = steps(6, 0.02, [
    [12, 100],
    [12, 108],
    [12, 104],
  ]);
  assert.deepEqual(changePoints(series), changePoints(series));
});

test('short and constant series have no change point', () => {
  assert.deepEqual(changePoints([]), []);
  assert.deepEqual(changePoints([1, 1, 9, 9, 9]), []);
  assert.deepEqual(changePoints(new Array(30).fill(5)), []);
});

test('invalid input is refused', () => {
  assert.throws(() => changePoints(new Array(SERIES_MAX + 1).fill(1)), { code: 'E_USAGE' });
  assert.throws(() => changePoints([1], { minSegment: 1 }), { code: 'E_USAGE' });
  assert.throws(() => changePoints([1], { permutations: 50 }), { code: 'E_USAGE' });
  assert.throws(() => changePoints([1, Number.NaN]), { code: 'E_USAGE' });
});
