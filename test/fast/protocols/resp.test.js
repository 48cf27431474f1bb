/**
 * RESP: commands and replies at every split position, garbage, and unexpected lengths.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { respCommand } from '../../../codecs/reference.js';
import {
  authWords,
  commandText,
  encodeCommand,
  readCommand,
} from '../../../protocols/resp/command.js';
import { RespFramer } from '../../../protocols/resp/framer.js';
import {
  errorReply,
  itemReply,
  mapHead,
  NULL_REPLY,
  OK_REPLY,
  readReplies,
  readReply,
  replyBytes,
  statusReply,
} from '../../../protocols/resp/reply.js';

const NOT_RESP = { code: 'E_TARGET', message: /not the protocol of Redis/ };
const TOO_LONG = { code: 'E_TARGET', message: /announced length \d+ exceeds/ };
const REPLIES = [OK_REPLY, itemReply(-7), itemReply('a\r\nb'), NULL_REPLY[2], NULL_REPLY[3]];
const NESTED = `*2\r\n${itemReply('0')}*3\r\n${itemReply('a')}${itemReply(1)}${errorReply('no')}`;
const BYTES = Buffer.from(
  `${REPLIES.join('')}${errorReply('OOM no room')}${itemReply('')}${NESTED}*0\r\n*-1\r\n`,
);
const VALUES = ['OK', -7, 'a\r\nb', null, null, null, '', ['0', ['a', 1, 'no']], [], null];

describe('commands', () => {
  test('equal the bytes of the simple reference, for any words', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.integer()), { minLength: 1 }),
        (words) => {
          const bytes = encodeCommand(words);
          assert.deepEqual(bytes, respCommand(words));
          const read = readCommand(bytes, 0);
          assert.equal(read?.end, bytes.length);
          const texts = read?.words.map((word) => Buffer.from(word, 'latin1').toString());
          assert.deepEqual(texts, words.map(String));
        },
      ),
      { seed: 11 },
    );
  });

  test('are read only if they are complete, at every split position', () => {
    const bytes = Buffer.from(`${commandText(['SET', 'é', ''])}${commandText(['PING'])}`, 'latin1');
    const { end = 0 } = readCommand(bytes, 0) ?? {};
    for (let cut = 0; cut < end; cut += 1)
      assert.equal(readCommand(bytes.subarray(0, cut), 0), null);
    assert.deepEqual(readCommand(bytes, end), { words: ['PING'], end: bytes.length });
  });

  for (const text of ['GET / HTTP/1.1\r\n', '*1\r\n$-1\r\n', '*1\n', '*-1\r\n', '*x\r\n', '\r\n']) {
    test(`${JSON.stringify(text)} is none`, () => {
      assert.throws(() => readCommand(Buffer.from(text), 0), NOT_RESP);
    });
  }

  test('that announce more than Redis accepts are refused immediately', () => {
    assert.throws(() => readCommand(Buffer.from('*999999999\r\n'), 0), TOO_LONG);
    assert.throws(() => readCommand(Buffer.from('*1\r\n$9999999999\r\n'), 0), TOO_LONG);
  });

  test('of a login have a user only if there is one', () => {
    assert.equal(authWords({ user: 'me' }), null);
    assert.deepEqual(authWords({ password: 'p' }), ['AUTH', 'p']);
    assert.deepEqual(authWords({ user: 'me', password: 'p' }), ['AUTH', 'me', 'p']);
  });
});

describe('replies', () => {
  test('are read one after another; null if one is incomplete, at every split position', () => {
    const replies = [];
    for (let at = 0; at < BYTES.length; ) {
      const reply = readReply(BYTES, at);
      assert.ok(reply !== null);
      for (let cut = at; cut < reply.end; cut += 1) {
        const part = BYTES.subarray(0, cut);
        assert.equal(readReply(part, at), null, `cut at ${cut}`);
        const wanted = replyBytes(part, at);
        assert.ok(wanted > cut - at && wanted <= reply.end - at, `cut at ${cut}: ${wanted}`);
      }
      replies.push(reply);
      at = reply.end;
    }
    assert.deepEqual(
      replies.map(({ value }) => value),
      VALUES,
    );
    assert.deepEqual(
      replies.map(({ error }) => error).filter((error) => error !== null),
      ['OOM no room'],
    );
    assert.deepEqual(readReplies(BYTES), replies);
    assert.deepEqual(readReplies(BYTES.subarray(0, -1)), replies.slice(0, -1));
  });

  for (const text of ['HTTP/1.1 400\r\n', '$12x\r\n', '*x\r\n', '$-2\r\n', ':1.5\r\n', '_x\r\n']) {
    test(`${JSON.stringify(text)} is none`, () => {
      assert.throws(() => readReply(Buffer.from(text), 0), NOT_RESP);
      assert.equal(readReplies(Buffer.from(text)), null);
    });
  }

  test('end with CR LF, and an endless line is not collected forever', () => {
    assert.throws(() => readReply(Buffer.from('+OK\n'), 0), NOT_RESP);
    assert.throws(() => readReply(Buffer.from('$1\r\nabc'), 0), NOT_RESP);
    assert.throws(() => readReply(Buffer.alloc(70_000, '+'), 0), NOT_RESP);
  });

  test('longer than requested are refused by their length', () => {
    assert.equal(readReply(Buffer.from('$16\r\n'), 0, 16), null);
    assert.throws(() => readReply(Buffer.from('$17\r\n'), 0, 16), TOO_LONG);
    assert.throws(() => replyBytes(Buffer.from('$17\r\n'), 0, 16), TOO_LONG);
    assert.equal(readReply(Buffer.from('*65536\r\n'), 0), null);
    assert.throws(() => readReply(Buffer.from('*65537\r\n'), 0), TOO_LONG);
    assert.throws(() => readReply(Buffer.from('*1\r\n'.repeat(100_000)), 0), NOT_RESP);
    const framer = new RespFramer(16);
    const giant = Buffer.from('$99999999999999999999\r\n');
    assert.throws(() => framer.feed(giant, giant.length), NOT_RESP);
  });

  test('of the fake server: a map is an array of twice as many in RESP 2', () => {
    assert.equal(mapHead(7, 2), '*14\r\n');
    assert.equal(mapHead(7, 3), '%7\r\n');
    assert.equal(statusReply('PONG'), '+PONG\r\n');
  });
});
