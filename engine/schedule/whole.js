/**
 * One segment per contender, load and round, each in its own process, opened before and closed
 * after it, with no other contender open.
 */

import { createRandom, shuffled } from '../../lib/random.js';

/** @typedef {import('../contender.js').Amount} Amount */
/** @typedef {import('./index.js').Seen} Seen */
/** @typedef {import('./index.js').Step} Step */

/**
 * @param {number} seat seat whose process has one load, the first
 * @param {Amount} amount
 * @param {Seen} seen
 * @returns {Generator<Step[], void>}
 */
export function* wholeSegment(seat, amount, seen) {
  yield [{ do: 'open', seat }];
  if (!seen.isOut(seat)) yield [{ do: 'warm', seat, loads: [0] }];
  yield [{ do: 'pin', seat }];
  if (!seen.isOut(seat) && !seen.isRefused(seat, 0)) {
    yield [{ do: 'run', seat, load: 0, amount, block: 0, of: 1, lead: false }];
  }
  yield [{ do: 'close', seat }];
}

/**
 * A single round runs in the given order (that of the original program). With more, the order is
 * drawn from the seed for each pair of rounds, and the second of a pair is reversed, so that drift
 * cancels (A B B A).
 * @param {number} items
 * @param {number} round index of the round
 * @param {number} rounds
 * @param {number} seed
 * @returns {number[]} indices of items
 */
export function orderOfRound(items, round, rounds, seed) {
  const order = Array.from({ length: items }, (_, i) => i);
  if (rounds === 1) return order;
  const drawn = shuffled(order, createRandom(seed, 0x6f726400 + (round >>> 1)));
  return round % 2 === 0 ? drawn : drawn.reverse();
}
