/**
 * The parser against 200,000 damaged streams: no hang, nothing thrown but typed errors, memory
 * bounded. The damage is drawn from a seed, so that a failure can be repeated.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRandom, drawBelow } from '../../../../lib/random.js';
import { HandlerSocketError } from '../../handlersocket-error.js';
import { ReplyParser } from '../../reply-parser.js';
import {
  decodeCount,
  decodeError,
  decodeInsert,
  isSuccess,
  rowDecoder,
  rowsDecoder,
  valueDecoder,
} from '../../reply-values.js';
import { encodeValue } from '../../request-lines.js';

const CASES = 200_000;
const SEED = 20261121;
const STREAM_BYTES_MAX = 256;

const DECODERS = [
  valueDecoder(['utf8']),
  rowDecoder(['utf8', 'utf8']),
  rowsDecoder(['utf8', 'buffer', 'number']),
  rowsDecoder(['bigint']),
  decodeCount,
  decodeInsert,
];

const STREAMS = [
  '0\t1\tvalue\n0\t1\n0\t1\t\0\n',
  '0\t2\ta\tb\n0\t2\n2\t1\tstmtnum\n',
  '0\t3\tgr\xc3\xbc\xc3\x9f\t\x01\x40\xff\t12\tx\t\0\t-1.5\n',
  '0\t1\t18446744073709551615\n1\t1\t121\n3\t1\tunauth\n',
  '0\t1\t3\n0\t1\n0\t1\t9\n',
].map((text) => Buffer.from(text, 'latin1'));

/** Bytes with a meaning in the protocol are more likely to cause failures. */
const BYTES = Buffer.from(
  '\0\x01\x02\t\n\r\x0f\x10 0129AQ/\x40\x4f\x7f\x80\xbf\xc3\xf0\xff',
  'latin1',
);

/**
 * @param {() => number} random
 * @param {Buffer} target
 * @param {number} length
 * @returns {number} the new length
 */
function damage(random, target, length) {
  const at = drawBelow(random, length);
  const byte = BYTES[drawBelow(random, BYTES.length)];
  switch (drawBelow(random, 5)) {
    case 0:
      target[at] = byte;
      return length;
    case 1:
      target[at] ^= 1 << drawBelow(random, 8);
      return length;
    case 2:
      target.copyWithin(at, at + 1, length);
      return Math.max(1, length - 1);
    case 3:
      target.copyWithin(at + 1, at, length);
      target[at] = byte;
      return Math.min(STREAM_BYTES_MAX, length + 1);
    default: {
      const end = Math.min(length + drawBelow(random, 20), STREAM_BYTES_MAX);
      target.copyWithin(length, at, at + (end - length));
      return end;
    }
  }
}

test('many damaged streams give replies or typed errors, and memory stays bounded', (t) => {
  const { stackTraceLimit } = Error;
  // Unused stacks would take half of the time.
  Error.stackTraceLimit = 0;
  t.after(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  const random = createRandom(SEED);
  const target = Buffer.alloc(STREAM_BYTES_MAX + 32);
  const outcomes = { replies: 0, errors: 0, refused: 0 };
  /** @type {any} */
  let decode = DECODERS[0];
  const parser = new ReplyParser((text, start, end, flags) => {
    if (isSuccess(text, start, end)) decode(text, start, end, flags);
    else decodeError(text, start, end);
    outcomes.replies += 1;
  });
  /** @type {number[]} */
  const resident = [];
  for (let i = 0; i < CASES; i += 1) {
    const stream = STREAMS[drawBelow(random, STREAMS.length)];
    decode = DECODERS[drawBelow(random, DECODERS.length)];
    parser.keepBytes = (i & 1) === 1;
    let length = stream.copy(target);
    for (let left = 1 + drawBelow(random, 4); left > 0; left -= 1) {
      length = damage(random, target, length);
    }
    const cut = drawBelow(random, length);
    try {
      parser.push(target.subarray(0, cut));
      parser.push(target.subarray(cut, length));
      assert.ok(parser.pendingBytes <= STREAM_BYTES_MAX);
    } catch (error) {
      if (!(error instanceof HandlerSocketError)) {
        const bytes = JSON.stringify(target.toString('latin1', 0, length));
        throw new Error(`case ${i} of seed ${SEED}: ${bytes}: ${error.stack}`);
      }
      if (error.code === 'HS_DECODE') outcomes.errors += 1;
      else outcomes.refused += 1;
    }
    parser.reset();
    if (i % (CASES / 10) === 0) resident.push(process.memoryUsage().rss);
  }
  // All three outcomes must occur.
  assert.ok(outcomes.replies > CASES / 10, JSON.stringify(outcomes));
  assert.ok(outcomes.refused > CASES / 10, JSON.stringify(outcomes));
  assert.ok(outcomes.errors > 1000, JSON.stringify(outcomes));
  const growth = Math.max(...resident.slice(2)) - resident[1];
  assert.ok(growth < 96 * 1024 * 1024, `resident memory grew by ${growth} bytes`);
});

test('any rows, sent in any pieces, are read back unchanged', () => {
  const field = fc.oneof(fc.constant(null), fc.string({ unit: 'binary' }), fc.string());
  const rows = fc.array(fc.tuple(field, field, field), { maxLength: 8 });
  const cuts = fc.array(fc.nat(400), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 5 }), cuts, fc.boolean(), (replies, names, keep) => {
      const text = replies
        .map(
          (reply) =>
            `0\t3${reply
              .flat()
              .map((value) => `\t${encodeValue(value)}`)
              .join('')}\n`,
        )
        .join('');
      const stream = Buffer.from(text, 'latin1');
      const decode = rowsDecoder(['utf8', 'utf8', 'utf8']);
      /** @type {any[]} */
      const got = [];
      const parser = new ReplyParser((...line) => got.push(decode(...line)));
      parser.keepBytes = keep;
      let from = 0;
      for (const place of [...names.sort((a, b) => a - b), stream.length]) {
        parser.push(stream.subarray(from, Math.max(from, place)));
        from = Math.max(from, Math.min(place, stream.length));
      }
      // Lone surrogates become U+FFFD in UTF-8, as everywhere.
      const expected = replies.map((reply) =>
        reply.map((row) => row.map((value) => value && Buffer.from(value).toString())),
      );
      assert.deepEqual(got, expected);
    }),
    { seed: 4, numRuns: 1500 },
  );
});
