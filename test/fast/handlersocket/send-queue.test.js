/**
 * The pending queue and the send queue compared with plain models: order, bounds, and which
 * requests a lost connection keeps or rejects.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, drawBelow } from '../../../lib/random.js';
import { PendingQueue } from '../../../storages/handlersocket/pending-queue.js';
import { RequestType } from '../../../storages/handlersocket/request-type.js';
import { SendQueue } from '../../../storages/handlersocket/send-queue.js';

const find = new RequestType(() => {}, { promise: true });
const change = new RequestType(() => {}, { promise: true, change: true });

test('a pending queue keeps the order through growth, wrapping and emptying', () => {
  const random = createRandom(5);
  /** @type {PendingQueue<number, number>} */
  const queue = new PendingQueue();
  let pushed = 0;
  let taken = 0;
  for (const [steps, share] of /** @type {const} */ ([
    [300_000, 0.7],
    [300_000, 0.3],
    [50_000, 0.5],
  ])) {
    for (let step = 0; step < steps; step += 1) {
      if (drawBelow(random, 1000) < share * 1000) {
        queue.push(pushed, -pushed);
        pushed += 1;
      } else if (queue.size > 0) {
        assert.equal(queue.types[queue.head], taken);
        assert.equal(queue.callbacks[queue.head], -taken);
        queue.drop();
        taken += 1;
      }
      assert.equal(queue.size, pushed - taken);
    }
  }
  const left = queue.takeAll().map(({ type }) => type);
  assert.deepEqual(
    left,
    Array.from({ length: pushed - taken }, (_, i) => taken + i),
  );
  assert.ok(queue.types.length <= 65536, 'a queue that was deep gives its memory back');
});

/** @param {SendQueue} sendQueue @param {string} text @param {RequestType} type @param {any} name */
function ask(sendQueue, text, type, name) {
  const { bytes, length } = sendQueue.reserve(text.length);
  sendQueue.commit(length + bytes.write(text, length, 'latin1'), type, name, 1);
}

/** @param {SendQueue} sendQueue @returns {string[]} what was sent */
function sendAll(sendQueue) {
  const sent = [];
  for (let batch = sendQueue.next(); batch !== null; batch = sendQueue.next()) {
    sent.push(batch.bytes.toString('latin1', 0, batch.length));
  }
  return sent;
}

/** @param {SendQueue} sendQueue */
function answer(sendQueue) {
  sendQueue.pending.drop();
  sendQueue.answered();
}

test('requests of any length go out whole and in order, the longest in a batch of its own', () => {
  const random = createRandom(6);
  const sendQueue = new SendQueue({ maxInFlight: 1e6, maxReplyBytes: 1e9 });
  const lines = [];
  for (let i = 0; i < 500; i += 1) {
    const length = i % 100 === 7 ? 200_000 : drawBelow(random, 3000);
    lines.push(`${i}:${'x'.repeat(length)}\n`);
    ask(sendQueue, lines[i], find, i);
  }
  sendQueue.seal();
  assert.equal(sendAll(sendQueue).join(''), lines.join(''));
  assert.equal(sendQueue.inFlight, 500);
});

test('a loss keeps finds without a reply in front, and gives changes back', () => {
  const sendQueue = new SendQueue({ maxInFlight: 4, maxReplyBytes: 1e9 });
  sendQueue.batchCountMax = 4;
  const names = ['f0', 'c1', 'f2', 'c3', 'f4', 'c5', 'f6'];
  for (const name of names) ask(sendQueue, `${name}\n`, name[0] === 'c' ? change : find, name);
  sendQueue.seal();
  assert.deepEqual(sendAll(sendQueue), ['f0\nc1\nf2\nc3\n']);
  answer(sendQueue);
  const given = sendQueue.lose(2).map(({ callback }) => callback);
  assert.deepEqual(given, ['c1', 'c3'], 'those that were sent');
  assert.equal(sendQueue.size, 4);
  assert.deepEqual(sendAll(sendQueue), ['f2\n', 'f4\nc5\nf6\n']);
  for (const expected of ['f2', 'f4', 'c5', 'f6']) {
    assert.equal(sendQueue.pending.callbacks[sendQueue.pending.head], expected);
    answer(sendQueue);
  }
  assert.deepEqual([sendQueue.size, sendQueue.inFlight, sendQueue.weight], [0, 0, 0]);
});

test('a find is sent again so many times and no more', () => {
  const sendQueue = new SendQueue({ maxInFlight: 10, maxReplyBytes: 1e9 });
  ask(sendQueue, 'f\n', find, 'f');
  sendQueue.seal();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    assert.deepEqual(sendAll(sendQueue), ['f\n']);
    assert.deepEqual(sendQueue.lose(2), []);
  }
  assert.deepEqual(sendAll(sendQueue), ['f\n']);
  assert.equal(sendQueue.lose(2).length, 1);
  assert.equal(sendQueue.size, 0);
});

test('what is in flight is bounded by requests and by the weight of replies', () => {
  const sendQueue = new SendQueue({ maxInFlight: 3, maxReplyBytes: 5 });
  for (let i = 0; i < 8; i += 1) ask(sendQueue, `${i}\n`, find, i);
  sendQueue.seal();
  const sent = [];
  while (sendQueue.size > 0) {
    sent.push(...sendAll(sendQueue));
    assert.ok(sendQueue.inFlight <= 3);
    answer(sendQueue);
  }
  assert.equal(sent.join(''), '0\n1\n2\n3\n4\n5\n6\n7\n');
});
