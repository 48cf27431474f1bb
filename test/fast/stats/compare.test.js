/** Comparisons of two sides: pairing, verdicts, and how often they are wrong. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareRuns } from '../../../stats/compare.js';
import { holm } from '../../../stats/holm.js';
import { pairedRatio } from '../../../stats/ratio.js';
import { isDecided } from '../../../stats/separation.js';
import { welchTest } from '../../../stats/welch.js';
import { assertNear } from './near.js';
import { blocks, createNormal } from './simulation.js';

test("Welch's test gives the known t, degrees of freedom and p", () => {
  const { t, df, p } = welchTest([2, 1, 3, 4], [6, 5, 7, 9]);
  assertNear(t, -3.9703446152237674, 1e-14);
  assertNear(df, 5.584615384615386, 1e-14);
  assertNear(p, 0.008512863131378173, 2e-7);
});

test("Welch's test needs two values a side, and leaves nothing to chance where none varies", () => {
  assert.equal(welchTest([1], [1, 2]).p, null);
  assert.deepEqual(welchTest([2, 2], [2, 2]).p, 1);
  assert.deepEqual(welchTest([2, 2], [3, 3]).p, 0);
});

test('Holm multiplies the smallest by the count, keeps p monotone, and keeps null as no test', () => {
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

test('a paired ratio is the t interval of log ratios per round, unaffected by shared drift', () => {
  const b = [100, 200, 50, 400, 90];
  const factors = [1.1, 1.12, 1.09, 1.1, 1.11];
  const result = pairedRatio(
    b.map((value, i) => value * factors[i]),
    b,
  );
  const logs = factors.map(Math.log);
  const centre = logs.reduce((sum, x) => sum + x, 0) / 5;
  const deviation = Math.sqrt(logs.reduce((sum, x) => sum + (x - centre) ** 2, 0) / 4);
  const half = (2.776445105197794 * deviation) / Math.sqrt(5);
  assertNear(result?.ratio ?? null, Math.exp(centre), 1e-12);
  assertNear(result?.low ?? null, Math.exp(centre - half), 1e-9);
  assertNear(result?.high ?? null, Math.exp(centre + half), 1e-9);
  assert.equal(result?.answer, 'faster');
});

test('a round in which one side did not run is left out, and n says so', () => {
  const result = pairedRatio([110, null, 121, 99], [100, 100, 110, null]);
  assert.equal(result?.n, 2);
  assertNear(result?.ratio ?? null, 1.1, 1e-14);
});

test('one round gives a ratio without an interval, and a zero gives no ratio', () => {
  const one = pairedRatio([3], [2]);
  assert.deepEqual([one?.low, one?.halfWidth, one?.answer], [null, null, 'not resolved']);
  assertNear(one?.ratio ?? null, 1.5, 1e-14);
  assert.equal(pairedRatio([1, 0], [1, 1]), null);
  assert.equal(pairedRatio([], []), null);
});

test('two runs are compared by Welch on logs, with the interval that decides', () => {
  const a = [2, 1, 3, 4].map(Math.exp);
  const b = [6, 5, 7, 9, 7].map(Math.exp);
  const [found] = compareRuns([{ a, b }]);
  const known = welchTest([2, 1, 3, 4], [6, 5, 7, 9, 7]);
  assertNear(found.p, /** @type {number} */ (known.p), 1e-12);
  assertNear(found.ratio, Math.exp(2.5 - 6.8), 1e-12);
  assert.deepEqual([found.n, found.confidence, found.answer], [4, 0.95, 'slower']);
  assert.equal(compareRuns([{ a: [3], b: [2, 2] }])[0].answer, 'not resolved');
  assert.equal(compareRuns([{ a: [], b: [2] }])[0].ratio, null);
});

test('the interval of a benchmark reaches 1 exactly when Holm rejects the difference', () => {
  const normal = createNormal(8);
  const runs = Array.from({ length: 60 }, (_, i) =>
    blocks(normal, { n: 5, ratio: 1 + (i % 6) / 50, drift: 0.01, sigma: 0.02 }),
  );
  const found = compareRuns(runs);
  assert.ok(found.some(({ p }) => p !== null && p > 0.05 && p < 1));
  for (const { p, low, high } of found) {
    assert.ok(p !== null && low !== null && high !== null);
    assert.equal(p <= 0.05, low > 1 || high < 1);
  }
});

test('a difference must exceed the margin; a tie lies within 5 %', () => {
  const near = (/** @type {number} */ ratio, /** @type {number} */ spread) => ({
    a: [1 - spread, 1, 1 + spread].map((x) => x * ratio),
    b: [1 - spread, 1, 1 + spread],
  });
  const answerOf = (/** @type {any} */ runs) => compareRuns([runs])[0].answer;
  assert.equal(answerOf(near(1.007, 0.0001)), 'tied', 'it excludes 1, and is below 1 %');
  assert.equal(answerOf(near(1.04, 0.001)), 'faster');
  assert.equal(answerOf({ ...near(1.04, 0.001), margin: 0.05 }), 'tied');
  assert.equal(answerOf(near(1.04, 0.05)), 'not resolved');
});

test('rounds needed grow with the variance, and are null if unknown', () => {
  const of = (/** @type {number} */ sigma) => {
    const { a, b } = blocks(createNormal(3), { n: 5, ratio: 1.03, drift: 0, sigma });
    return compareRuns([{ a, b }])[0].roundsNeeded;
  };
  const [few, many] = [of(0.03), of(0.06)];
  assert.ok(few !== null && many !== null && few > 5 && many > few, `${few}, ${many}`);
  assert.equal(of(0.0001), null, 'it is decided');
  const wide = [1e-3, 1, 1e3];
  assert.equal(compareRuns([{ a: wide, b: wide }])[0].roundsNeeded, null, 'more than 1000');
});

test('A against A: at most 21 of 200 comparisons at 5 % report a difference', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const normal = createNormal(seed);
    let [excluding, different] = [0, 0];
    const runs = [];
    for (let i = 0; i < 200; i += 1) {
      const { a, b } = blocks(normal, { n: 5, ratio: 1, drift: 0.1, sigma: 0.05 });
      runs.push({ a, b });
      const { low, high, answer } = pairedRatio(a, b) ?? {};
      if ((low ?? 0) > 1 || (high ?? 1) < 1) excluding += 1;
      if (answer !== undefined && isDecided(answer)) different += 1;
    }
    // That some intervals miss shows that the test can fail: a nominal 95 % is not 100 %.
    assert.ok(excluding >= 2 && excluding <= 21, `seed ${seed}: ${excluding}`);
    assert.ok(different <= excluding, `seed ${seed}: ${different}`);
    const corrected = compareRuns(runs).filter(({ answer }) => isDecided(answer));
    assert.ok(corrected.length <= 1, `seed ${seed}: ${corrected.length} after Holm`);
  }
});

test('a real difference of 5 % is found among many comparisons, with its direction', () => {
  const normal = createNormal(41);
  const runs = Array.from({ length: 20 }, (_, i) =>
    blocks(normal, { n: 8, ratio: i === 7 ? 0.95 : 1, drift: 0.001, sigma: 0.006 }),
  );
  const found = compareRuns(runs);
  assert.equal(found[7].answer, 'slower');
  assert.ok(found[7].confidence > 0.99);
  assert.ok(found.every(({ answer }, i) => i === 7 || !isDecided(answer)));
});
