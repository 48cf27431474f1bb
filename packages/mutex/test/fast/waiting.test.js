/** Waiting for a lock, without a server: the queue of waiters, and the values of the handler pure. */

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
  // The server refused it, then the holder unlocked; the message is here before the refusal.
  waiters.pump(['a']);
  replies[0]({ state: 'blocked', name: 'a', waitMs: Number.POSITIVE_INFINITY });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(attempts, 2);
  replies[1]({ state: 'acquired' });
  assert.equal(await locked, null);
  assert.equal(waiters.size, 0);
});

test('what comes for somebody who has left is given back', async () => {
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
  let told;
  const waiter = new Waiter(claim, (error) => {
    told = error;
  });
  waiters.add(waiter);
  waiters.abandon(waiter, new Error('late'));
  assert.match(String(told), /late/);
  reply({ state: 'acquired' });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(disowned, [claim]);
});

test('a value of the handler pure says who and until when; another lasts for ever', () => {
  assert.deepEqual(parseHeld('s.1:1700000000000:me:and you'), {
    serial: 's.1',
    until: 1_700_000_000_000,
    owner: 'me:and you',
  });
  assert.equal(parseHeld('another program’s')?.until, Number.POSITIVE_INFINITY);
  assert.equal(parseHeld(null), null);
});
