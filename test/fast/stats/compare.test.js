/** Comparisons of two sides: pairing, verdicts, and how often they are wrong. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareAll, compareRounds } from '../../../stats/compare.js';
import { holm } from '../../../stats/holm.js';
import { noiseFloor } from '../../../stats/noise.js';
import { ratioInterval } from '../../../stats/ratio.js';
import { marginOf, ROUNDS_MAX, roundsNeeded, verdictOf } from '../../../stats/verdict.js';
import { welchTest } from '../../../stats/welch.js';
import { assertNear } from './near.js';
import { blocks, createNormal } from './simulation.js';

test("Welch's test gives the known t, degrees of freedom and p", () => {
  const { t, df, p, method } = welchTest([2, 1, 3, 4], [6, 5, 7, 9]);
  assertNear(t, -3.9703446152237674, 1e-14);
  assertNear(df, 5.584615384615386, 1e-14);
  assertNear(p, 0.008512863131378173, 1e-12);
  assert.equal(method, 'welch');
});

test("Welch's test needs two values a side, and leaves nothing to chance where none varies", () => {
  assert.equal(welchTest([1], [1, 2]).method, 'none');
  assert.deepEqual(welchTest([2, 2], [2, 2]).p, 1);
  assert.deepEqual(welchTest([2, 2], [3, 3]).p, 0);
});

test('Holm multiplies the smallest by all, never lets p sink, and keeps null as no test', () => {
  const adjusted = holm([0.01, null, 0.04, 0.03, 0.005]);
  // R: p.adjust(c(.01, .04, .03, .005), "holm") is .03 .06 .06 .02
  assertNear(adjusted[0], 0.03, 1e-14);
  assert.equal(adjusted[1], null);
  assertNear(adjusted[2], 0.06, 1e-14);
  assertNear(adjusted[3], 0.06, 1e-14);
  assertNear(adjusted[4], 0.02, 1e-14);
  assert.deepEqual(holm([0.6, 0.7]), [1, 1]);
  assert.deepEqual(holm([]), []);
  assert.throws(() => holm([1.2]), { code: 'E_USAGE' });
});

test('a paired ratio is the t interval of log ratios per block, blind to shared drift', () => {
  const b = [100, 200, 50, 400, 90];
  const factors = [1.1, 1.12, 1.09, 1.1, 1.11];
  const result = ratioInterval(
    b.map((value, i) => value * factors[i]),
    b,
  );
  const logs = factors.map(Math.log);
  const centre = logs.reduce((sum, x) => sum + x, 0) / 5;
  const deviation = Math.sqrt(logs.reduce((sum, x) => sum + (x - centre) ** 2, 0) / 4);
  const half = (2.776445105197794 * deviation) / Math.sqrt(5);
  assertNear(result.ratio, Math.exp(centre), 1e-12);
  assertNear(result.low, Math.exp(centre - half), 1e-12);
  assertNear(result.high, Math.exp(centre + half), 1e-12);
  assertNear(result.logDeviation, deviation, 1e-12);
  assert.equal(result.method, 'paired-log-t');
  assert.ok(result.p !== null && result.p < 1e-4);
});

test('p of a ratio is at the level just where the interval touches 1', () => {
  const { a, b } = blocks(createNormal(8), { n: 6, ratio: 1.04, drift: 0.2, sigma: 0.05 });
  for (const paired of [true, false]) {
    const { p } = ratioInterval(a, b, { paired });
    assert.ok(p !== null);
    const { low, high } = ratioInterval(a, b, { paired, confidence: 1 - p });
    const touching = Math.abs(Math.log(/** @type {number} */ (low))) < 1e-9 ? low : high;
    assertNear(touching, 1, 1e-9);
  }
});

test('two runs without common blocks are compared by Welch on logs', () => {
  const result = ratioInterval([2, 1, 3, 4].map(Math.exp), [6, 5, 7, 9, 7].map(Math.exp), {
    paired: false,
  });
  const known = welchTest([2, 1, 3, 4], [6, 5, 7, 9, 7]);
  assert.equal(result.method, 'welch-log-t');
  assertNear(result.p, /** @type {number} */ (known.p), 1e-12);
  assertNear(result.ratio, Math.exp(2.5 - 6.8), 1e-12);
  assertNear(result.logDeviation, Math.sqrt(5 / 3 + 2.2), 1e-12);
  assert.equal(result.n, 4);
});

test('a block in which one side did not run is left out, and n says so', () => {
  const result = ratioInterval([110, null, 121, 99], [100, 100, 110, null]);
  assert.equal(result.n, 2);
  assertNear(result.ratio, 1.1, 1e-14);
});

