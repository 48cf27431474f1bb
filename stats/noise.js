/**
 * The noise floor of a run: how far apart two measurements of the same thing came out in it.
 *
 * Goals: a bound that a real difference must exceed, from A/A pairs of the very run. Non-goals:
 * the cause of the noise; the environment's warnings name suspects.
 */

import { CONFIDENCE, requireConfidence } from './interval.js';
import { ratioInterval } from './ratio.js';
import { studentQuantile } from './student.js';

/**
 * @typedef {object} NoiseFloor
 * @property {number | null} noise as a share of 1: 0.013 says that equal things came out up to
 *   1.3 % apart; null: unknown, since nothing was measured against itself
 * @property {number} pairs A/A pairs with two blocks or more
 * @property {number} n blocks of all pairs together
 */

/**
 * Under A/A the true log ratio is zero, so each block tells the variance around zero, and all
 * blocks of all pairs together give it with N degrees of freedom. The noise of a ratio over as
 * many blocks as a pair has is t(N) · s / √n; no observed A/A ratio may be beyond it, since a
 * bias that all blocks share does not average out.
 * @param {ReadonlyArray<{ a: import('./ratio.js').Rounds, b: import('./ratio.js').Rounds }>} pairs
 *   rounds of the same storage under two names, by block
 * @param {{ confidence?: number, blocks?: number }} [options] blocks: those of the comparisons that
 *   the noise is for, where they have others than the A/A pairs
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
    // Chance falls with the root of the blocks: a pair of few is held against no more than that.
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
 * The A/A pairs that every run of several rounds has: the same cell in rounds 1 and 2, in 3 and 4,
 * and so on, which run in mirrored order. They contain the drift from round to round, which the
 * ratios within a round do not, so that the noise is rather too great than too small.
 * @param {import('./ratio.js').Rounds} rounds of one cell
 * @returns {{ a: import('./ratio.js').Rounds, b: import('./ratio.js').Rounds }}
 */
export function successiveRounds(rounds) {
  const even = rounds.filter((_, i) => i % 2 === 0 && i + 1 < rounds.length);
  return { a: even, b: rounds.filter((_, i) => i % 2 === 1) };
}
