/** Slices to intervals: the answers of an independent program. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createRandom } from '../../../lib/random.js';
import { processMeans, trimmedMean } from '../../../stats/blocks.js';
import { contest, differenceOf } from '../../../stats/contenders.js';
import { studentQuantile } from '../../../stats/distributions.js';
import { leveneTest } from '../../../stats/levene.js';
import { assertNear as near } from './near.js';

/** NumPy and SciPy over the same slices. */
const KNOWN = JSON.parse(readFileSync(new URL('./known-blocks.json', import.meta.url), 'utf8'));
/** Tolerance of half-widths: jstat's quantiles of Student's t are exact to 4e-8. */
const DIGITS = 1e-8;

/**
 * @param {readonly unknown[]} found
 * @param {readonly unknown[]} wanted
 */
function allNear(found, wanted) {
  const [a, b] = [found.flat(2), wanted.flat(2)];
  assert.equal(a.length, b.length);
  for (const [i, value] of a.entries()) {
    assert.ok(Math.abs(Number(value) - Number(b[i])) < DIGITS, `${i}: ${value}, not ${b[i]}`);
  }
}

/**
 * @param {import('../../../stats/contenders.js').Contest} own
 * @param {(i: number, j: number) => number} of
 * @param {number} self
 */
function matrix(own, of, self) {
  return own.estimates.map((_, i) => own.estimates.map((__, j) => (i === j ? self : of(i, j))));
}

describe('slices against an independent program', () => {
  for (const known of KNOWN.cases) {
    const means = processMeans(known.lnNsPerOperation);
    const computed = contest(means);

    test(`${known.name}: means of processes, estimates and variance`, () => {
      allNear(means, known.processMeans);
      allNear(computed.estimates, known.estimates);
      allNear(computed.halfAlone, known.halfWidthAlone);
      near(Number(computed.leveneP), known.leveneP, 1e-7);
      assert.equal(computed.pool.length === computed.k, known.leveneP >= 0.05);
      if (known.leveneP < 0.05) return;
      assert.equal(computed.degreesOfFreedom, known.degreesOfFreedom);
      near(computed.variance, known.pooledVariance, 1e-9);
    });

    test(`${known.name}: half-widths of pairs`, () => {
      const { pooledVariance: variance, degreesOfFreedom } = known;
      const pooled = { ...computed, pool: [...means.keys()], variance, degreesOfFreedom };
      const halves = matrix(pooled, (i, j) => differenceOf(pooled, i, j).half, 0);
      allNear(
        halves,
        matrix(computed, () => known.halfWidthPooled, 0),
      );
      const apart = { ...computed, pool: [] };
      allNear(
        matrix(apart, (i, j) => differenceOf(apart, i, j).half, 0),
        known.halfWidthsOwn,
      );
    });
  }
});