test('one block gives a ratio without an interval, and a zero gives no ratio', () => {
  const one = ratioInterval([3], [2]);
  assert.deepEqual([one.ratio, one.low, one.p, one.method], [1.5, null, null, 'none']);
  assert.equal(ratioInterval([1, 0], [1, 1]).ratio, null);
  assert.equal(ratioInterval([], []).n, 0);
  assert.throws(() => ratioInterval([1, 2], [1]), { code: 'E_USAGE' });
  assert.equal(compareRounds([3], [2]).verdict, 'undecided');
});

/**
 * @param {number} low
 * @param {number} high
 * @returns {import('../../../stats/ratio.js').RatioInterval}
 */
function interval(low, high) {
  const half = Math.log(high / low) / 2;
  return {
    ratio: Math.sqrt(low * high),
    low,
    high,
    p: low > 1 || high < 1 ? 0.01 : 0.4,
    n: 5,
    logDeviation: (half * Math.sqrt(5)) / 2.776445105197794,
    confidence: 0.95,
    method: 'paired-log-t',
  };
}

test('a verdict of different needs an interval without 1 and an effect beyond the margin', () => {
  assert.equal(verdictOf(interval(1.02, 1.06)).verdict, 'faster');
  assert.equal(verdictOf(interval(0.94, 0.98)).verdict, 'slower');
  assert.equal(verdictOf(interval(0.99, 1.06)).verdict, 'undecided');
  // Excludes 1, but the effect of 0.7 % is within the 1 %.
  assert.equal(verdictOf(interval(1.002, 1.012)).verdict, 'undecided');
  // The noise of the run is a larger margin than 1 %.
  assert.equal(verdictOf(interval(1.02, 1.06), { noise: 0.05 }).verdict, 'undecided');
  assert.equal(verdictOf(interval(1.02, 1.06), { noise: 0.03 }).verdict, 'faster');
  assert.equal(verdictOf(interval(1.02, 1.06), { noise: 0.001 }).margin, 0.01);
});

test('a verdict of same needs the whole interval within the margin', () => {
  assert.equal(verdictOf(interval(0.995, 1.005)).verdict, 'same');
  assert.equal(verdictOf(interval(0.9902, 1.0099)).verdict, 'same');
  assert.equal(verdictOf(interval(0.9895, 1.005)).verdict, 'undecided');
  assert.equal(verdictOf(interval(0.97, 1.03), { noise: 0.04 }).verdict, 'same');
});

test('Holm can take a difference back, and a lower value can be the better one', () => {
  assert.equal(verdictOf(interval(1.02, 1.06), { pHolm: 0.2 }).verdict, 'undecided');
  assert.equal(verdictOf(interval(1.02, 1.06), { pHolm: 0.04 }).verdict, 'faster');
  assert.equal(verdictOf(interval(1.02, 1.06), { better: 'lower' }).verdict, 'slower');
  assert.equal(verdictOf(interval(0.9, 0.95), { better: 'lower' }).verdict, 'faster');
});

test('an unknown noise leaves the margin at 1 %', () => {
  assert.equal(marginOf(null), 0.01);
  assert.equal(marginOf(undefined), 0.01);
  assert.equal(marginOf(0.02), 0.02);
});

test('the rounds needed decide in about four of five simulated runs, and a third of them does not', () => {
  const { a, b } = blocks(createNormal(21), { n: 5, ratio: 1.03, drift: 0.1, sigma: 0.03 });
  const first = ratioInterval(a, b);
  const needed = roundsNeeded(
    { ...first, ratio: 1.03, logDeviation: 0.03 * Math.SQRT2 },
    {
      margin: 0.01,
    },
  );
  assert.ok(needed !== null && needed > 5);
  const share = (/** @type {number} */ n) => {
    const normal = createNormal(22);
    let decided = 0;
    for (let i = 0; i < 400; i += 1) {
      const run = blocks(normal, { n, ratio: 1.03, drift: 0.1, sigma: 0.03 });
      if (verdictOf(ratioInterval(run.a, run.b)).verdict === 'faster') decided += 1;
    }
    return decided / 400;
  };
  assert.ok(share(needed) >= 0.72 && share(needed) <= 0.9, `${needed}: ${share(needed)}`);
  assert.ok(share(Math.ceil(needed / 3)) < 0.5);
});

