/**
 * Seeded random numbers: the same sequence on every machine, for datasets, keys and orders of
 * benchmarks. Not for secrets.
 */

/**
 * Mixes two 32-bit integers into one, well enough that neighbours share no pattern. The finaliser
 * is that of MurmurHash3 (Austin Appleby, public domain), applied to both words in turn.
 * @param {number} a any integer, modulo 2^32
 * @param {number} b any integer, modulo 2^32
 * @returns {number} an unsigned 32-bit integer
 */
export function mix32(a, b) {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h ^ b, 0xc2b2ae35);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  return h >>> 0;
}

/**
 * A generator of unsigned 32-bit integers: sfc32 by Chris Doty-Humphrey (PractRand), 128 bits of
 * state, period at least 2^32.
 * @param {number} seed any integer
 * @param {number} [stream] another integer: independent sequences of one seed
 * @returns {() => number} function that returns the next unsigned 32-bit integer
 */
export function createRandom(seed, stream = 0) {
  let a = mix32(seed, stream) | 0;
  let b = mix32(stream, seed ^ 0x5bd1e995) | 0;
  let c = (seed ^ 0x1b873593) | 0;
  let counter = 1;
  const next = () => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  // PractRand's own seeding discards the first outputs, in which the seed still shows.
  for (let i = 0; i < 12; i += 1) next();
  return next;
}

/**
 * Draws an integer below a bound. Lemire's multiply-and-reject is not needed for bounds far below
 * 2^32, so the remainder of a 53-bit draw is used (bias below 2^-21 at 2^32).
 * @param {() => number} random result of createRandom
 * @param {number} bound 1 to 2^32
 * @returns {number} 0 to bound - 1
 */
export function drawBelow(random, bound) {
  const high = random() >>> 5;
  const low = random() >>> 6;
  return Math.floor(((high * 67108864 + low) / 9007199254740992) * bound);
}

/**
 * Fisher and Yates' shuffle; the argument is not modified.
 * @template T
 * @param {readonly T[]} items
 * @param {() => number} random result of createRandom
 * @returns {T[]}
 */
export function shuffled(items, random) {
  const copy = items.slice();
  for (let i = copy.length - 1; i > 0; i -= 1) {
    const j = drawBelow(random, i + 1);
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}
