/** The universal scalability law, fitted to curves of known parameters. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitScalability } from '../../../lib/analysis/scalability.js';
import { assertNear } from './near.js';

const LEVELS = [1, 18, 36, 72, 108, 144, 216];
const THROUGHPUTS = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775, 1702.2];
const MEASURED = LEVELS.map((n, i) => ({ n, throughput: THROUGHPUTS[i] }));

/**
 * @param {number} alpha
 * @param {number} beta
 * @param {number} gamma
 */
function exactLevels(alpha, beta, gamma) {
  return LEVELS.map((n) => ({
    n,
    throughput: (gamma * n) / (1 + alpha * (n - 1) + beta * n * (n - 1)),
  }));
}

test('the known data give the known parameters and a peak of 1884 at 96.5', () => {
  const { alpha, beta, gamma, peak, rSquared, levels } = fitScalability(MEASURED);
  assertNear(alpha, 0.02772848, 5e-7, 'alpha');
  assertNear(beta, 1.043655e-4, 5e-7, 'beta');
  assertNear(gamma, 89.99523, 1e-7, 'gamma');
  assert.ok(peak !== null && rSquared !== null);
  assertNear(peak.n, 96.5, 1e-3);
  assertNear(peak.throughput, 1884, 5e-4);
  assert.equal(peak.extrapolated, false);
  assert.ok(rSquared > 0.98 && rSquared < 1);
  assert.equal(levels, 7);
});

test('the order of the levels does not matter', () => {
  const forth = fitScalability(MEASURED);
  const back = fitScalability([...MEASURED].reverse());
  assertNear(back.alpha, /** @type {number} */ (forth.alpha), 1e-7);
  assertNear(back.beta, /** @type {number} */ (forth.beta), 1e-7);
});

test('parameters of data that follow the law are found again, over magnitudes', () => {
  for (const gamma of [0.5, 90, 250_000]) {
    for (const [alpha, beta] of [
      [0.3, 0.01],
      [0.02, 1e-6],
      [0.9, 1e-3],
      [1e-4, 1e-5],
    ]) {
      const fit = fitScalability(exactLevels(alpha, beta, gamma));
      assertNear(fit.alpha, alpha, 1e-5, `alpha of ${alpha}, ${beta}, ${gamma}`);
      assertNear(fit.beta, beta, 1e-5, `beta of ${alpha}, ${beta}, ${gamma}`);
      assertNear(fit.gamma, gamma, 1e-6, `gamma of ${alpha}, ${beta}, ${gamma}`);
    }
  }
});

test('throughput that grows evenly or only saturates has no peak', () => {
  const even = fitScalability(LEVELS.map((n) => ({ n, throughput: 7 * n })));
  assertNear(even.gamma, 7, 1e-6);
  const faster = fitScalability(LEVELS.map((n) => ({ n, throughput: 7 * n ** 1.05 })));
  assert.deepEqual([faster.alpha, faster.beta, faster.peak], [0, 0, null]);
});

test('a peak beyond the measured levels is marked as extrapolated', () => {
  const { peak } = fitScalability(exactLevels(0.01, 1e-6, 100));
  assert.ok(peak !== null);
  assertNear(peak.n, Math.sqrt(0.99 / 1e-6), 1e-4);
  assert.equal(peak.extrapolated, true);
});

test('contention that eats every gain has its peak at one', () => {
  const { peak } = fitScalability(exactLevels(1.5, 1e-3, 100));
  assert.ok(peak !== null);
  assert.equal(peak.n, 1);
});

test('parameters are never below zero, whatever the noise', () => {
  const noisy = MEASURED.map(({ n, throughput }, i) => ({
    n,
    throughput: throughput * (1 + i / 2),
  }));
  const { alpha, beta } = fitScalability(noisy);
  assert.ok(alpha !== null && beta !== null && alpha >= 0 && beta >= 0);
});

test('fewer than six different levels give no fit, and nonsense is refused', () => {
  const five = fitScalability([...MEASURED.slice(0, 5), MEASURED[0]]);
  assert.deepEqual([five.alpha, five.peak, five.levels, five.method], [null, null, 5, 'none']);
  assert.throws(() => fitScalability([{ n: 0, throughput: 1 }]), { code: 'E_USAGE' });
  assert.throws(() => fitScalability([{ n: 1, throughput: Number.NaN }]), { code: 'E_USAGE' });
});