test('rounds needed grow with variance and with Holm, and are null where nothing can tell', () => {
  const few = verdictOf(interval(0.99, 1.06)).roundsNeeded;
  const many = verdictOf(interval(0.95, 1.11)).roundsNeeded;
  const corrected = verdictOf({ ...interval(0.99, 1.06), p: 0.1 }, { pHolm: 1 }).roundsNeeded;
  assert.ok(few !== null && many !== null && corrected !== null);
  assert.ok(few > 5 && many > few && corrected > few);
  assert.equal(verdictOf(interval(1.02, 1.06)).roundsNeeded, null);
  // An effect as large as the margin itself is never told from it.
  const margin = Math.expm1(Math.log(1.02));
  assert.equal(roundsNeeded(interval(1.0199, 1.0201), { margin }), null);
  assert.equal(roundsNeeded({ ...interval(0.9, 1.2), n: ROUNDS_MAX }, { margin: 0.01 }), null);
});

test('the noise floor is what equal things came apart in this run', () => {
  const normal = createNormal(31);
  const pairs = Array.from({ length: 40 }, () =>
    blocks(normal, { n: 5, ratio: 1, drift: 0.3, sigma: 0.02 }),
  );
  const { noise, pairs: used, n } = noiseFloor(pairs);
  assert.deepEqual([used, n], [40, 200]);
  const typical = 1.96 * ((0.02 * Math.SQRT2) / Math.sqrt(5));
  assert.ok(noise !== null && noise >= typical * 0.9 && noise < typical * 2, `${noise}`);
});

test('the noise floor is t of all blocks times their deviation around equality', () => {
  // Log ratios 0.01, -0.02, 0.03 around zero: six blocks of two pairs, three a pair.
  const pair = (/** @type {number[]} */ logs) => ({
    a: logs.map((log) => 1000 * Math.exp(log)),
    b: logs.map(() => 1000),
  });
  const { noise } = noiseFloor([pair([0.01, -0.02, 0.03]), pair([-0.01, 0.02, 0.01])]);
  const deviation = Math.sqrt((0.0001 + 0.0004 + 0.0009 + 0.0001 + 0.0004 + 0.0001) / 6);
  assertNear(noise, Math.expm1((2.44691185114497 * deviation) / Math.sqrt(3)), 1e-12);
});

test('no ratio of equal things that was seen lies beyond the noise floor', () => {
  const quiet = { a: new Array(20).fill(100), b: new Array(20).fill(100) };
  const biased = { a: new Array(20).fill(110), b: new Array(20).fill(100) };
  const { noise } = noiseFloor([quiet, quiet, quiet, quiet, quiet, biased]);
  assertNear(noise, 0.1, 1e-12);
});

test('the noise floor covers a bias that all blocks share, and is null if not measured', () => {
  const { noise } = noiseFloor([{ a: [104, 104, 104], b: [100, 100, 100] }]);
  assert.ok(noise !== null && noise >= 0.04 - 1e-9);
  assert.deepEqual(noiseFloor([]), { noise: null, pairs: 0, n: 0 });
  assert.equal(noiseFloor([{ a: [1], b: [1] }]).noise, null);
});

test('A against A: of 200 comparisons at 5 % at most 21 are called different', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const normal = createNormal(seed);
    let excluding = 0;
    let different = 0;
    const pairs = [];
    for (let i = 0; i < 200; i += 1) {
      const { a, b } = blocks(normal, { n: 5, ratio: 1, drift: 0.1, sigma: 0.05 });
      pairs.push({ name: String(i), a, b });
      const single = compareRounds(a, b);
      if (single.low !== null && single.high !== null) {
        if (single.low > 1 || single.high < 1) excluding += 1;
      }
      if (single.verdict === 'faster' || single.verdict === 'slower') different += 1;
    }
    // That some intervals miss shows that the test can fail: a nominal 95 % is not 100 %.
    assert.ok(excluding >= 2 && excluding <= 21, `seed ${seed}: ${excluding}`);
    assert.ok(different <= excluding, `seed ${seed}: ${different}`);
    const corrected = compareAll(pairs).filter(({ verdict }) => /faster|slower/.test(verdict));
    assert.ok(corrected.length <= 1, `seed ${seed}: ${corrected.length} after Holm`);
  }
});

test('a real difference of 5 % is found among many comparisons, with its direction', () => {
  const normal = createNormal(41);
  const pairs = Array.from({ length: 20 }, (_, i) => ({
    name: String(i),
    ...blocks(normal, { n: 8, ratio: i === 7 ? 0.95 : 1, drift: 0.3, sigma: 0.006 }),
  }));
  const found = compareAll(pairs, { noise: 0.012 });
  assert.equal(found[7].verdict, 'slower');
  assert.ok(found[7].pHolm !== null && found[7].p !== null && found[7].pHolm > found[7].p);
  assert.equal(found[7].mannWhitney.method, 'exact');
  assert.ok(found.every(({ verdict }, i) => i === 7 || !/faster|slower/.test(verdict)));
});
