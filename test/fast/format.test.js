/** Numbers and foreign text as people read them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  displayWidth,
  formatBytes,
  formatCount,
  formatDuration,
  formatElapsed,
  formatInterval,
  formatMicroseconds,
  formatRatio,
  formatShare,
  formatSignificant,
  formatThroughput,
  formatWidth,
  plainText,
  wrap,
} from '../../lib/format.js';

/**
 * @template T
 * @param {(value: T) => string} format
 * @param {[T, string][]} cases
 */
function assertFormats(format, cases) {
  for (const [value, text] of cases) assert.equal(format(value), text, `${value}`);
}

test('a missing value is a dash, never a zero', () => {
  for (const format of [formatCount, formatThroughput, formatDuration, formatBytes, formatRatio]) {
    assert.equal(format(null), '–');
    assert.doesNotMatch(format(0), /–/);
  }
  assert.equal(formatMicroseconds(null), '–');
});

test('three significant digits, also where rounding carries over', () => {
  assertFormats(formatSignificant, [
    [0, '0'],
    [0.041234, '0.0412'],
    [0.9996, '1.00'],
    [4.1234, '4.12'],
    [9.994, '9.99'],
    [9.996, '10.0'],
    [99.94, '99.9'],
    [99.96, '100'],
    [61_453.6, '61,454'],
    [-4.1234, '-4.12'],
  ]);
});

test('a duration has the unit that keeps it short', () => {
  assertFormats(formatDuration, [
    [0, '0 ns'],
    [180, '180 ns'],
    [182.4, '182 ns'],
    [999.4, '999 ns'],
    [999.6, '1.00 µs'],
    [81_300, '81.3 µs'],
    [999_600, '1.00 ms'],
    [1_234_567, '1.23 ms'],
    [12_345_678_901, '12.3 s'],
    [3_600_000_000_000, '3,600 s'],
  ]);
});

test('a size has binary units', () => {
  assertFormats(formatBytes, [
    [812, '812 B'],
    [1023, '1,023 B'],
    [1024, '1.00 KiB'],
    [1536, '1.50 KiB'],
    [130 * 2 ** 20, '130 MiB'],
    [2 ** 30, '1.00 GiB'],
    [-2048, '-2.00 KiB'],
  ]);
});

test('throughput, ratio, interval and elapsed time', () => {
  assertFormats(formatThroughput, [
    [61_453.62, '61,454'],
    [0, '0'],
    [3.456, '3.46'],
  ]);
  assertFormats(formatRatio, [
    [1, '1.00×'],
    [0.8749, '0.87×'],
    [0.0999, '0.10×'],
    [0.0073, '0.0073×'],
    [0.00996, '0.0100×'],
    [25.17, '25.2×'],
    [9.996, '10.0×'],
    [0, '0.00×'],
  ]);
  assertFormats(formatInterval, [
    [null, ''],
    [0.021, '±2.1%'],
    [0.0996, '±10%'],
    [0.344, '±34%'],
    [99, '±>999%'],
  ]);
  assert.equal(formatInterval(0.29, 1000), '±29%');
  assert.equal(formatInterval(0.3, 1300), '(1,000–1,690)');
  assert.equal(formatWidth(0.021, 0.5, formatRatio), ' ± 2.1 %');
  assert.equal(formatWidth(1, 0.5, formatRatio), ' (0.25–1.00)');
  assertFormats(formatElapsed, [
    [820, '0.8 s'],
    [42_000, '42 s'],
    [59_600, '1 min 0 s'],
    [133_400, '2 min 13 s'],
    [3_900_000, '1 h 5 min'],
  ]);
});

test('untrusted text is one printable line', () => {
  assert.equal(plainText('a\r\n\tb  c\n'), 'a b c');
  assert.equal(plainText('\u001b[31mred\u0007'), '\\x1b[31mred\\x07');
  assert.equal(plainText('x\u202egnp\u2028y'), 'x\\u{202e}gnp\\u{2028}y');
  assert.equal(plainText('\ud800'), '\\u{d800}');
  assert.equal(plainText('größe 大 🏁'), 'größe 大 🏁');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.doesNotMatch(plainText(text), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      assert.equal(plainText(plainText(text)), plainText(text));
    }),
    { seed: 1 },
  );
});

test('wide characters take two columns, combining ones none', () => {
  assert.equal(displayWidth('abc'), 3);
  assert.equal(displayWidth('大🏁'), 4);
  assert.equal(displayWidth('e\u0301'), 1);
  assert.equal(displayWidth('± µ × – … ─'), 11);
});

test('wrapped lines keep to the width, and no word is lost', () => {
  assert.deepEqual(wrap('one two three', 7), ['one two', 'three']);
  assert.deepEqual(wrap('abcdefgh ij', 3), ['abc', 'def', 'gh', 'ij']);
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' })),
      fc.integer({ min: 2, max: 30 }),
      (words, width) => {
        const text = plainText(words.join(' '));
        const lines = wrap(text, width);
        for (const line of lines) assert.ok(displayWidth(line) <= width, JSON.stringify(line));
        assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
      },
    ),
    { seed: 2, numRuns: 500 },
  );
});

test('an absurd share has no digits', () => {
  assert.equal(formatShare(0.073), '7.3 %');
  assert.equal(formatShare(99.99), '9999 %');
  assert.equal(formatShare(526_598_263.61), '>9999 %');
});
