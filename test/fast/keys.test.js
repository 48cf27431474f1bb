/** The laws by which keys are drawn. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRandom } from '../../lib/random.js';
import { createZipf } from '../../lib/zipf.js';
import { createScramble, drawKeys, KEYS_MAX, parseKeys } from '../../workloads/get/keys.js';

const DRAWS = 400_000;

/**
 * Pearson's chi-square of counts against a distribution; bins that expect less than 10 are put
 * together.
 * @param {ArrayLike<number>} counts
 * @param {(benchmark: number) => number} probability
 * @param {number} draws
 * @returns {number} standardised: about 0 ± 1 if they follow it (Wilson and Hilferty)
 */
function chiSquareDeviate(counts, probability, draws) {
  let [sum, benchmarks, seen, expected, total] = [0, 0, 0, 0, 0];
  for (let i = 0; i < counts.length; i += 1) {
    seen += counts[i];
    expected += probability(i) * draws;
    total += probability(i);
    if (expected < 10 && i < counts.length - 1) continue;
    if (expected > 0) sum += (seen - expected) ** 2 / expected;
    benchmarks += 1;
    [seen, expected] = [0, 0];
  }
  assert.ok(Math.abs(total - 1) < 1e-9, `probabilities add up to ${total}`);
  const df = benchmarks - 1;
  return (Math.cbrt(sum / df) - (1 - 2 / (9 * df))) / Math.sqrt(2 / (9 * df));
}

/**
 * @param {Iterable<number>} values
 * @param {number} benchmarks
 */
function countOf(values, benchmarks) {
  const counts = new Uint32Array(benchmarks);
  for (const value of values) counts[value] += 1;
  return counts;
}

/**
 * @param {number} rows
 * @param {string} keys
 */
function drawn(rows, keys, seed = 1) {
  const ids = drawKeys(rows, seed, DRAWS, { keys, spread: 5 });
  assert.equal(ids.length, DRAWS);
  return countOf(ids, rows + 1);
}

describe('zipf', () => {
  for (const exponent of [0, 0.5, 0.99, 1, 1 + 1e-9, 1.2, 2, 5]) {
    for (const rows of [2, 10, 1000, 100_000]) {
      test(`exponent ${exponent} over ${rows} rows: the distribution by a chi-square test`, () => {
        const rank = createZipf(rows, exponent, createRandom(rows, 3));
        const ranks = Uint32Array.from({ length: DRAWS }, rank);
        const weights = Float64Array.from({ length: rows }, (_, i) => (i + 1) ** -exponent);
        const sum = weights.reduce((all, weight) => all + weight, 0);
        const deviate = chiSquareDeviate(countOf(ranks, rows), (i) => weights[i] / sum, DRAWS);
        assert.ok(Math.abs(deviate) < 4, `${deviate} standard deviations`);
      });
    }
  }

  test('one row is always drawn, very many stay in bounds', () => {
    const one = createZipf(1, 1.3, createRandom(1));
    for (let i = 0; i < 1000; i += 1) assert.equal(one(), 0);
    for (const exponent of [0, 0.3, 1, 60]) {
      const rank = createZipf(2 ** 30 - 1, exponent, createRandom(2));
      for (let i = 0; i < 10_000; i += 1) {
        const k = rank();
        assert.ok(Number.isInteger(k) && k >= 0 && k < 2 ** 30 - 1);
      }
    }
  });

  test('ids are scattered ranks: the same frequencies, hot ones apart', () => {
    const rows = 1000;
    const counts = drawn(rows, 'zipf:0.99');
    assert.equal(counts[0], 0);
    const scramble = createScramble(rows, 5);
    const sum = Array.from({ length: rows }, (_, i) => (i + 1) ** -0.99).reduce((a, b) => a + b);
    const byRank = Uint32Array.from({ length: rows }, (_, rank) => counts[1 + scramble(rank)]);
    const deviate = chiSquareDeviate(byRank, (i) => (i + 1) ** -0.99 / sum, DRAWS);
    assert.ok(Math.abs(deviate) < 4, `${deviate} standard deviations`);
    const hot = Array.from({ length: 10 }, (_, rank) => scramble(rank)).sort((a, b) => a - b);
    assert.ok(hot[9] - hot[0] > rows / 3, `the ten hottest are ${hot}`);
  });
});

