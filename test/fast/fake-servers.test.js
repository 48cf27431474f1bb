/**
 * The fake servers without a socket: requests at every split, requests they must refuse, memory.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDataset } from '../../lib/dataset.js';
import { tableDataset } from '../../limits/fake/table.js';
import { WriteBuffer } from '../../limits/fake/write-buffer.js';
import { loadProtocol } from '../../limits/wire/protocol.js';
import { converse, Kept, PROTOCOLS, repliesTo, SESSIONS } from '../helpers/wire-replies.js';

const dataset = createDataset({ rows: 50, valueSize: 12, seed: 9 });

for (const name of PROTOCOLS) {
  test(`${name}: replies are equal at every split of the requests`, async () => {
    const protocol = await loadProtocol(name);
    const requests = Buffer.concat([3, 50, 51, 1].map((id) => protocol.encode(SESSIONS[name], id)));
    const expected = repliesTo(name, dataset, requests);
    for (let split = 0; split <= requests.length; split += 1) {
      const conversation = converse(name, dataset);
      const out = new Kept();
      const used = conversation.consume(requests.subarray(0, split), /** @type {any} */ (out));
      assert.ok(used <= split);
      const end = conversation.consume(requests.subarray(used), /** @type {any} */ (out));
      assert.equal(used + end, requests.length, `split at ${split}`);
      assert.deepEqual(out.bytes, expected, `split at ${split}`);
    }
  });
}

for (const [name, bytes] of /** @type {const} */ ([
  ['redis', 'GET / HTTP/1.1\r\n\r\n'],
  ['redis', '*1\r\n$-1\r\n'],
  ['tarantool', 'GET / HTTP/1.1\r\n\r\n'],
])) {
  test(`${name}: ${JSON.stringify(bytes)} is not a request and throws`, () => {
    assert.throws(
      () => repliesTo(name, dataset, Buffer.from(bytes)),
      /not the protocol of|not a request/,
    );
  });
}

test('redis: GET in any case, of RESP 2 and 3, of a missing row', () => {
  const ask = (/** @type {string} */ text) => `${repliesTo('redis', dataset, Buffer.from(text))}`;
  const key = (/** @type {number} */ id) => `$${14 + `${id}`.length}\r\ndragstrip:row:${id}\r\n`;
  const row = `$12\r\n${dataset.value(7)}\r\n`;
  assert.equal(ask(`*2\r\n$3\r\nGET\r\n${key(7)}`), row);
  assert.equal(ask(`*2\r\n$3\r\nget\r\n${key(7)}`), row);
  assert.equal(ask(`*2\r\n$3\r\nGET\r\n${key(51)}`), '$-1\r\n');
  assert.equal(ask('*2\r\n$3\r\nGET\r\n$5\r\nother\r\n'), '$-1\r\n');
  const hello = '*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n';
  assert.match(ask(`${hello}*2\r\n$3\r\nGET\r\n${key(51)}`), /^%7\r\n[\s\S]*_\r\n$/);
});

test('a write buffer is reused only if the kernel accepted it completely', () => {
  /** @type {{ bytes: Buffer, text: string }[]} */
  const written = [];
  const socket = {
    writableLength: 0,
    write: (/** @type {Buffer} */ bytes) => written.push({ bytes, text: `${bytes}` }),
  };
  const out = new WriteBuffer(/** @type {any} */ (socket));
  out.push(Buffer.from('first'));
  out.flush();
  out.push(Buffer.from('again'));
  socket.writableLength = 5; // the second write is still pending
  out.flush();
  out.push(Buffer.from('later'));
  out.flush();
  assert.deepEqual(
    written.map(({ text }) => text),
    ['first', 'again', 'later'],
  );
  assert.equal(`${written[0].bytes}`, 'again');
  assert.equal(`${written[1].bytes}`, 'again', 'bytes that are still wanted were written over');
});

test('a write buffer accepts more than its size', () => {
  /** @type {Buffer[]} */
  const written = [];
  const socket = { writableLength: 1, write: (/** @type {Buffer} */ bytes) => written.push(bytes) };
  const out = new WriteBuffer(/** @type {any} */ (socket));
  const big = Buffer.alloc(3 * 1024 * 1024, 'x');
  out.push(Buffer.from('ab'));
  out.push(big);
  out.push(Buffer.from('c'));
  out.flush();
  assert.deepEqual(
    Buffer.concat(written),
    Buffer.concat([Buffer.from('ab'), big, Buffer.from('c')]),
  );
});

test('a fake server has the same rows, at most 64 MiB of them', () => {
  assert.deepEqual(tableDataset({ rows: 100_000, valueSize: 1024, seed: 5 }), {
    rows: 4096,
    valueSize: 1024,
    seed: 5,
  });
  assert.equal(tableDataset({ rows: 100, valueSize: 1024, seed: 5 }).rows, 100);
  assert.equal(tableDataset({ rows: 1e6, valueSize: 2 ** 20, seed: 5 }).rows, 64);
  assert.equal(tableDataset({ rows: 1e6, valueSize: 2 ** 24, seed: 5 }).rows, 4);
});
