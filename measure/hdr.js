/**
 * HdrHistogram V2, compressed, base64: the format of histograms in results, readable by other
 * HdrHistogram tools. hdr-histogram-js encodes; its decoder would allocate any size that a header
 * claims and accept any count, so measure/hdr-counts.js reads the counts.
 *
 * Not for the hot path: the library takes about 60 ms to load, so it is loaded at first use.
 */

import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import { DragstripError } from '../lib/errors.js';
import { readCounts, refused } from './hdr-counts.js';
import { Histogram, highestAt, lowestAt } from './histogram.js';

/**
 * The header: unit 1 ns, 3 digits, all safe integers. Counts have 64 bits, because 32-bit counts
 * wrap silently.
 */
const CONFIGURATION = Object.freeze({
  lowestDiscernibleValue: 1,
  highestTrackableValue: Number.MAX_SAFE_INTEGER,
  numberOfSignificantValueDigits: /** @type {const} */ (3),
  bitBucketSize: /** @type {const} */ (64),
});

const require = createRequire(import.meta.url);

/** @typedef {import('../lib/result.js').Latency} Latency */
/** @typedef {import('../lib/result.js').Round} Round */

/**
 * @returns {typeof import('hdr-histogram-js')} loaded with require, because reports are synchronous
 */
function library() {
  return require('hdr-histogram-js');
}

/** A count has up to nine bytes, and there are about 45,000 of them up to the highest value. */
const INFLATED_BYTES_MAX = 1 << 20;
const BASE64_LENGTH_MAX = 1 << 21;
/** Strict: Buffer.from() skips characters that are not base64. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** Cookie and length before the compressed bytes. */
const COMPRESSED_HEADER = 8;
const COMPRESSED_COOKIE = 0x1c849304;
/** The second digit of a cookie is a word size, which V2 does not use. */
const COOKIE_MASK = ~0xf0;

/**
 * @param {Histogram} histogram
 * @returns {string} identical for identical counts
 */
export function encode(histogram) {
  const { build, encodeIntoCompressedBase64 } = library();
  const hdr = build(CONFIGURATION);
  const sparse = histogram.toSparse();
  for (let i = 0; i < sparse.length; i += 2) {
    hdr.recordValueWithCount(lowestAt(sparse[i]), sparse[i + 1]);
  }
  return encodeIntoCompressedBase64(hdr);
}

/**
 * @typedef {object} Exact exact values stored with the counts
 * @property {number} [count] checked against the counts
 * @property {number} [min]
 * @property {number} [max]
 * @property {number} [sum]
 */

/**
 * @param {string} base64
 * @param {Exact} [exact] absent values are derived from the buckets: the lowest equivalent of the
 *   minimum, the highest equivalent of the maximum, the middle of each bucket for the sum
 * @returns {Histogram}
 * @throws {DragstripError} E_USAGE: not HdrHistogram V2, another unit or precision, another count
 */
export function decode(base64, exact = {}) {
  const sparse = readCounts(inflate(base64));
  const seen = { count: 0, sum: 0, min: 0, max: 0 };
  for (let i = 0; i < sparse.length; i += 2) {
    const [low, high] = [lowestAt(sparse[i]), highestAt(sparse[i])];
    if (i === 0) seen.min = low;
    seen.max = high;
    seen.count += sparse[i + 1];
    seen.sum += Math.floor((low + high) / 2) * sparse[i + 1];
  }
  if (exact.count !== undefined && exact.count !== seen.count) {
    throw refused(`it holds ${seen.count} values, not ${exact.count}`);
  }
  return Histogram.fromSparse({ sparse, ...seen, ...exact });
}

/**
 * A few kilobytes can claim to be gigabytes, so the size is bounded.
 * @param {string} base64
 * @returns {Buffer}
 * @throws {DragstripError} E_USAGE
 */
function inflate(base64) {
  if (base64.length > BASE64_LENGTH_MAX) throw refused('it is too long');
  if (base64.length % 4 !== 0 || !BASE64.test(base64)) throw refused('not base64');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length < COMPRESSED_HEADER) throw refused('not HdrHistogram V2 (it is too short)');
  if ((bytes.readInt32BE(0) & COOKIE_MASK) !== COMPRESSED_COOKIE) {
    throw refused('not HdrHistogram V2 (unexpected cookie)');
  }
  const end = COMPRESSED_HEADER + bytes.readUInt32BE(4);
  try {
    return inflateSync(bytes.subarray(COMPRESSED_HEADER, end), {
      maxOutputLength: INFLATED_BYTES_MAX,
    });
  } catch (error) {
    throw refused(`not HdrHistogram V2 (${error.message})`, error);
  }
}

/**
 * @param {Pick<import('../lib/result.js').Benchmark, 'id' | 'rounds'>} source
 * @param {(round: Round) => Latency | null | undefined} [of] histogram to merge; absent: all
 *   operations of measured rounds
 * @returns {Histogram | null} the merged histogram of the rounds; null: no latency is known
 * @throws {DragstripError} E_USAGE: a histogram is damaged
 */
export function mergedHistogram({ id, rounds }, of = measuredLatency) {
  const merged = new Histogram();
  let any = false;
  for (const one of rounds) {
    const latency = of(one);
    if (!latency) continue;
    any = true;
    try {
      merged.merge(decode(latency.histogram, { count: latency.count }));
    } catch (error) {
      const message = `benchmark ${id}, round ${one.round}: ${error.message}`;
      throw new DragstripError('E_USAGE', message, { hint: error.hint, cause: error });
    }
  }
  return any ? merged : null;
}

/** @param {Round} round */
function measuredLatency({ state, latency }) {
  return state === 'measured' ? latency : null;
}
