/** Seeded draws for tests of intervals and verdicts: the same numbers on every machine. */

import { createRandom } from '../../../lib/random.js';

/**
 * @param {number} seed
 * @returns {() => number} standard normal draws, by Box and Muller
 */
export function createNormal(seed) {
  const random = createRandom(seed, 77);
  return () => {
    const radius = Math.sqrt(-2 * Math.log((random() + 1) / 4294967297));
    return radius * Math.cos((2 * Math.PI * random()) / 4294967296);
  };
}

/**
 * @param {() => number} normal
 * @param {{ n: number, median: number, sigma: number }} options sigma: of the logarithm
 * @returns {number[]} lognormal values
 */
export function lognormal(normal, { n, median, sigma }) {
  return Array.from({ length: n }, () => median * Math.exp(sigma * normal()));
}

/**
 * Rounds of two storages in blocks: what a block shares (drift) and what each benchmark has of its
 * own.
 * @param {() => number} normal
 * @param {{ n: number, ratio: number, drift: number, sigma: number }} options
 * @returns {{ a: number[], b: number[] }}
 */
export function blocks(normal, { n, ratio, drift, sigma }) {
  const a = [];
  const b = [];
  for (let i = 0; i < n; i += 1) {
    const shared = 50_000 * Math.exp(drift * normal());
    a.push(shared * ratio * Math.exp(sigma * normal()));
    b.push(shared * Math.exp(sigma * normal()));
  }
  return { a, b };
}
