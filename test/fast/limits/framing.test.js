/**
 * The framers of all protocols: exact counts whatever the pieces, and the whole replies' reader.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDataset } from '../../../lib/dataset.js';
import { loadProtocol, PROTOCOL_NAMES } from '../../../limits/wire/protocol.js';
import { encodeRequests } from '../../../limits/wire/requests.js';
import { MysqlFramer } from '../../../protocols/mysql/framer.js';
import { packet } from '../../../protocols/mysql/packet.js';
import { PROTOCOLS, repliesTo, SESSIONS } from '../../helpers/wire-replies.js';

const dataset = createDataset({ rows: 200, valueSize: 16, seed: 3 });
/** Rows below and above each width of an integer in MessagePack, and one that is not there. */
const IDS = [1, 127, 128, 200, 201, 7];

/** Error replies as the real servers write them (Redis 7.0, HandlerSocket 1.1, Tarantool 2.6). */
const ERRORS = {
  redis: Buffer.from('-WRONGTYPE Operation against a key holding the wrong kind of value\r\n'),
  handlersocket: Buffer.from('2\t1\tstmtnum\n'),
  tarantool: Buffer.from(
    'ce000000258300ce0000802401cf000000000000000005ce000000528131a8' +
      '6e6f207370616365' +
      '0000000000',
    'hex',
  ).subarray(0, 5 + 0x25),
  mysql: packet(1, Buffer.from('\xff\x48\x04#HY000gone', 'latin1')),
};

test('each protocol of the wire has a fake server', () => {
  assert.deepEqual([...PROTOCOL_NAMES].sort(), [...PROTOCOLS].sort());
});

for (const name of PROTOCOLS) {
  const session = SESSIONS[name];
  /** Rows, a miss, an error, and a row after it: the framer must be in step again. */
  const stream = async () => {
    const protocol = await loadProtocol(name);
    const requests = Buffer.concat(IDS.map((id) => protocol.encode(session, id)));
    const last = repliesTo(name, dataset, protocol.encode(session, 5));
    return {
      protocol,
      bytes: Buffer.concat([repliesTo(name, dataset, requests), ERRORS[name], last]),
    };
  };
  const expected = { replies: IDS.length + 2, errors: 1, misses: 1 };
  const counts = (/** @type {import('../../../protocols/framer.js').Framer} */ framer) => {
    const { replies, errors, misses } = framer;
    return { replies, errors, misses };
  };

  test(`${name}: replies, errors and misses are counted the same at every split`, async () => {
    const { protocol, bytes } = await stream();
    for (let split = 0; split <= bytes.length; split += 1) {
      const framer = protocol.createFramer(session, dataset);
      framer.feed(bytes.subarray(0, split), split);
      framer.feed(bytes.subarray(split), bytes.length - split);
      assert.deepEqual(counts(framer), expected, `split at ${split} of ${bytes.length}`);
    }
  });

  test(`${name}: the same byte by byte, from a longer, reused buffer`, async () => {
    const { protocol, bytes } = await stream();
    const framer = protocol.createFramer(session, dataset);
    // Stale bytes behind the one that is new: they must never be looked at.
    const buffer = Buffer.alloc(64, bytes.subarray(0, 64));
    for (const byte of bytes) {
      buffer[0] = byte;
      framer.feed(buffer, 1);
    }
    assert.deepEqual(counts(framer), expected);
  });

  test(`${name}: a reply counts at its last byte, not before`, async () => {
    const { protocol } = await stream();
    const reply = repliesTo(name, dataset, protocol.encode(session, 42));
    const framer = protocol.createFramer(session, dataset);
    framer.feed(reply, reply.length - 1);
    assert.equal(framer.replies, 0);
    framer.feed(reply.subarray(reply.length - 1), 1);
    assert.deepEqual(counts(framer), { replies: 1, errors: 0, misses: 0 });
  });

  test(`${name}: a row of another size is a miss`, async () => {
    const { protocol } = await stream();
    const longer = createDataset({ ...dataset, valueSize: dataset.valueSize + 5 });
    const reply = repliesTo(name, dataset, protocol.encode(session, 1));
    const framer = protocol.createFramer(session, longer);
    framer.feed(reply, reply.length);
    assert.deepEqual(counts(framer), { replies: 1, errors: 0, misses: 1 });
  });

  test(`${name}: values of many sizes: each is a row, a shorter one than any is a miss`, async () => {
    const { protocol } = await stream();
    const mixed = createDataset({ rows: dataset.rows, valueSizes: 'uniform:40-90' });
    const framer = protocol.createFramer(session, mixed);
    for (let id = 1; id <= 20; id += 1) {
      const reply = repliesTo(name, mixed, protocol.encode(session, id));
      framer.feed(reply, reply.length);
    }
    assert.deepEqual(counts(framer), { replies: 20, errors: 0, misses: 0 });
    const shorter = createDataset({ rows: dataset.rows, valueSize: 20 });
    const reply = repliesTo(name, shorter, protocol.encode(session, 1));
    framer.feed(reply, reply.length);
    assert.equal(framer.misses, 1);
  });

  test(`${name}: the reader returns values, misses and errors, and null for incomplete replies`, async () => {
    const { protocol, bytes } = await stream();
    const replies = [];
    let at = 0;
    while (at < bytes.length) {
      const reply = protocol.read(session, bytes, at, dataset.valueSize);
      assert.ok(reply !== null);
      for (let cut = at; cut < reply.end; cut += 1) {
        assert.equal(
          protocol.read(session, bytes.subarray(0, cut), at, dataset.valueSize),
          null,
          `cut at ${cut}`,
        );
      }
      replies.push(reply);
      at = reply.end;
    }
    const values = IDS.map((id) => (id <= dataset.rows ? dataset.value(id) : null));
    assert.deepEqual(
      replies.map(({ value }) => value),
      [...values, null, dataset.value(5)],
    );
    assert.deepEqual(
      replies.map(({ error }) => error !== null),
      [...IDS.map(() => false), true, false],
    );
  });

  test(`${name}: bytes of another protocol are refused, not counted`, async () => {
    const { protocol } = await stream();
    const framer = protocol.createFramer(session, dataset);
    const page = Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    assert.throws(() => framer.feed(page, page.length), { code: 'E_TARGET' });
    assert.equal(framer.replies, 0);
  });

  test(`${name}: requests are split by their offsets, and keys are equal for the same seed`, async () => {
    const { protocol } = await stream();
    const encode = (/** @type {number} */ id) => protocol.encode(session, id);
    const { bytes, offsets, ids } = encodeRequests(encode, dataset, 300);
    assert.equal(offsets[300], bytes.length);
    ids.forEach((id, i) => {
      assert.ok(id >= 1 && id <= dataset.rows);
      assert.deepEqual(bytes.subarray(offsets[i], offsets[i + 1]), encode(id));
    });
    assert.deepEqual(encodeRequests(encode, dataset, 300).ids, ids);
  });
}

