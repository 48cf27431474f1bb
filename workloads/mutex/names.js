/** Which names a critical section locks: drawn before the clock starts, the same for all. */

import { createRandom, shuffled } from '../../lib/random.js';

const NAME_STREAM = 0x6d75; // apart from the streams of keys and orders
/** Sets that are drawn; a longer run goes through them again. */
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
 * @param {number} ops how many sets there will be; Infinity where that is not known
 * @returns {string[][]} n distinct names out of 2n - 1, in an order drawn
 */
export function drawSets(keys, seed, ops) {
  const random = createRandom(seed, NAME_STREAM);
  const names = Array.from({ length: namesOf(keys) }, (_, i) => `name-${i}`);
  const count = Math.max(1, Math.min(ops, SETS_MAX));
  return Array.from({ length: count }, () => shuffled(names, random).slice(0, keys));
}