test('uniform: the distribution by a chi-square test', () => {
  const deviate = chiSquareDeviate(drawn(997, 'uniform').subarray(1), () => 1 / 997, DRAWS);
  assert.ok(Math.abs(deviate) < 4, `${deviate} standard deviations`);
});

for (const [keyShare, operationShare] of [
  [0.1, 0.9],
  [0.5, 0.5],
  [0.001, 0],
  [0.2, 1],
]) {
  test(`hotspot:${keyShare}:${operationShare}: the distribution by a chi-square test`, () => {
    const rows = 1000;
    const counts = drawn(rows, `hotspot:${keyShare}:${operationShare}`);
    const hot = Math.max(1, rows * keyShare);
    const scramble = createScramble(rows, 5);
    const byRank = Uint32Array.from({ length: rows }, (_, rank) => counts[1 + scramble(rank)]);
    const probability = (/** @type {number} */ rank) =>
      rank < hot ? operationShare / hot : (1 - operationShare) / (rows - hot);
    for (let rank = 0; rank < rows; rank += 1) {
      if (probability(rank) === 0) assert.equal(byRank[rank], 0);
    }
    const deviate = chiSquareDeviate(byRank, probability, DRAWS);
    assert.ok(Math.abs(deviate) < 4, `${deviate} standard deviations`);
  });
}

test('sequential: every row in order, also when a long run starts over', () => {
  assert.deepEqual([...drawKeys(4, 9, 10, { keys: 'sequential' })], [1, 2, 3, 4, 1, 2, 3, 4, 1, 2]);
  const long = drawKeys(1000, 9, Number.POSITIVE_INFINITY, { keys: 'sequential' });
  assert.equal(long.length % 1000, 0);
  assert.ok(long.length > KEYS_MAX - 1000);
});

test('hot rows are equal in every round; draws are a function of the seed', () => {
  const top = (/** @type {number} */ seed) => {
    const counts = drawn(1000, 'zipf:1.2', seed);
    return counts.indexOf(Math.max(...counts));
  };
  assert.equal(top(1), top(17));
  const draw = (/** @type {number} */ seed) => drawKeys(1000, seed, 100, { keys: 'zipf:1' });
  assert.deepEqual(draw(3), draw(3));
  assert.notDeepEqual(draw(3), draw(4));
});

test('a scramble is a permutation, of any size', () => {
  for (const n of [1, 2, 3, 4, 5, 16, 17, 1000, 65_536, 65_537]) {
    const scramble = createScramble(n, n);
    const seen = new Uint8Array(n);
    for (let i = 0; i < n; i += 1) seen[scramble(i)] += 1;
    assert.ok(
      seen.every((times) => times === 1),
      `of ${n}`,
    );
  }
});

test('distributions are parsed, and anything else is refused in one line', () => {
  assert.deepEqual(parseKeys('uniform'), { distribution: 'uniform' });
  assert.deepEqual(parseKeys('sequential'), { distribution: 'sequential' });
  assert.deepEqual(parseKeys('zipf:0.99'), { distribution: 'zipf', exponent: 0.99 });
  assert.deepEqual(parseKeys('zipf:0'), { distribution: 'zipf', exponent: 0 });
  assert.deepEqual(parseKeys('hotspot:0.1:0.9'), {
    distribution: 'hotspot',
    keyShare: 0.1,
    operationShare: 0.9,
  });
  const wrong = 'zipf zipf: zipf:-1 zipf:x zipf:1:2 zipf:61 uniform:1 hotspot hotspot:0.1 normal';
  for (const text of [...wrong.split(' '), 'hotspot:0:1', 'hotspot:1:1', 'hotspot:0.1:1.1', '']) {
    assert.throws(
      () => parseKeys(text),
      { code: 'E_USAGE', message: /not a key distribution/ },
      text,
    );
  }
});