test('mysql: without EOF packets the result set ends with its OK packet', () => {
  const reply = Buffer.concat([
    packet(1, Buffer.of(1)),
    packet(2, Buffer.from('column')),
    packet(3, Buffer.concat([Buffer.of(0, 0, 16), Buffer.alloc(16, 'v')])),
    packet(4, Buffer.of(0xfe, 0, 0, 2, 0, 0, 0)),
  ]);
  for (let split = 0; split <= reply.length; split += 1) {
    const framer = new MysqlFramer(16, true);
    framer.feed(reply.subarray(0, split), split);
    framer.feed(reply.subarray(split), reply.length - split);
    assert.deepEqual([framer.replies, framer.errors, framer.misses], [1, 0, 0]);
  }
});

test('mysql: a row of 16 MiB spans two packets and is one row', () => {
  const size = 0xffffff + 10;
  const rest = size + 11 - 0xffffff; // 00, NULL bits, nine bytes of length
  const head = Buffer.from('ffffff03', 'hex');
  const tail = Buffer.alloc(4);
  tail.writeUIntLE(rest, 0, 3);
  tail[3] = 4;
  const reply = Buffer.concat([
    packet(1, Buffer.of(1)),
    packet(2, Buffer.from('column')),
    head,
    Buffer.alloc(0xffffff),
    tail,
    Buffer.alloc(rest, 0xfe),
    packet(5, Buffer.of(0xfe, 0, 0, 2, 0, 0, 0)),
  ]);
  const framer = new MysqlFramer(size, true);
  for (let at = 0; at < reply.length; at += 65_536) {
    const piece = reply.subarray(at, at + 65_536);
    framer.feed(piece, piece.length);
  }
  assert.deepEqual([framer.replies, framer.errors, framer.misses], [1, 0, 0]);
});