describe('means and variances of slices', () => {
  test('a share is trimmed at either end, in whole slices', () => {
    const values = [100, ...Array.from({ length: 18 }, () => 2), -100];
    assert.equal(trimmedMean(values, 0.05), 2);
    assert.equal(trimmedMean([1, 2, 9], 0.05), 4);
    assert.ok(Number.isNaN(trimmedMean([], 0.05)));
  });

  test('the typical speed is of the fastest three quarters, the mean of all', () => {
    const logs = [[[0, 1, 2, null, Math.log(9)]], [[1, 1, 1, 1, 1]]];
    near(processMeans(logs, { figure: 'typical' })[0][0], 1, 1e-12);
    const all = Math.log((1 + Math.E + Math.E ** 2 + 9) / 4);
    near(processMeans(logs, { figure: 'mean' })[0][0], all, 1e-12);
    assert.ok(Number.isNaN(processMeans([[[null]]], { figure: 'mean' })[0][0]));
  });

  test('a missing slice is left out, also of the state of its block', () => {
    const rows = [[[1, 2, 3, 4, 5]], [[2, 3, null, 5, 6]], [[3, 4, 5, 6, 7]]];
    const [[a], [b], [c]] = processMeans(rows, { trim: 0 });
    near(b - a, 1, 0.15);
    near(c - a, 2, 1e-12);
  });

  test('an effect of a block on all contenders is not part of the estimate', () => {
    const base = [0, 0.1, -0.1, 0.05, 0];
    const rows = [0, 1, 2].map((log, i) => [base.map((x, b) => log + x * (b === i ? 1 : 0))]);
    const shifted = rows.map(([row]) => [row.map((x, b) => x + [0, 3, -2, 5, 1][b])]);
    const [plain, moved] = [processMeans(rows), processMeans(shifted)];
    for (const i of [1, 2]) near(moved[i][0] - moved[0][0], plain[i][0] - plain[0][0], 0.06);
  });

  test('missing means are refused', () => {
    assert.throws(() => contest([[1, 2], [1]]), { code: 'E_USAGE' });
    assert.throws(() => contest([[]]), { code: 'E_USAGE' });
    assert.throws(() => contest([[1, Number.NaN]]), { code: 'E_USAGE' });
  });

  test('without a pool all pairs hold jointly at Šidák’s level, each with its own rounds', () => {
    const means = [
      [1, 2, 4],
      [2, 3, 3],
      [5, 5, 7],
      [9, 8, 9],
    ];
    const computed = contest(means, { pooled: false });
    const differences = [-1, -1, 1].map((one) => one + 1 / 3);
    const error = Math.sqrt(differences.reduce((sum, one) => sum + one * one, 0) / 2 / 3);
    const { half, halfOfAll } = differenceOf(computed, 0, 1);
    near(half, studentQuantile(0.975, 2) * error, 1e-9);
    near(halfOfAll, studentQuantile((1 + 0.95 ** (1 / 6)) / 2, 2) * error, 1e-9);
  });

  test('three contenders or more pool their variance, and half of all at least', () => {
    const random = createRandom(3);
    const means = (/** @type {number[]} */ deviations) =>
      deviations.map((deviation) =>
        Array.from({ length: 12 }, () => deviation * (random() / 2 ** 32 - 0.5) * 12 ** 0.5),
      );
    const poolOf = (/** @type {number[]} */ deviations) => contest(means(deviations)).pool;
    assert.deepEqual(poolOf([1, 1, 1, 1, 20, 20]), [0, 1, 2, 3]);
    assert.deepEqual(poolOf([1, 1, 1, 8, 64, 512, 4096, 32768]), [], 'three of eight');
    assert.deepEqual(poolOf([1, 1, 30, 900]), [], 'two of four');
  });

  test('a contender whose processes differ more is not pooled, from p = 0.2', () => {
    const random = createRandom(0);
    let between = 0;
    for (let i = 0; i < 100; i += 1) {
      const own = contest(
        Array.from({ length: 4 }, () => Array.from({ length: 6 }, () => random() / 2 ** 32)),
      );
      if (own.leveneP === null || own.leveneP >= 0.2 || own.leveneP < 0.05) continue;
      between += 1;
      assert.ok(own.pool.length < 4, `p ${own.leveneP}: ${own.pool}`);
    }
    assert.ok(between > 5, `${between}`);
  });

  test('two contenders have the paired interval of Student', () => {
    const own = contest([
      [1, 2, 3.5, 4],
      [0.5, 2, 3, 3],
    ]);
    assert.deepEqual(own.pool, []);
    const { value, half } = differenceOf(own, 0, 1);
    near(value, 0.5, 1e-12);
    near(half, (studentQuantile(0.975, 3) * Math.sqrt(0.5 / 3)) / 2, 1e-12);
  });

  test('Levene’s test: equal groups give 1, also without variation', () => {
    near(
      leveneTest([
        [1, 2, 3],
        [1, 2, 3],
      ]),
      1,
      1e-12,
    );
    assert.equal(
      leveneTest([
        [1, 1],
        [2, 2],
      ]),
      1,
    );
    const apart = leveneTest([
      [-1, 1],
      [-2, 2],
    ]);
    assert.equal(apart, 0, 'distances differ between the groups alone');
  });
});
