/** The recorder's histogram, against HdrHistogram's own arithmetic. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { build, encodeIntoCompressedBase64, Float64Histogram } from 'hdr-histogram-js';
import { decode, encode } from '../../measure/hdr.js';
import { Histogram, highestAt, indexOf, lowestAt } from '../../measure/histogram.js';

const HOUR_NS = 3_600_000_000_000;
const QUANTILES = [0, 0.001, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1];

/** Values of every magnitude, as latencies are: a random number of bits, then random bits. */
const latency = fc
  .tuple(fc.integer({ min: 0, max: 53 }), fc.maxSafeNat())
  .map(([bits, value]) => value % 2 ** bits);

/** @param {readonly number[]} values */
function histogramOf(values) {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

function libraryHistogram() {
  return new Float64Histogram(1, Number.MAX_SAFE_INTEGER, 3);
}

test('every safe integer has the bucket of HdrHistogram', () => {
  const hdr = libraryHistogram();
  const edges = [0, 1, 2047, 2048, 4095, 4096, HOUR_NS, Number.MAX_SAFE_INTEGER];
  for (let bits = 1; bits < 53; bits++) edges.push(2 ** bits - 1, 2 ** bits, 2 ** bits + 1);
  for (const value of edges) assert.equal(indexOf(value), hdr.countsArrayIndex(value), `${value}`);
  fc.assert(
    fc.property(latency, (value) => {
      const index = indexOf(value);
      assert.equal(index, hdr.countsArrayIndex(value));
      // Not its lowestEquivalentValue(value): that takes a logarithm, wrong for 2^49 − 1.
      assert.equal(lowestAt(index), hdr.valueFromIndex(index));
      assert.ok(lowestAt(index) <= value && value <= highestAt(index));
      assert.ok(highestAt(index) - lowestAt(index) <= value / 1000, 'three significant digits');
    }),
    { numRuns: 2000, seed: 1 },
  );
});

test('200 random splits, merged in any order, encode to the same bytes as the whole', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(latency, fc.integer({ min: 0, max: 7 })), { maxLength: 300 }),
      fc.boolean(),
      (tagged, reversed) => {
        const whole = histogramOf(tagged.map(([value]) => value));
        const parts = Array.from({ length: 8 }, () => new Histogram());
        for (const [value, part] of tagged) parts[part].record(value);
        if (reversed) parts.reverse();
        const merged = parts.reduce((sum, part) => sum.merge(part), new Histogram());
        assert.equal(encode(merged), encode(whole));
        assert.deepEqual(merged.toMessage(), { ...whole.toMessage(), sum: merged.sum });
        // Below 2^53 the sum is exact, so the order does not matter; above, a double rounds.
        if (whole.sum <= Number.MAX_SAFE_INTEGER) assert.equal(merged.sum, whole.sum);
      },
    ),
    { numRuns: 200, seed: 2 },
  );
});

test('percentiles equal those of hdr-histogram-js', () => {
  fc.assert(
    fc.property(fc.array(latency, { minLength: 1, maxLength: 500 }), (values) => {
      const hdr = libraryHistogram();
      for (const value of values) hdr.recordValue(value);
      const ours = histogramOf(values);
      for (const q of QUANTILES) {
        assert.equal(ours.percentile(q), hdr.getValueAtPercentile(q * 100), `q ${q}`);
      }
    }),
    { numRuns: 300, seed: 3 },
  );
});

test('percentiles agree if the rank is a whole number of a large count', () => {
  for (const n of [1, 10, 100, 1000, 10_000, 100_000]) {
    const [ours, hdr] = [new Histogram(), libraryHistogram()];
    for (let i = 1; i <= n; i++) {
      ours.record(i);
      hdr.recordValue(i);
    }
    for (const q of QUANTILES) assert.equal(ours.percentile(q), hdr.getValueAtPercentile(q * 100));
  }
});

test('the bytes equal those of hdr-histogram-js for the same values', () => {
  const values = [1, 1, 180, 2047, 2048, 81_300, 81_300, 2 ** 31, HOUR_NS];
  const hdr = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: Number.MAX_SAFE_INTEGER,
    numberOfSignificantValueDigits: 3,
    bitBucketSize: 64,
  });
  for (const value of values) hdr.recordValue(value);
  assert.equal(encode(histogramOf(values)), encodeIntoCompressedBase64(hdr));
});

