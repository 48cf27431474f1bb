/** Decoding replies: every split position, types, character sets, long lines. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HandlerSocketError } from '../../handlersocket-error.js';
import { ReplyParser } from '../../reply-parser.js';
import {
  decodeCount,
  decodeDone,
  decodeError,
  decodeInsert,
  isSuccess,
  objectsDecoder,
  rowDecoder,
  rowsDecoder,
  valueDecoder,
} from '../../reply-values.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/**
 * @param {Iterable<Uint8Array>} chunks
 * @param {import('../../reply-values.js').Decode} decode
 * @param {boolean} [keepBytes]
 * @returns {any[]} decoded replies
 */
function parse(chunks, decode, keepBytes = false) {
  /** @type {any[]} */
  const replies = [];
  const parser = new ReplyParser((text, start, end, flags) => {
    if (isSuccess(text, start, end)) replies.push(decode(text, start, end, flags));
    else replies.push(decodeError(text, start, end));
  });
  parser.keepBytes = keepBytes;
  for (const chunk of chunks) parser.push(chunk);
  assert.equal(parser.pendingBytes, 0);
  return replies;
}

/** @param {string} text @param {any} decode @param {boolean} [keepBytes] */
const parseText = (text, decode, keepBytes) =>
  parse([Buffer.from(text, 'latin1')], decode, keepBytes);

const two = rowsDecoder(['utf8', 'utf8']);
const oneColumn = rowsDecoder(['utf8']);

test('a small chunk with an escape or NULL is decoded like a large one', () => {
  for (const [token, value] of [
    ['\x01\x49', '\t'],
    ['\0', null],
    ['\x01\x40', '\0'],
  ]) {
    for (const before of ['', `0\t1\t${'x'.repeat(300)}\n`]) {
      const replies = parseText(`${before}0\t1\t${token}\n`, oneColumn);
      assert.deepEqual(replies.at(-1), [[value]]);
    }
  }
});

test('a first row of too few columns is refused', () => {
  for (const decode of [valueDecoder(['utf8', 'utf8']), rowDecoder(['utf8', 'utf8']), two]) {
    assert.throws(() => parseText('0\t2\ta\n', decode), { code: 'HS_PROTOCOL' });
  }
});

test('the first row comes as an array, the first column alone, or all as objects', () => {
  const row = rowDecoder(['utf8', 'number']);
  assert.deepEqual(parseText('0\t2\ta\t5\n0\t2\n', row), [['a', 5], undefined]);
  assert.deepEqual(parseText('0\t1\ta\n0\t1\n', rowDecoder(['utf8'])), [['a'], undefined]);
  assert.deepEqual(parseText('0\t2\ta\tb\n', rowDecoder(['utf8', 'utf8'])), [['a', 'b']]);
  assert.deepEqual(parseText('0\t2\ta\tb\n0\t2\n', valueDecoder(['utf8', 'utf8'])), [
    'a',
    undefined,
  ]);
  const objects = objectsDecoder(['x', 'y'], ['utf8', 'utf8']);
  assert.deepEqual(parseText('0\t2\ta\tb\tc\td\n', objects), [
    [
      { x: 'a', y: 'b' },
      { x: 'c', y: 'd' },
    ],
  ]);
});

test('a column becomes a string, a Buffer, a number or a bigint', () => {
  const bytes = Buffer.from(
    '0\t5\t\xc3\xa9\t\xe9\t\x01\x40\xff\t-1.5\t18446744073709551615\n',
    'latin1',
  );
  const decode = rowsDecoder(['utf8', 'latin1', 'buffer', 'number', 'bigint']);
  assert.deepEqual(parse([bytes], decode, true), [
    [['é', 'é', Buffer.of(0, 0xff), -1.5, 18446744073709551615n]],
  ]);
});

test('escapes and multi-byte characters meet in one chunk, with and without bytes kept', () => {
  const reply = '0\t2\tz\x01\x49\xe2\x82\xac\t\0\n0\t2\tplain\tx\n';
  for (const keepBytes of [false, true]) {
    assert.deepEqual(parseText(reply, two, keepBytes), [[['z\t€', null]], [['plain', 'x']]]);
  }
});

test('strings with separate memory equal the others', () => {
  const types = /** @type {const} */ (['utf8:own', 'latin1:own', 'utf8:own']);
  const reply = '0\t3\t\xf0\x9f\x98\x80 and so on\t\xe9\x01\x49\t\0\n0\t3\ta\t\tb\n';
  assert.deepEqual(parseText(reply, rowsDecoder(types), true), [
    [['😀 and so on', 'é\t', null]],
    [['a', '', 'b']],
  ]);
  assert.deepEqual(parseText('0\t1\t\xe2\x82\xac\n', valueDecoder(['utf8:own'])), ['€']);
});

