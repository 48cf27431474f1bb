/**
 * HdrHistogram V2, compressed, base64: the format of histograms in results, readable by other
 * HdrHistogram tools. hdr-histogram-js encodes and decodes.
 *
 * Not for the hot path: the library takes about 60 ms to load, so it is loaded at first use.
 */

import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import { DragstripError } from '../lib/errors.js';
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

/** @returns {typeof import('hdr-histogram-js')} by require, because reports are synchronous */
function library() {
  return require('hdr-histogram-js');
}

/** A count has up to nine bytes, and there are some 57,000 of them up to the highest value. */
const INFLATED_BYTES_MAX = 1 << 20;
const BASE64_LENGTH_MAX = 1 << 21;
/** Cookie and length before the compressed bytes; the fields before the counts. */
const COMPRESSED_HEADER = 8;
const PLAIN_HEADER = 40;

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
  const hdr = decodeByLibrary(base64);
  const sparse = [];
  const seen = { count: 0, sum: 0, min: 0, max: 0 };
  const end = hdr.countsArrayIndex(hdr.maxValue) + 1;
  for (let i = 0; i < end; i++) {
    const n = hdr.getCountAtIndex(i);
    if (n === 0) continue;
    if (seen.count === 0) seen.min = lowestAt(i);
    seen.max = highestAt(i);
    seen.count += n;
    seen.sum += Math.floor((lowestAt(i) + highestAt(i)) / 2) * n;
    sparse.push(i, n);
  }
  if (exact.count !== undefined && exact.count !== seen.count) {
    throw refused(`it holds ${seen.count} values, not ${exact.count}`);
  }
  return Histogram.fromSparse({ sparse, ...seen, ...exact });
}

/** @param {string} why @param {unknown} [cause] */
function refused(why, cause) {
  return new DragstripError('E_USAGE', `not a histogram written by Dragstrip: ${why}`, {
    hint: 'use a file written by --json or --out',
    cause,
  });
}

/**
 * A few kilobytes can claim to be gigabytes: the size is bounded before the library inflates it,
 * and the precision, by which it allocates.
 * @param {string} base64
 * @throws {DragstripError} E_USAGE
 */
function requireSmall(base64) {
  if (base64.length > BASE64_LENGTH_MAX) throw refused('it is too long');
  let plain;
  try {
    plain = inflateSync(Buffer.from(base64, 'base64').subarray(COMPRESSED_HEADER), {
      maxOutputLength: INFLATED_BYTES_MAX,
    });
  } catch (error) {
    throw refused(`not HdrHistogram V2 (${error.message})`, error);
  }
  if (plain.length < PLAIN_HEADER) throw refused('not HdrHistogram V2 (it is too short)');
  // Cookie, payload length, index offset, digits, lowest and highest value, ratio.
  const digits = plain.readInt32BE(12);
  const unit = plain.readBigInt64BE(16);
  if (unit !== 1n || digits !== CONFIGURATION.numberOfSignificantValueDigits) {
    throw refused(`unit ${unit} and ${digits} digits instead of unit 1 and 3 digits`);
  }
}

/**
 * @param {string} base64
 * @returns {import('hdr-histogram-js').JsHistogram} with the configuration above, so that
 *   its indexes are the same
 */
function decodeByLibrary(base64) {
  requireSmall(base64);
  const { decodeFromCompressedBase64 } = library();
  /** @type {any} the typings omit the counts */
  let hdr;
  try {
    hdr = decodeFromCompressedBase64(base64, CONFIGURATION.bitBucketSize);
  } catch (error) {
    throw refused(`not HdrHistogram V2 (${error.message})`, error);
  }
  const { lowestDiscernibleValue: unit, numberOfSignificantValueDigits: digits } = hdr;
  if (unit !== 1 || digits !== CONFIGURATION.numberOfSignificantValueDigits) {
    throw refused(`unit ${unit} and ${digits} digits instead of unit 1 and 3 digits`);
  }
  return hdr;
}