test('a nanosecond, an hour, a hundred days: nothing is clamped', () => {
  for (const value of [1, HOUR_NS, 3 * HOUR_NS, 2400 * HOUR_NS, Number.MAX_SAFE_INTEGER]) {
    const histogram = histogramOf([value]);
    assert.deepEqual([histogram.min, histogram.max, histogram.sum], [value, value, value]);
    const p50 = histogram.percentile(0.5);
    assert.ok(p50 >= value && p50 <= value * 1.001, `${value}: ${p50}`);
  }
});

test('fractions are truncated, and a time below 0 counts as 0', () => {
  const histogram = histogramOf([0.9, -5, -0.1, 1999.99, 2 ** 31 + 0.5, 2 ** 40 + 0.75]);
  assert.equal(histogram.count, 6);
  assert.equal(histogram.min, 0);
  assert.equal(histogram.sum, 1999 + 2 ** 31 + 2 ** 40);
  assert.equal(histogram.max, 2 ** 40);
});

test('invalid times and counts are refused, and nothing is recorded', () => {
  const histogram = new Histogram();
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    assert.throws(() => histogram.record(bad), { code: 'E_INTERNAL' });
  }
  assert.throws(() => histogram.recordCount(1, -1), { code: 'E_INTERNAL' });
  assert.throws(() => histogram.recordCount(1, 1.5), { code: 'E_INTERNAL' });
  histogram.recordCount(7, 0);
  assert.deepEqual(histogram.toMessage(), {
    sparse: [],
    count: 0,
    min: 0,
    max: 0,
    sum: 0,
  });
});

test('recordCount equals repeated record, also beyond 32 bits', () => {
  const often = new Histogram();
  for (let i = 0; i < 5; i++) often.record(81_300);
  const once = new Histogram();
  once.recordCount(81_300, 5);
  assert.deepEqual(once.toMessage(), often.toMessage());
  once.recordCount(81_300, 2 ** 33);
  assert.equal(decode(encode(once)).count, 2 ** 33 + 5);
});

test('a histogram of another configuration is refused: in a merge and in a decode', () => {
  const coarse = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HOUR_NS,
    numberOfSignificantValueDigits: 2,
    bitBucketSize: 64,
  });
  coarse.recordValue(1000);
  assert.throws(() => new Histogram().merge(/** @type {any} */ (coarse)), { code: 'E_INTERNAL' });
  assert.throws(() => decode(encodeIntoCompressedBase64(coarse)), {
    code: 'E_USAGE',
    message: /2 digits/,
  });
});

test('it is unchanged by encode and decode, and by a message', () => {
  fc.assert(
    fc.property(fc.array(latency, { maxLength: 200 }), (values) => {
      const histogram = histogramOf(values);
      const { count, min, max, sum } = histogram;
      const decoded = decode(encode(histogram), { count, min, max, sum });
      assert.deepEqual(decoded.toMessage(), histogram.toMessage());
      const message = structuredClone(histogram.toMessage());
      assert.deepEqual(Histogram.fromSparse(message).toMessage(), histogram.toMessage());
    }),
    { numRuns: 100, seed: 4 },
  );
});

test('decoded without its exact values, they are within the precision', () => {
  const histogram = histogramOf([999, 81_300, 1_234_567, HOUR_NS]);
  const decoded = decode(encode(histogram));
  assert.equal(decoded.count, 4);
  for (const field of /** @type {const} */ (['min', 'max', 'sum', 'mean'])) {
    const ratio = decoded[field] / histogram[field];
    assert.ok(Math.abs(ratio - 1) < 0.001, `${field}: ${ratio}`);
  }
});

test('anything but a histogram is reported in one line, E_USAGE', () => {
  const good = encode(histogramOf([1, 2, 3]));
  for (const bad of ['', 'AAAA', 'not base64 at all', good.slice(0, 20), `${good}=====`]) {
    assert.throws(() => decode(bad), { code: 'E_USAGE', message: /^not a histogram/ }, bad);
  }
  assert.throws(() => decode(good, { count: 4 }), { message: /holds 3 values, not 4/ });
});

test('a damaged message is refused', () => {
  const message = { sparse: [5, 2], count: 2, min: 5, max: 5, sum: 10 };
  for (const sparse of [[5], [5, 3], [-1, 2], [1e9, 2], [5, -2], [5.5, 2], [5, 2, 6, 1]]) {
    assert.throws(() => Histogram.fromSparse({ ...message, sparse }), { code: 'E_INTERNAL' });
  }
  for (const wrong of [{ min: 4 }, { max: 6 }, { min: -5 }, { max: 5.5 }, { max: Number.NaN }]) {
    assert.throws(() => Histogram.fromSparse({ ...message, ...wrong }), { code: 'E_INTERNAL' });
  }
  const three = { sparse: [5, 1, 6, 1, 7, 1], count: 3, min: 5, max: 7, sum: 18 };
  assert.equal(Histogram.fromSparse(three).count, 3);
  for (const inner of [{ min: 6 }, { max: 6 }]) {
    assert.throws(() => Histogram.fromSparse({ ...three, ...inner }), { code: 'E_INTERNAL' });
  }
});

