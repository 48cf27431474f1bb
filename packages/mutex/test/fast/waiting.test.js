/**
 * Waiting for a lock, without a server: the queue of waiters, and the values of the handler pure.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHeld } from '../../pure-handler.js';
import { Waiter, WaitQueue } from '../../wait-queue.js';

test('a release that overtakes a refused attempt is not lost', async () => {
  /** @type {((outcome: any) => void)[]} */
  const replies = [];
  let attempts = 0;
  const waiters = new WaitQueue({
    attempt() {
      attempts += 1;
      return new Promise((resolve) => replies.push(resolve));
    },
    heldMs: () => null,
    disown: () => assert.fail('nobody left'),
    deadlock: () => new Error('deadlock'),
    now: () => 0,
  });
  const claim = { names: ['a'], keys: ['a'], owner: 'o', serial: 's', expireMs: 1000 };
  const locked = new Promise((resolve) => waiters.add(new Waiter(claim, resolve)));
  // The server refused it, then the holder unlocked; the message arrives before the refusal.
  waiters.pump(['a']);
  replies[0]({ state: 'blocked', name: 'a', waitMs: Number.POSITIVE_INFINITY });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(attempts, 2);
  replies[1]({ state: 'acquired' });
  assert.equal(await locked, null);
  assert.equal(waiters.size, 0);
});

test('a lock granted to a waiter that has left is released', async () => {
  /** @type {(outcome: any) => void} */
  let reply = () => {};
  /** @type {any[]} */
  const disowned = [];
  const waiters = new WaitQueue({
    attempt: () => new Promise((resolve) => (reply = resolve)),
    heldMs: () => null,
    disown: (claim) => disowned.push(claim),
    deadlock: () => new Error('deadlock'),
    now: () => 0,
  });
  const claim = { names: ['a'], keys: ['a'], owner: 'o', serial: 's', expireMs: 1000 };
  /** @type {unknown} */
  let failure;
  const waiter = new Waiter(claim, (error) => {
    failure = error;
  });
  waiters.add(waiter);
  waiters.abandon(waiter, new Error('late'));
  assert.match(String(failure), /late/);
  reply({ state: 'acquired' });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(disowned, [claim]);
});

/** A queue whose attempts are completed by the test. */
function queueByHand() {
  /** @type {Map<string, (outcome: any) => void>} */
  const replies = new Map();
  /** @type {string[]} */
  const sent = [];
  const waiters = new WaitQueue({
    attempt: ({ owner }) => {
      sent.push(owner);
      return new Promise((resolve) => replies.set(owner, resolve));
    },
    heldMs: () => null,
    disown: () => {},
    deadlock: () => new Error('deadlock'),
    now: () => 0,
  });
  return {
    sent,
    waiters,
    add(/** @type {string} */ owner, /** @type {string[]} */ names) {
      const claim = { names, keys: names, owner, serial: owner, expireMs: 1000 };
      const waiter = new Waiter(claim, () => {});
      waiters.add(waiter);
      return waiter;
    },
    async reply(/** @type {string} */ owner, /** @type {any} */ outcome) {
      replies.get(owner)?.({ waitMs: Number.POSITIVE_INFINITY, ...outcome });
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('overtakes only earlier waiters that wait for another name', async () => {
  const { sent, add, reply, waiters } = queueByHand();
  add('first', ['a', 'b']);
  add('second', ['a', 'c']);
  add('third', ['c']);
  assert.deepEqual(sent, ['first'], 'second waits for a; third is behind second');
  await reply('first', { state: 'blocked', name: 'b' });
  assert.deepEqual(sent, ['first', 'second']);
  await reply('second', { state: 'blocked', name: 'c' });
  assert.deepEqual(sent, ['first', 'second'], 'third wants what second waits for');
  waiters.pump(['c']);
  assert.deepEqual(sent, ['first', 'second', 'second'], 'the first of its queue');
});

test('a waiter that times out lets the next one try', async () => {
  const { sent, add, reply, waiters } = queueByHand();
  const first = add('first', ['a']);
  await reply('first', { state: 'blocked', name: 'a' });
  add('second', ['a']);
  assert.deepEqual(sent, ['first']);
  waiters.abandon(first, new Error('late'));
  assert.deepEqual(sent, ['first', 'second']);
});

test('a value of the handler pure has owner and expiry; any other never expires', () => {
  assert.deepEqual(parseHeld('s.1:1700000000000:me:and you'), {
    serial: 's.1',
    until: 1_700_000_000_000,
    owner: 'me:and you',
  });
  assert.equal(parseHeld('another program’s')?.until, Number.POSITIVE_INFINITY);
  assert.equal(parseHeld(null), null);
});