test('a retained value with separate memory does not retain its chunk', () => {
  const chunk = Buffer.from(`0\t1\t${'x'.repeat(20)}\n`.repeat(2500));
  /** @param {any} type */
  const grown = (type) => {
    /** @type {any[]} */
    const kept = [];
    const decode = valueDecoder([type]);
    let place = 0;
    const parser = new ReplyParser((...line) => {
      const value = decode(...line);
      if (place++ % 2500 === 0) kept.push(value);
    });
    gc();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 300; i += 1) parser.push(chunk);
    gc();
    assert.equal(kept.length, 300);
    return process.memoryUsage().heapUsed - before;
  };
  grown('utf8');
  assert.ok(grown('utf8:own') < 1e6);
  assert.ok(grown('utf8') > 10e6, 'what the documentation warns of');
});

test('a value of the wrong type rejects and does not crash', () => {
  assert.throws(() => parseText('0\t1\t1.5\n', rowsDecoder(['bigint'])), { code: 'HS_DECODE' });
});

test('counts, insert ids and plain success', () => {
  assert.deepEqual(parseText('0\t1\t12\n', decodeCount), [12]);
  assert.deepEqual(parseText('0\t1\n0\t1\t7\n0\t1\t18446744073709551615\n', decodeInsert), [
    undefined,
    7,
    18446744073709551615n,
  ]);
  assert.deepEqual(parseText('0\t1\n', decodeDone), [undefined]);
});

test('an error reply has a code and a message, which may be missing', () => {
  assert.deepEqual(parseText('2\t1\tstmtnum\n1\t1\t121\n1\t1\n', oneColumn), [
    { code: 2, message: 'stmtnum' },
    { code: 1, message: '121' },
    { code: 1, message: '' },
  ]);
});

test('every split position of a stream gives the same replies', () => {
  const stream = Buffer.from(
    '0\t2\tgr\u00fc\u00df\t\0\tb\t\n2\t1\tcmd\n0\t2\n0\t2\t\x01\x4a\x01\x41\t😀\n0\t2\tx\ty\n',
    'utf8',
  );
  const expected = parse([stream], two);
  assert.equal(expected.length, 5);
  assert.deepEqual(expected[3], [['\n\x01', '😀']]);
  for (let first = 0; first <= stream.length; first += 1) {
    for (let second = first; second <= stream.length; second += 1) {
      const chunks = [
        stream.subarray(0, first),
        stream.subarray(first, second),
        stream.subarray(second),
      ];
      assert.deepEqual(parse(chunks, two), expected);
    }
  }
  assert.deepEqual(
    parse(
      Array.from(stream, (byte) => Buffer.of(byte)),
      two,
    ),
    expected,
  );
});

test('lines around the sizes of the carry buffer and of a chunk are complete', () => {
  const sizes = [16380, 16384, 16385, 65535, 65536, 65537, 81919, 81920, 81921, 200_000];
  const values = sizes.map((size, i) => String.fromCharCode(97 + i).repeat(size));
  const stream = Buffer.from(values.map((value) => `0\t1\t${value}\n0\t1\t.\n`).join(''));
  for (const step of [stream.length, 65536, 65535, 16384, 1000, 7777]) {
    const chunks = [];
    for (let at = 0; at < stream.length; at += step) chunks.push(stream.subarray(at, at + step));
    const replies = parse(chunks, oneColumn);
    assert.deepEqual(
      replies.map(([[value]]) => value),
      values.flatMap((value) => [value, '.']),
    );
  }
});

test('a line beyond the limit is a protocol error, and retains no memory', () => {
  const parser = new ReplyParser(() => {}, { lineBytesMax: 100_000 });
  const chunk = Buffer.alloc(65536, 120);
  parser.push(chunk);
  assert.throws(() => parser.push(chunk), { code: 'HS_PROTOCOL' });
});

test('a reply that does not fit the request is a protocol error', () => {
  const value = valueDecoder(['utf8']);
  for (const reply of ['0\t2\ta\tb', '0', '0\t', '0\t11', '0\t1\ta\tb', '0\tx']) {
    assert.throws(() => parseText(`${reply}\n`, value), { code: 'HS_PROTOCOL' }, reply);
  }
  for (const reply of ['', 'x', 'HTTP/1.1 400 Bad Request\r', '-ERR', '12345\t1', '1\t2\tx']) {
    assert.throws(() => parseText(`${reply}\n`, value), HandlerSocketError, reply);
  }
  assert.throws(() => parseText('0\t2\ta\tb\tc\n', two), { code: 'HS_PROTOCOL' });
  assert.throws(() => parseText('0\t1\tx\n', decodeCount), { code: 'HS_PROTOCOL' });
  assert.throws(() => parseText('0\t1\tx\n', decodeInsert), { code: 'HS_PROTOCOL' });
  assert.throws(() => parseText('0\t1\tx\n', decodeDone), { code: 'HS_PROTOCOL' });
});