test('a percentile is printable from N·(1−q) = 10', () => {
  for (const [q, n] of [
    [0.5, 20],
    [0.9, 100],
    [0.99, 1000],
    [0.999, 10_000],
    [0.9999, 100_000],
  ]) {
    const histogram = new Histogram();
    histogram.recordCount(5, n - 1);
    assert.equal(histogram.printablePercentile(q), null, `q ${q} of ${n - 1}`);
    histogram.record(5);
    assert.equal(histogram.printablePercentile(q), 5, `q ${q} of ${n}`);
  }
  assert.equal(new Histogram().percentile(0.99), 0);
  assert.throws(() => new Histogram().percentile(99), { code: 'E_INTERNAL' });
});

test('the library behind the encoding is not loaded until something is encoded', () => {
  const script = `
    import { createRequire } from 'node:module';
    const { encode } = await import('./measure/hdr.js');
    const { Histogram } = await import('./measure/histogram.js');
    const loaded = () =>
      Object.keys(createRequire(import.meta.url).cache).some((name) => name.includes('hdr-histo'));
    const before = loaded();
    encode(new Histogram());
    console.log(before, loaded());
  `;
  const cwd = new URL('../..', import.meta.url);
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd });
  assert.equal(output.toString().trim(), 'false true');
});

/** @param {Buffer} plain a payload @returns {string} as in a result */
function packed(plain) {
  const compressed = deflateSync(plain);
  const header = Buffer.alloc(8);
  header.writeInt32BE(0x1c849314, 0);
  header.writeInt32BE(compressed.length, 4);
  return Buffer.concat([header, compressed]).toString('base64');
}

/** @param {number[]} words bytes of counts @returns {string} */
function withCounts(words) {
  const plain = Buffer.alloc(40 + words.length);
  plain.writeInt32BE(0x1c849313, 0);
  plain.writeInt32BE(words.length, 4);
  plain.writeInt32BE(3, 12);
  plain.writeBigInt64BE(1n, 16);
  plain.writeBigInt64BE(2n ** 53n - 1n, 24);
  Buffer.from(words).copy(plain, 40);
  return packed(plain);
}

test('impossible counts are refused, without an internal error', () => {
  // ZigZag: 3 is a run of two zeros, 4 a count of two.
  assert.deepEqual(decode(withCounts([3, 4])).toSparse(), [2, 2]);
  const large = [...Array(8).fill(0x80), 0x7f];
  const zeros = [0xff, 0xff, 0xff, 0x7f];
  for (const [words, why] of /** @type {[number[], RegExp][]} */ ([
    [large, /counts are too large/],
    [[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 4], /counts are too large/],
    [[...zeros, 4], /more counts than values/],
    [[4, 0x80], /truncated/],
  ])) {
    assert.throws(() => decode(withCounts(words)), { code: 'E_USAGE', message: why });
  }
});

test('a few kilobytes that would inflate to gigabytes are refused beforehand', () => {
  const huge = packed(Buffer.alloc(256 << 20));
  assert.ok(huge.length < 400_000);
  const before = process.memoryUsage().rss;
  assert.throws(() => decode(huge), { code: 'E_USAGE', message: /^not a histogram/ });
  assert.ok(process.memoryUsage().rss - before < 100 << 20);
  const precise = Buffer.alloc(64);
  precise.writeInt32BE(0x1c849303, 0);
  precise.writeInt32BE(5, 12); // 100 times as many buckets
  precise.writeBigInt64BE(1n, 16);
  precise.writeBigInt64BE(2n ** 53n - 1n, 24);
  assert.throws(() => decode(packed(precise)), { code: 'E_USAGE', message: /5 digits/ });
  const long = Buffer.alloc(3 << 20, 'A').toString();
  assert.throws(() => decode(long), { code: 'E_USAGE', message: /too long/ });
});

test('named percentiles match their names', () => {
  const histogram = histogramOf(Array.from({ length: 20_000 }, (_, i) => Math.ceil((i + 1) / 10)));
  const expected = { p50Ns: 1000, p90Ns: 1800, p99Ns: 1980, p999Ns: 1998 };
  assert.deepEqual(histogram.percentiles(), expected);
});
