/** The fetches of a run: number and choice of keys, series, and verification of replies. Pure. */

import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { createRandom, drawBelow } from '../../lib/random.js';
import { createVerifier, nothingCompared } from '../get/verifier.js';

/** @typedef {import('../../lib/types.js').Dataset} Dataset */
/** @typedef {import('../../lib/types.js').Series} Series */

/** Maximum number of keys in memory during a test. */
export const HELD_KEYS = 50_000;
/** 1 twice, since the first is the warm-up; then 5, 10 … 100. */
export const KEY_COUNTS = Object.freeze([
  1,
  1,
  ...Array.from({ length: 20 }, (_, i) => 5 * (i + 1)),
]);
/** Maximum ids drawn for the segments in blocks of one number of keys, and minimum fetches. */
const PART_IDS = 40_000;
const PART_FETCHES = 64;
/** Maximum keys per fetch. */
export const KEYS_MAX = 10_000;
/** Ids drawn for one load; later fetches of a series reuse the keys. */
const IDS_MAX = 4_000_000;
const KEY_STREAM = 0x6d67; // distinct from the streams of other keys and of orders
const COUNT_STREAM = 0x6d63;

/**
 * @typedef {object} MgetOptions
 * @property {readonly number[]} [counts] keys per fetch, one series each
 * @property {{ minKeys: number, maxKeys: number }} [scatter] instead: one series whose fetches have
 *   minKeys to maxKeys keys, drawn
 * @property {number} cycles fetches of a series
 * @property {number} lead uncounted fetches before and after each series; at least as many as in
 *   flight
 */

/**
 * @param {MgetOptions} options
 * @returns {number} operations of a load, including uncounted ones
 */
export function operationsOf({ counts, scatter, cycles, lead }) {
  if (scatter !== undefined) return spanOf(scatter) + cycles + 2 * lead;
  return (counts ?? KEY_COUNTS).length * (cycles + 2 * lead);
}

/** @param {{ minKeys: number, maxKeys: number }} scatter */
function spanOf({ minKeys, maxKeys }) {
  return maxKeys - minKeys + 1;
}

/**
 * @typedef {object} FetchPlan
 * @property {Uint16Array} sizes keys of each operation
 * @property {Series[]} series
 */

/**
 * Number of keys per operation. A scatter begins with an uncounted fetch of each size, because
 * drivers prepare a statement for each length of a list.
 * @param {MgetOptions} options
 * @param {number} seed
 * @returns {FetchPlan}
 */
export function planFetches(options, seed) {
  const { counts = KEY_COUNTS, scatter, cycles, lead } = options;
  const sizes = new Uint16Array(operationsOf(options));
  if (scatter !== undefined) {
    const random = createRandom(seed, COUNT_STREAM);
    const span = spanOf(scatter);
    for (let i = 0; i < sizes.length; i += 1) {
      sizes[i] = scatter.minKeys + (i < span ? i : drawBelow(random, span));
    }
    const from = span + lead;
    const to = from + cycles;
    const keysOf = Array.from(sizes.subarray(from, to));
    return { sizes, series: [{ keys: 0, warmup: false, from, to, keysOf }] };
  }
  const step = cycles + 2 * lead;
  const series = counts.map((keys, i) => {
    sizes.fill(keys, i * step, (i + 1) * step);
    const from = i * step + lead;
    // The first row occurs twice, as in the original program, which measured it once before the
    // client was warm.
    return { keys, warmup: i === 0 && counts[1] === keys, from, to: from + cycles };
  });
  return { sizes, series };
}

/**
 * @param {Dataset} dataset
 * @param {Uint16Array} sizes
 * @param {number} seed
 * @returns {number[][]} distinct ids of each operation, in the order drawn
 */
function drawFetches({ rows }, sizes, seed) {
  const random = createRandom(seed, KEY_STREAM);
  /** @type {Map<number, number[][]>} pool by size, if there are too many */
  const again = new Map();
  let drawn = 0;
  return Array.from(sizes, (size, i) => {
    if (drawn >= IDS_MAX) {
      const earlier = again.get(size);
      if (earlier !== undefined) return earlier[i % earlier.length];
    }
    const ids = drawDistinct(random, rows, size);
    drawn += size;
    if (!again.has(size)) again.set(size, []);
    again.get(size)?.push(ids);
    return ids;
  });
}

