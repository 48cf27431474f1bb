/** MySQL's packets at every split position, the handshake there and back, and giant lengths. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  encodeHandshake,
  encodeHandshakeResponse,
  nativePassword,
  readHandshake,
} from '../../../protocols/mysql/handshake.js';
import {
  isEnd,
  lengthEncoded,
  PAYLOAD_MAX,
  packet,
  readLengthEncoded,
  readPacket,
} from '../../../protocols/mysql/packet.js';
import {
  binaryRow,
  encodeColumn,
  encodeExecute,
  encodeResultSet,
  errorText,
  readParameter,
  readResultSet,
} from '../../../protocols/mysql/result-set.js';

const SALT = Buffer.from('01234567890123456789');
const COLUMN = encodeColumn({ database: 'd', table: 't', name: 'c', charset: 224, size: 16 });
const TOO_LONG = { code: 'E_TARGET', message: /MySQL: announced length \d+ exceeds/ };

test('lengths of every width survive a round trip', () => {
  for (const value of [0, 250, 251, 65_535, 65_536, 2 ** 24 - 1, 2 ** 24, 2 ** 32 - 1]) {
    const bytes = lengthEncoded(value);
    assert.deepEqual(readLengthEncoded(bytes, 0), { value, end: bytes.length });
  }
  assert.deepEqual(readLengthEncoded(Buffer.of(0xfb), 0), { value: null, end: 1 });
});

test('a packet is read only if it is complete, at every split position', () => {
  const bytes = Buffer.concat([packet(0, Buffer.from('first')), packet(1, Buffer.alloc(0))]);
  for (let cut = 0; cut < 9; cut += 1) assert.equal(readPacket(bytes.subarray(0, cut), 0), null);
  const first = readPacket(bytes, 0);
  assert.deepEqual([first?.payload.toString(), first?.sequence, first?.end], ['first', 0, 9]);
  assert.deepEqual([readPacket(bytes, 9)?.sequence, readPacket(bytes, 9)?.end], [1, bytes.length]);
});

test('the greeting has the salt, the reply proves the password without sending it', () => {
  const greeting = encodeHandshake({ version: '5.5.5-10.11.0-MariaDB', charset: 224, salt: SALT });
  const { payload } = readPacket(greeting, 0) ?? {};
  assert.ok(payload);
  const { salt, capabilities } = readHandshake(payload);
  assert.deepEqual(salt, SALT);
  assert.equal(capabilities & 0x80000, 0x80000);
  const user = { user: 'me', password: 'secret', database: 'hs_test' };
  const answer = encodeHandshakeResponse({ ...user, salt, deprecateEof: false });
  assert.ok(!answer.includes('secret'));
  assert.ok(answer.includes(nativePassword('secret', SALT)));
  assert.equal(nativePassword(undefined, SALT).length, 0);
});

test('a result set is read at every split position, with its row, none, or an error', () => {
  const row = encodeResultSet(COLUMN, binaryRow('a value of 16 B.'));
  const none = encodeResultSet(COLUMN);
  const error = packet(1, Buffer.from('\xff\x48\x04#HY000gone', 'latin1'));
  for (const [bytes, value, text] of /** @type {const} */ ([
    [row, 'a value of 16 B.', null],
    [none, null, null],
    [error, null, '1096 gone'],
  ])) {
    for (let cut = 0; cut < bytes.length; cut += 1) {
      assert.equal(readResultSet(bytes.subarray(0, cut), 0, false), null, `cut at ${cut}`);
    }
    const expected = { end: bytes.length, value, error: text };
    assert.deepEqual(readResultSet(bytes, 0, false), expected);
  }
  assert.equal(errorText(Buffer.from('\xff\x48\x04gone', 'latin1')), '1096 gone');
});

test('the parameter of an execution is read by a server', () => {
  for (const id of [1, 300, 2 ** 32 - 1]) {
    const { payload } = readPacket(encodeExecute(1, id), 0) ?? {};
    assert.ok(payload);
    assert.equal(readParameter(payload), id);
  }
});

test('a packet longer than requested is refused by its length', () => {
  const head = Buffer.from('ffffff00', 'hex');
  assert.throws(() => readPacket(head, 0), TOO_LONG);
  assert.throws(() => readResultSet(head, 0, false, 1024), TOO_LONG);
  assert.equal(readPacket(head, 0, 2 ** 24), null);
});

test('a truncated length is refused, not read beyond the bytes', () => {
  for (const value of [251, 70_000, 2 ** 24]) {
    const bytes = lengthEncoded(value);
    for (let end = 0; end < bytes.length; end += 1) {
      assert.throws(() => readLengthEncoded(bytes.subarray(0, end), 0), { code: 'E_TARGET' });
    }
  }
});

test('rows end with a short payload; without EOF packets with any other packet', () => {
  assert.deepEqual([isEnd(0xfe, 8, false), isEnd(0xfe, 9, false)], [true, false]);
  assert.deepEqual([isEnd(0xfe, 9, true), isEnd(0xfe, PAYLOAD_MAX, true)], [true, false]);
  assert.equal(isEnd(0xff, 5, true), false);
});

test('a payload of 16 MB continues in the next packet', () => {
  const first = Buffer.alloc(PAYLOAD_MAX + 4, 1);
  first.writeUIntLE(PAYLOAD_MAX, 0, 3);
  const whole = readPacket(Buffer.concat([first, packet(1, Buffer.of(7))]), 0, 2 ** 25);
  assert.deepEqual([whole?.payload.length, whole?.payload.at(-1)], [PAYLOAD_MAX + 1, 7]);
  assert.equal(readPacket(first, 0, 2 ** 25), null);
});
