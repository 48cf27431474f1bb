/** Tarantool's greeting and packets at every split position, garbage, and giant lengths. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { iprotoSelect } from '../../../codecs/reference.js';
import { IprotoFramer } from '../../../protocols/iproto/framer.js';
import { encodeAuth, encodeGreeting, readGreeting } from '../../../protocols/iproto/greeting.js';
import {
  CODE,
  encodeReply,
  encodeRequest,
  encodeSelect,
  KEY,
  packetBytes,
  REPLY_SYNC_OFFSET,
  readPacket,
  replyOf,
} from '../../../protocols/iproto/packet.js';
import { SelectReader } from '../../../protocols/iproto/select.js';

const NOT_IPROTO = { code: 'E_TARGET', message: /not the protocol of Tarantool/ };
const TOO_LONG = { code: 'E_TARGET', message: /announced length \d+ exceeds/ };
const GREETING = encodeGreeting('2.6.0 (Binary)');

test('the greeting is read at every split position, and has 20 bytes of salt', () => {
  assert.equal(GREETING.length, 128);
  for (let cut = 0; cut < GREETING.length; cut += 1) {
    assert.equal(readGreeting(GREETING.subarray(0, cut)), null);
  }
  const { salt, end } = readGreeting(Buffer.concat([GREETING, Buffer.from('more')])) ?? {};
  assert.deepEqual([salt, end], [Buffer.alloc(20, 7), 128]);
  assert.throws(() => readGreeting(Buffer.from('HTTP/1.1 400 Bad Request')), NOT_IPROTO);
});

test('requests are encoded correctly, and read by a server at every split position', () => {
  const bytes = encodeSelect(7, { space: 512, key: [300] });
  assert.deepEqual(readPacket(bytes, 0), {
    end: bytes.length,
    header: { [KEY.code]: CODE.select, [KEY.sync]: 7 },
    body: {
      [KEY.space]: 512,
      [KEY.index]: 0,
      [KEY.limit]: 1,
      [KEY.offset]: 0,
      [KEY.iterator]: 0,
      [KEY.key]: [300],
    },
  });
  const wide = iprotoSelect(7, { space: 512, key: 300 });
  assert.deepEqual(readPacket(wide, 0)?.body, readPacket(bytes, 0)?.body);
  const two = Buffer.concat([bytes, wide]);
  for (let cut = 0; cut < two.length; cut += 1) {
    const part = two.subarray(0, cut);
    const first = readPacket(part, 0);
    assert.equal(first?.end ?? null, cut < bytes.length ? null : bytes.length);
    const at = first?.end ?? 0;
    const wanted = packetBytes(part, at);
    if (cut - at < 5) assert.equal(wanted, 0);
    else assert.equal(wanted, at === 0 ? bytes.length : wide.length);
    if (at > 0) assert.equal(readPacket(part, at), null);
  }
});

test('a select by an integer is read in place, at every width; all else is left to the decoder', () => {
  const reader = new SelectReader();
  for (const key of [0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1]) {
    for (const bytes of [
      encodeSelect(key, { space: 512, key: [key] }),
      iprotoSelect(key, { space: 512, key }),
    ]) {
      const inStream = Buffer.concat([Buffer.alloc(3), bytes, Buffer.alloc(9, 0x11)]);
      assert.ok(reader.read(inStream, 3, 3 + bytes.length));
      assert.deepEqual([reader.sync, reader.space, reader.key], [key, 512, key]);
      assert.equal(reader.read(bytes, 0, bytes.length - 1), false);
    }
  }
  for (const bytes of [
    encodeSelect(1, { space: 281, index: 2, key: ['name'] }),
    encodeSelect(1, { space: 512, key: [1, 2] }),
    encodeSelect(1, { space: 512, key: [-1] }),
    encodeSelect(1, { space: 512, key: [2 ** 40] }),
    encodeSelect(1, { space: 512, key: [] }),
    encodeRequest(CODE.call, 1, [[KEY.name, 'f']]),
    Buffer.from('ce00000001c0', 'hex'),
  ]) {
    assert.equal(reader.read(bytes, 0, bytes.length), false, bytes.toString('hex'));
  }
});

test('replies have their data or error, and the patched sync', () => {
  const reply = encodeReply([[1, 'é'], [2]]);
  reply.writeUInt32BE(77, REPLY_SYNC_OFFSET);
  const packet = readPacket(reply, 0);
  assert.ok(packet);
  assert.deepEqual(replyOf(packet), { sync: 77, data: [[1, 'é'], [2]], code: 0, message: null });
});

test('an error reply has its code without the flag', () => {
  const header = { [KEY.code]: 0x8000 + 42, [KEY.sync]: 5 };
  const packet = { end: 0, header, body: { [KEY.error]: 'Access denied' } };
  assert.deepEqual(replyOf(packet), { sync: 5, data: [], code: 42, message: 'Access denied' });
});

test('a login proves the password without sending it', () => {
  const bytes = encodeAuth(1, { user: 'me', password: 'secret' }, Buffer.alloc(20, 7));
  assert.ok(!bytes.includes('secret'));
  const { header, body } = readPacket(bytes, 0) ?? {};
  assert.ok(header && body);
  assert.equal(header[KEY.code], CODE.auth);
  assert.equal(body[KEY.user], 'me');
  assert.equal(body[KEY.tuple][0], 'chap-sha1');
  assert.equal(body[KEY.tuple][1].length, 20);
});

test('bytes that are not a packet are refused, and packets longer than requested', () => {
  assert.throws(() => readPacket(Buffer.from('GET /'), 0), NOT_IPROTO);
  assert.throws(() => readPacket(Buffer.from('ce00000002c1c1', 'hex'), 0), NOT_IPROTO);
  assert.throws(() => readPacket(Buffer.from('ce0000000101', 'hex'), 0), NOT_IPROTO);
  const giant = Buffer.from('ceffffffff', 'hex');
  assert.throws(() => readPacket(giant, 0), TOO_LONG);
  assert.throws(() => packetBytes(giant, 0, 1024), TOO_LONG);
  const framer = new IprotoFramer(16);
  const short = Buffer.from('ce000000018300ce00000000', 'hex');
  assert.throws(() => framer.feed(short, short.length), NOT_IPROTO);
});
