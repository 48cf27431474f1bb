/** Names locked by critical sections: drawn before the clock starts, equal for all contenders. */

import { createRandom, shuffled } from '../../lib/random.js';

const NAME_STREAM = 0x6d75; // apart from the streams of keys and orders
/** Number of drawn sets; a longer run reuses them. */
const SETS_MAX = 8192;

/**
 * @param {number} keys n
 * @returns {number} m: any two sets of n out of m have a name in common
 */
export function namesOf(keys) {
  return 2 * keys - 1;
}

/**
 * @param {number} keys n
 * @param {number} seed
 * @param {number} ops number of sets; Infinity: unknown
 * @returns {string[][]} n distinct names out of 2n - 1, in random order
 */
export function drawSets(keys, seed, ops) {
  const random = createRandom(seed, NAME_STREAM);
  const names = Array.from({ length: namesOf(keys) }, (_, i) => `name-${i}`);
  const count = Math.max(1, Math.min(ops, SETS_MAX));
  return Array.from({ length: count }, () => shuffled(names, random).slice(0, keys));
}