/**
 * @param {() => number} random
 * @param {number} rows
 * @param {number} size
 * @returns {number[]}
 */
function drawDistinct(random, rows, size) {
  /** @type {Set<number>} */
  const ids = new Set();
  while (ids.size < size) ids.add(1 + drawBelow(random, rows));
  return [...ids];
}

/**
 * @param {Record<string, unknown>} workloadOptions
 * @returns {import('../../lib/types.js').Part[]} a part per number of keys
 */
export function partsOf({ mget }) {
  const { counts = KEY_COUNTS } = /** @type {MgetOptions} */ (mget);
  return counts.map((keys, i) => ({ keys, warmup: i === 0 && counts[1] === keys }));
}

/**
 * @param {Parameters<import('../../lib/types.js').Prepare>[0]} context options.mget: MgetOptions
 * @returns {{ fetches: number[][], series: Series[] | undefined }} for a load as long as the plan;
 *   a shorter or longer one (a check, a warm-up) cycles through all sizes without series
 */
export function prepareFetches({ dataset, seed, ops, options }) {
  const { part, mget = { cycles: 100, lead: 1 } } =
    /** @type {{ mget?: MgetOptions, part?: import('../../lib/types.js').Part }} */ (options);
  if (part !== undefined) {
    const count = Math.min(ops, Math.max(PART_FETCHES, Math.floor(PART_IDS / part.keys)));
    const same = new Uint16Array(count).fill(part.keys);
    return { fetches: drawFetches(dataset, same, seed), series: undefined };
  }
  const { sizes, series } = planFetches(mget, seed);
  if (ops === sizes.length) return { fetches: drawFetches(dataset, sizes, seed), series };
  const count = Math.max(1, Math.min(ops, sizes.length));
  const spread = Uint16Array.from(
    { length: count },
    (_, i) => sizes[Math.floor((i * sizes.length) / count)],
  );
  return { fetches: drawFetches(dataset, spread, seed), series: undefined };
}

/**
 * @param {(handle: import('../../lib/types.js').RowsHandle, calls:
 *   import('../../lib/types.js').CallStyle) => { fetch: (ids: readonly number[], done?: (error:
 *   any, reply?: any) => void) => any, values(reply: any, ids: readonly number[]): any, calls?:
 *   import('../../lib/types.js').CallStyle }} by read method of the handle
 * @returns {import('../../lib/types.js').Prepare}
 */
export function prepareBy(by) {
  return (context) => {
    const { fetches, series } = prepareFetches(context);
    const { length } = fetches;
    return (handle, calls = 'promise') => {
      const { fetch, values, ...others } = by(handle, calls);
      const compared = nothingCompared();
      const verifyValue = createVerifier(context.dataset, compared);
      return {
        op: (index, done) => fetch(fetches[index < length ? index : index % length], done),
        verify(index, reply, whole) {
          const ids = fetches[index < length ? index : index % length];
          return verifyFetch(verifyValue, ids, values(reply, ids), whole);
        },
        ...others,
        compared,
        ...(series && { series }),
      };
    };
  };
}

/**
 * @param {import('../get/verifier.js').VerifyValue} verifyValue
 * @param {readonly number[]} ids
 * @param {readonly (string | null | undefined)[]} values
 * @param {boolean} whole compare each value in full
 * @returns {number} OK; MISS: a value is missing; MISMATCH
 */
export function verifyFetch(verifyValue, ids, values, whole) {
  if (!Array.isArray(values) || values.length !== ids.length) return MISMATCH;
  let missing = false;
  for (let i = 0; i < ids.length; i += 1) {
    const outcome = verifyValue(ids[i], values[i] ?? undefined, whole);
    if (outcome === MISMATCH) return MISMATCH;
    if (outcome === MISS) missing = true;
  }
  return missing ? MISS : OK;
}
