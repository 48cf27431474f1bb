/**
 * Run-to-run noise: the difference between measurements of the same benchmark within a run.
 *
 * Goal: a bound that a real difference must exceed, from A/A pairs of the same run. Non-goal: the
 * cause of the noise; the environment warnings name candidates.
 */

import { CONFIDENCE, requireConfidence } from './interval.js';
import { ratioInterval } from './ratio.js';
import { studentQuantile } from './student.js';

/**
 * @typedef {object} NoiseFloor
 * @property {number | null} noise as a share: 0.013 means that equal benchmarks differed by
 *   up to 1.3 %; null: unknown, because there are no A/A pairs
 * @property {number} pairs A/A pairs with at least two blocks
 * @property {number} n blocks of all pairs together
 */

/**
 * Under A/A the true log ratio is zero, so every block estimates the variance around zero, and all
 * blocks of all pairs together have N degrees of freedom. The noise of a ratio over n blocks is
 * t(N) · s / √n, or the largest observed A/A ratio if that is greater, because a bias common to all
 * blocks does not average out.
 * @param {ReadonlyArray<{ a: import('./ratio.js').Rounds, b: import('./ratio.js').Rounds }>} pairs
 *   rounds of the same storage under two names, by block
 * @param {{ confidence?: number, blocks?: number }} [options] blocks: number of blocks of the
 *   comparisons, if it differs from that of the A/A pairs
 * @returns {NoiseFloor}
 */
export function noiseFloor(pairs, { confidence = CONFIDENCE, blocks: wanted } = {}) {
  requireConfidence(confidence);
  let squares = 0;
  let blocks = 0;
  let largest = 0;
  let fewest = Infinity;
  let used = 0;
  for (const { a, b } of pairs) {
    const { ratio, logDeviation, n } = ratioInterval(a, b, { confidence });
    if (ratio === null || logDeviation === null) continue;
    const centre = Math.log(ratio);
    squares += (n - 1) * logDeviation ** 2 + n * centre ** 2;
    blocks += n;
    // Random error falls with the root of the number of blocks: scale pairs with few blocks.
    largest = Math.max(largest, Math.abs(centre) * Math.sqrt(n / (wanted ?? n)));
    fewest = Math.min(fewest, n);
    used += 1;
  }
  if (used === 0) return { noise: null, pairs: 0, n: 0 };
  const deviation = Math.sqrt(squares / blocks);
  const bound =
    (studentQuantile((1 + confidence) / 2, blocks) * deviation) / Math.sqrt(wanted ?? fewest);
  return { noise: Math.expm1(Math.max(bound, largest)), pairs: used, n: blocks };
}

/**
 * The A/A pairs of a run with several rounds: the same benchmark in rounds 1 and 2, 3 and 4, and so
 * on, which run in mirrored order. They include the drift between rounds, which ratios within a
 * round do not, so the noise is rather over- than underestimated.
 * @param {import('./ratio.js').Rounds} rounds of one benchmark
 * @returns {{ a: import('./ratio.js').Rounds, b: import('./ratio.js').Rounds }}
 */
export function successiveRounds(rounds) {
  const even = rounds.filter((_, i) => i % 2 === 0 && i + 1 < rounds.length);
  return { a: even, b: rounds.filter((_, i) => i % 2 === 1) };
}
