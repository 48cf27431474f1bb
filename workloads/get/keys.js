/**
 * Rows to read: key distributions, drawn from a seed before the clock starts. The same
 * distribution, seed and rows give the same keys on every machine.
 *
 * Zipf and hotspot draw a rank, 0 for the hottest; a permutation of the dataset then spreads the
 * ranks over the ids, so that hot rows are not adjacent in a tree or a page. It does not depend on
 * the seed of the draw: every round, and the warm-up, has the same hot rows.
 */

import { usageError } from '../../lib/errors.js';
import { createRandom, drawBelow, mix32 } from '../../lib/random.js';
import { createZipf, unit } from '../../lib/zipf.js';

/** 16 MiB of keys; a longer run reuses them. */
export const KEYS_MAX = 4_194_304;
/** With a larger exponent the first row has all but 2^-60 of the draws. */
const EXPONENT_MAX = 60;

const KEY_STREAM = 0x6765; // distinct from the streams that draw orders of benchmarks
const SCRAMBLE = 0x7363;

/**
 * @typedef {{ distribution: 'uniform' } | { distribution: 'sequential' } | { distribution: 'zipf',
 *   exponent: number } | { distribution: 'hotspot', keyShare: number, operationShare: number }}
 *   KeyDistribution
 */

/**
 * @param {string} text `uniform`, `sequential`, `zipf:EXPONENT`, `hotspot:KEYS:OPERATIONS` with the
 *   fraction of hot keys and the fraction of operations on them
 * @returns {KeyDistribution}
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE
 */
export function parseKeys(text) {
  const [distribution, ...words] = text.trim().split(':');
  const numbers = words.map((word) =>
    /^(\d+\.?\d*|\.\d+)$/.test(word) ? Number(word) : Number.NaN,
  );
  const [a, b] = numbers;
  if ((distribution === 'uniform' || distribution === 'sequential') && words.length === 0)
    return { distribution };
  if (distribution === 'zipf' && words.length === 1 && a <= EXPONENT_MAX)
    return { distribution, exponent: a };
  if (distribution === 'hotspot' && words.length === 2 && a > 0 && a < 1 && b <= 1) {
    return { distribution, keyShare: a, operationShare: b };
  }
  throw usageError(
    `--keys ${JSON.stringify(text)}: not a key distribution`,
    `write uniform, sequential, zipf:0.99 (exponent 0 to ${EXPONENT_MAX}) or hotspot:0.1:0.9 ` +
      '(a tenth of the keys gets nine tenths of the operations)',
  );
}

/**
 * @param {number} rows
 * @param {number} seed seed of the draw
 * @param {number} ops number of operations, from 1 to Infinity
 * @param {{ keys?: string, spread?: number }} [options] keys: the format of parseKeys; spread: the
 *   seed of the dataset, which determines the hot rows
 * @returns {Uint32Array} ids from 1 to rows; min(ops, KEYS_MAX) of them, or a little less, so that
 *   a sequence ends where it begins
 */
export function drawKeys(rows, seed, ops, { keys = 'uniform', spread = 0 } = {}) {
  const distribution = parseKeys(keys);
  const length = Math.max(1, Math.min(ops, KEYS_MAX));
  if (distribution.distribution === 'sequential') {
    const whole = ops > KEYS_MAX && rows <= KEYS_MAX ? length - (length % rows) : length;
    return Uint32Array.from({ length: whole }, (_, i) => 1 + (i % rows));
  }
  const random = createRandom(seed, KEY_STREAM);
  const ids = new Uint32Array(length);
  if (distribution.distribution === 'uniform') {
    for (let i = 0; i < length; i += 1) ids[i] = 1 + drawBelow(random, rows);
    return ids;
  }
  const rank =
    distribution.distribution === 'zipf'
      ? createZipf(rows, distribution.exponent, random)
      : createHotspot(rows, distribution, random);
  const scramble = createScramble(rows, spread);
  for (let i = 0; i < length; i += 1) ids[i] = 1 + scramble(rank());
  return ids;
}

/**
 * @param {number} n
 * @param {{ keyShare: number, operationShare: number }} shares
 * @param {() => number} random
 * @returns {() => number} the next rank: uniform over the hot rows, or over the others
 */
function createHotspot(n, { keyShare, operationShare }, random) {
  const hot = Math.max(1, Math.round(n * keyShare));
  const cold = n - hot;
  if (cold === 0) return () => drawBelow(random, n);
  return () =>
    unit(random) < operationShare ? drawBelow(random, hot) : hot + drawBelow(random, cold);
}

/**
 * A permutation of 0 … n - 1 drawn by a seed: a Feistel network of four rounds over the next even
 * power of two, cycle-walked until the result is below n (J. Black and P. Rogaway, "Ciphers with
 * arbitrary finite domains", 2002); less than four steps on average.
 * @param {number} n 1 to 2^30
 * @param {number} seed
 * @returns {(rank: number) => number}
 */
export function createScramble(n, seed) {
  const half = Math.max(1, Math.ceil(Math.log2(Math.max(2, n)) / 2));
  const mask = 2 ** half - 1;
  const keys = [0, 1, 2, 3].map((round) => mix32(seed, SCRAMBLE + round));
  return (rank) => {
    let at = rank;
    do {
      let left = at >>> half;
      let right = at & mask;
      for (let round = 0; round < 4; round += 1) {
        const next = left ^ (mix32(right, keys[round]) & mask);
        left = right;
        right = next;
      }
      at = ((left << half) | right) >>> 0;
    } while (at >= n);
    return at;
  };
}
