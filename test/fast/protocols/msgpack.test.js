/** MessagePack there and back, the writers into a buffer, and unexpected lengths. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { messagePack } from '../../../codecs/reference.js';
import {
  decodeAll,
  encode,
  encodeMap,
  writeArrayHead,
  writeStringHead,
  writeUint,
} from '../../../protocols/msgpack.js';

const TREE = fc.letrec((tie) => ({
  value: fc.oneof(
    fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 }),
    fc.string(),
    fc.constantFrom(null, true, false),
    fc.array(tie('value'), { maxLength: 5 }),
  ),
})).value;

test('every type in use survives a round trip, in the shortest form', () => {
  fc.assert(
    fc.property(TREE, TREE, (value, second) => {
      const bytes = encode(value);
      assert.deepEqual(bytes, messagePack(value));
      assert.deepEqual(decodeAll(bytes), [value]);
      assert.deepEqual(decodeAll(Buffer.concat([bytes, encode(second)])), [value, second]);
      assert.deepEqual(decodeAll(encodeMap([[0x20, value]])), [{ 32: value }]);
      assert.deepEqual(decodeAll(encodeMap([[0x20, bytes]])), [{ 32: value }]);
      for (let cut = 1; cut < bytes.length; cut += 1) {
        assert.throws(() => decodeAll(bytes.subarray(0, cut)), RangeError);
      }
    }),
    { seed: 11, numRuns: 50 },
  );
});

test('integers are written in their shortest form, as hash indexes need them', () => {
  const bytes = Buffer.alloc(5);
  for (const [value, length] of [
    [0, 1],
    [127, 1],
    [128, 2],
    [255, 2],
    [256, 3],
    [65_535, 3],
    [65_536, 5],
    [2 ** 32 - 1, 5],
  ]) {
    assert.equal(writeUint(bytes, 0, value), length, `${value}`);
    assert.deepEqual(bytes.subarray(0, length), encode(value));
  }
});

test('headers written into a buffer are read by a decoder', () => {
  const bytes = Buffer.alloc(70_100);
  let at = writeArrayHead(bytes, 0, 2);
  at = writeStringHead(bytes, at, 3);
  at += bytes.write('abc', at);
  at = writeStringHead(bytes, at, 70_000);
  at += bytes.fill('x', at, at + 70_000).length && 70_000;
  assert.deepEqual(decodeAll(bytes.subarray(0, at)), [['abc', 'x'.repeat(70_000)]]);
});

test('announced lengths allocate nothing: arrays that are too long are refused', () => {
  for (const hex of ['dd7fffffff', 'df7fffffff', 'dc0401', 'de0401', 'dbffffffff', 'c6ffffffff']) {
    assert.throws(() => decodeAll(Buffer.from(hex, 'hex')), Error, hex);
  }
  assert.throws(() => decodeAll(Buffer.alloc(100_000, 0x91)), Error);
});

test('an array that is too long is refused even if it is complete', () => {
  const items = (/** @type {number} */ n) =>
    Buffer.concat([Buffer.of(0xdc, n >> 8, n & 0xff), Buffer.alloc(n, 0xc0)]);
  assert.equal(decodeAll(items(1024))[0].length, 1024);
  assert.throws(() => decodeAll(items(1025)));
});
