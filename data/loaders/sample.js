/** The rows that are read back and compared in full after a load. */

import { createRandom, drawBelow } from '../../lib/random.js';

/** At least a hundred, so that one wrong row in fifty is missed in one load of seven. */
export const SAMPLE_ROWS = 128;

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {number} [size] maximum number
 * @returns {number[]} distinct ids in ascending order, including the first and the last row
 */
export function sampleIds(dataset, size = SAMPLE_ROWS) {
  const { rows, seed } = dataset;
  if (rows <= size) return Array.from({ length: rows }, (_, index) => index + 1);
  const random = createRandom(seed, rows);
  const ids = new Set([1, rows]);
  while (ids.size < size) ids.add(1 + drawBelow(random, rows));
  return [...ids].sort((a, b) => a - b);
}
