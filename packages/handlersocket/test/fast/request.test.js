/** Requests as bytes: escaping, values, every kind of line. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeAuth,
  encodeFind,
  encodeInsert,
  encodeOpen,
  encodeValue,
  escapeBytes,
  keyBytesMax,
  unescapeBytes,
  writeKey,
} from '../../request-lines.js';

/** @param {Uint8Array} bytes */
const binary = (bytes) => Buffer.from(bytes).toString('latin1');

test('each byte below 0x10 is escaped, all others are sent unchanged', () => {
  for (let byte = 0; byte < 256; byte += 1) {
    const token = encodeValue(Buffer.of(byte));
    const expected = byte < 0x10 ? binary(Buffer.of(1, byte + 0x40)) : binary(Buffer.of(byte));
    assert.equal(token, expected);
    assert.equal(unescapeBytes(token), binary(Buffer.of(byte)));
  }
});

test('escaping any bytes and back gives the same bytes, and never a raw separator', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const token = encodeValue(bytes);
      assert.doesNotMatch(token, /[\x00\x02-\x0f]/);
      assert.equal(unescapeBytes(token), binary(bytes));
      assert.equal(escapeBytes(binary(bytes)), token);
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test('a malformed escape is kept as it is', () => {
  assert.equal(unescapeBytes('a\x01'), 'a\x01');
  assert.equal(unescapeBytes('\x01\x3f'), '\x01\x3f');
  assert.equal(unescapeBytes('\x01\x01\x40'), '\x01\0');
});

test('NULL and the empty string are different tokens', () => {
  assert.equal(encodeValue(null), '\0');
  assert.equal(encodeValue(''), '');
  assert.equal(encodeValue('\0'), '\x01\x40');
});

test('numbers, bigints and booleans go as decimals', () => {
  assert.equal(encodeValue(-12.5), '-12.5');
  assert.equal(encodeValue(18446744073709551615n), '18446744073709551615');
  assert.deepEqual([encodeValue(true), encodeValue(false)], ['1', '0']);
});

test('strings go in the character set of the column', () => {
  assert.equal(encodeValue('é'), '\xc3\xa9');
  assert.equal(encodeValue('é', 'latin1'), '\xe9');
  assert.equal(encodeValue('😀'), '\xf0\x9f\x98\x80');
  assert.throws(() => encodeValue('€', 'latin1'), { code: 'HS_ARGUMENT' });
});

test('anything but a value is refused', () => {
  const wrong = [undefined, Number.NaN, Number.POSITIVE_INFINITY, {}, [], new Date(0), () => 1];
  for (const value of [...wrong, Symbol('s')]) {
    assert.throws(() => encodeValue(/** @type {any} */ (value)), { code: 'HS_ARGUMENT' });
  }
});

test('auth sends the secret unchanged', () => {
  assert.equal(encodeAuth('se\x02cret'), 'A\t1\tse\x02cret\n');
});

test('open_index lists columns and filters with commas', () => {
  const base = { database: 'd', table: 't', columns: ['a', 'b'] };
  assert.equal(encodeOpen(3, base), 'P\t3\td\tt\tPRIMARY\ta,b\n');
  const full = { ...base, index: 'k', filters: ['c', 'é'] };
  assert.equal(encodeOpen(3, full), 'P\t3\td\tt\tk\ta,b\tc,\xc3\xa9\n');
});

test('find has limit and offset only if they differ from the defaults', () => {
  assert.equal(encodeFind(0, { op: '=', key: [5] }), '0\t=\t1\t5\n');
  assert.equal(encodeFind(7, { op: '>=', key: ['a', null], limit: 9 }), '7\t>=\t2\ta\t\0\t9\t0\n');
  assert.equal(encodeFind(0, { op: '<', key: [1], offset: 2 }), '0\t<\t1\t1\t1\t2\n');
});

test('IN follows the offset, then filters, then the change', () => {
  const line = encodeFind(1, {
    op: '=',
    key: ['', 2],
    limit: 4,
    in: { part: 0, values: ['x', 'y'] },
    filters: [
      { type: 'F', op: '!=', column: 0, value: null },
      { type: 'W', op: '>', column: 1, value: 3 },
    ],
    mod: 'U?',
    values: ['v', null],
  });
  assert.equal(line, '1\t=\t2\t\t2\t4\t0\t@\t0\t2\tx\ty\tF\t!=\t0\t\0\tW\t>\t1\t3\tU?\tv\t\0\n');
});

test('a change always has limit and offset', () => {
  assert.equal(encodeFind(0, { op: '=', key: [1], mod: 'D' }), '0\t=\t1\t1\t1\t0\tD\n');
  assert.equal(
    encodeFind(0, { op: '=', key: [1], mod: '+', values: [1, -2] }),
    '0\t=\t1\t1\t1\t0\t+\t1\t-2\n',
  );
});

test('insert takes the character set of each column', () => {
  assert.equal(
    encodeInsert(2, ['é', 'é', null], ['utf8', 'latin1']),
    '2\t+\t3\t\xc3\xa9\t\xe9\t\0\n',
  );
});

test('no line begins with user data', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(65535), (text, id) => {
      const lines = [
        encodeFind(id, { op: '=', key: [text] }),
        encodeInsert(id, [text]),
        encodeFind(id, { op: '=', key: [text], mod: 'U', values: [text] }),
      ];
      for (const line of lines) {
        assert.match(line, /^\d/);
        assert.equal(line.indexOf('\n'), line.length - 1);
      }
    }),
    { seed: 2, numRuns: 1000 },
  );
});

test('the hot path writes the same key as the encoder', () => {
  const target = Buffer.alloc(4096);
  /** @param {any} key @param {'utf8' | 'latin1'} encoding */
  const same = (key, encoding) => {
    const expected = encodeValue(key, encoding);
    assert.ok(expected.length <= keyBytesMax(key), `room for ${String(key).slice(0, 20)}`);
    const end = writeKey(target, 7, key, encoding);
    assert.equal(target.toString('latin1', 7, end), expected);
  };
  const numbers = [0, -0, 1, 9, 10, 99, 100, 999999999, 1000000000, 2147483647, 2147483648];
  for (const key of [...numbers, -1, 1.5, 1e21, -1e-7, 2 ** 53, 5e-324]) same(key, 'utf8');
  for (let power = 1; power < 2 ** 31; power *= 10) same(power - 1, 'utf8');
  for (const key of ['', 'a', 'k\t', 'é', '😀'.repeat(100), 'x'.repeat(1000), '\0', null, true]) {
    same(key, 'utf8');
  }
  same('é\x01', 'latin1');
  same(Buffer.of(0, 1, 255), 'utf8');
  same(123456789012345678901234567890n, 'utf8');
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true })), (key) => {
      if (typeof key === 'number' && !Number.isFinite(key)) return;
      same(key, 'utf8');
    }),
    { seed: 3, numRuns: 3000 },
  );
});
