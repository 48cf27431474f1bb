/**
 * The pending queue and the send queue compared with plain models. failures.test.js tests limits,
 * and the requests that a lost connection keeps or rejects.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, drawBelow } from '../../../../lib/random.js';
import { PendingRing } from '../../pending-ring.js';
import { RequestType } from '../../request-type.js';
import { SendQueue } from '../../send-queue.js';

const find = new RequestType(() => {}, { promise: true });

test('a pending queue keeps the order through growth, wrapping and emptying', () => {
  const random = createRandom(5);
  /** @type {PendingRing<number, number>} */
  const queue = new PendingRing();
  let pushed = 0;
  let shifted = 0;
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
        assert.equal(queue.types[queue.head], shifted);
        assert.equal(queue.callbacks[queue.head], -shifted);
        queue.drop();
        shifted += 1;
      }
      assert.equal(queue.size, pushed - shifted);
    }
  }
  const left = queue.takeAll().map(({ type }) => type);
  assert.deepEqual(
    left,
    Array.from({ length: pushed - shifted }, (_, i) => shifted + i),
  );
  assert.ok(queue.types.length <= 65536, 'a queue that was deep gives its memory back');
});

/** @param {SendQueue} sendQueue @param {string} text @param {RequestType} type @param {any} name */
function ask(sendQueue, text, type, name) {
  const { bytes, length } = sendQueue.reserve(text.length);
  sendQueue.commit(length + bytes.write(text, length, 'latin1'), type, name, 1);
}

/** @param {SendQueue} sendQueue @returns {string[]} sent requests */
function sendAll(sendQueue) {
  const sent = [];
  for (let batch = sendQueue.next(); batch !== null; batch = sendQueue.next()) {
    sent.push(batch.bytes.toString('latin1', 0, batch.length));
  }
  return sent;
}

test('requests of any length are sent completely and in order, the longest in a separate batch', () => {
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
