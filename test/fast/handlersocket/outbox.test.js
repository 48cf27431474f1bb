/**
 * The ring and the outbox against plain models: order, bounds, what a loss keeps and gives back.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, drawBelow } from '../../../lib/random.js';
import { Outbox } from '../../../storages/handlersocket/outbox.js';
import { Plan } from '../../../storages/handlersocket/plan.js';
import { Ring } from '../../../storages/handlersocket/ring.js';

const find = new Plan(() => {}, { promise: true });
const change = new Plan(() => {}, { promise: true, change: true });

test('a ring gives back what was pushed, in order, through growth, wrapping and emptying', () => {
  const random = createRandom(5);
  /** @type {Ring<number, number>} */
  const ring = new Ring();
  let pushed = 0;
  let taken = 0;
  for (const [steps, share] of /** @type {const} */ ([
    [300_000, 0.7],
    [300_000, 0.3],
    [50_000, 0.5],
  ])) {
    for (let step = 0; step < steps; step += 1) {
      if (drawBelow(random, 1000) < share * 1000) {
        ring.push(pushed, -pushed);
        pushed += 1;
      } else if (ring.size > 0) {
        assert.equal(ring.plans[ring.head], taken);
        assert.equal(ring.sinks[ring.head], -taken);
        ring.drop();
        taken += 1;
      }
      assert.equal(ring.size, pushed - taken);
    }
  }
  const rest = ring.takeAll().map(({ plan }) => plan);
  assert.deepEqual(
    rest,
    Array.from({ length: pushed - taken }, (_, i) => taken + i),
  );
  assert.ok(ring.plans.length <= 65536, 'a ring that was deep gives its memory back');
});

/** @param {Outbox} outbox @param {string} text @param {Plan} plan @param {any} name */
function ask(outbox, text, plan, name) {
  const { bytes, length } = outbox.room(text.length);
  outbox.commit(length + bytes.write(text, length, 'latin1'), plan, name, 1);
}

/** @param {Outbox} outbox @returns {string[]} what was sent */
function sendAll(outbox) {
  const sent = [];
  for (let batch = outbox.next(); batch !== null; batch = outbox.next()) {
    sent.push(batch.bytes.toString('latin1', 0, batch.length));
  }
  return sent;
}

/** @param {Outbox} outbox */
function answer(outbox) {
  outbox.ring.drop();
  outbox.answered();
}

test('requests of any length go out whole and in order, the longest in a batch of its own', () => {
  const random = createRandom(6);
  const outbox = new Outbox({ maxInFlight: 1e6, maxReplyBytes: 1e9 });
  const lines = [];
  for (let i = 0; i < 500; i += 1) {
    const length = i % 100 === 7 ? 200_000 : drawBelow(random, 3000);
    lines.push(`${i}:${'x'.repeat(length)}\n`);
    ask(outbox, lines[i], find, i);
  }
  outbox.seal();
  assert.equal(sendAll(outbox).join(''), lines.join(''));
  assert.equal(outbox.inFlight, 500);
});

test('a loss keeps finds without a reply in front, and gives changes back', () => {
  const outbox = new Outbox({ maxInFlight: 4, maxReplyBytes: 1e9 });
  outbox.batchCountMax = 4;
  const names = ['f0', 'c1', 'f2', 'c3', 'f4', 'c5', 'f6'];
  for (const name of names) ask(outbox, `${name}\n`, name[0] === 'c' ? change : find, name);
  outbox.seal();
  assert.deepEqual(sendAll(outbox), ['f0\nc1\nf2\nc3\n']);
  answer(outbox);
  const given = outbox.lose(2).map(({ sink }) => sink);
  assert.deepEqual(given, ['c1', 'c3'], 'those that were sent');
  assert.equal(outbox.size, 4);
  assert.deepEqual(sendAll(outbox), ['f2\n', 'f4\nc5\nf6\n']);
  for (const expected of ['f2', 'f4', 'c5', 'f6']) {
    assert.equal(outbox.ring.sinks[outbox.ring.head], expected);
    answer(outbox);
  }
  assert.deepEqual([outbox.size, outbox.inFlight, outbox.weight], [0, 0, 0]);
});

test('a find is sent again so many times and no more', () => {
  const outbox = new Outbox({ maxInFlight: 10, maxReplyBytes: 1e9 });
  ask(outbox, 'f\n', find, 'f');
  outbox.seal();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    assert.deepEqual(sendAll(outbox), ['f\n']);
    assert.deepEqual(outbox.lose(2), []);
  }
  assert.deepEqual(sendAll(outbox), ['f\n']);
  assert.equal(outbox.lose(2).length, 1);
  assert.equal(outbox.size, 0);
});

test('what is in flight is bounded by requests and by the weight of replies', () => {
  const outbox = new Outbox({ maxInFlight: 3, maxReplyBytes: 5 });
  for (let i = 0; i < 8; i += 1) ask(outbox, `${i}\n`, find, i);
  outbox.seal();
  const sent = [];
  while (outbox.size > 0) {
    sent.push(...sendAll(outbox));
    assert.ok(outbox.inFlight <= 3);
    answer(outbox);
  }
  assert.equal(sent.join(''), '0\n1\n2\n3\n4\n5\n6\n7\n');
});
