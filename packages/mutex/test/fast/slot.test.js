/** The slot of a key, with test vectors of the cluster specification and of Redis 7.0.15. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SLOTS, slotOf } from '../../slot.js';

test('the slot of a key is its CRC16, equal to CLUSTER KEYSLOT', () => {
  assert.equal(slotOf('123456789'), 0x31c3); // from the specification
  assert.equal(slotOf('foo'), 12_182);
  assert.equal(slotOf('bar'), 5061);
  assert.equal(slotOf('hello'), 866);
  assert.equal(slotOf(''), 0);
});

test('only a hash tag is hashed; an empty one is ignored', () => {
  assert.equal(slotOf('{user1000}.following'), slotOf('user1000'));
  assert.equal(slotOf('{user1000}.following'), slotOf('{user1000}.followers'));
  assert.equal(slotOf('foo{}{bar}'), 8363); // as a whole
  assert.equal(slotOf('foo{{bar}}zap'), slotOf('{bar'));
  assert.equal(slotOf('foo{bar}{zap}'), slotOf('bar'));
  assert.equal(slotOf('foo{bar'), slotOf('foo{bar'));
  assert.notEqual(slotOf('foo{bar'), slotOf('bar'));
  assert.equal(slotOf('}foo{bar}'), slotOf('bar'));
});

test('keys of the dataset are spread evenly', () => {
  const counts = [0, 0, 0];
  for (let id = 1; id <= 30_000; id += 1) {
    counts[Math.floor((slotOf(`dragstrip:row:${id}`) * 3) / SLOTS)] += 1;
  }
  for (const count of counts) assert.ok(Math.abs(count - 10_000) < 500, `${counts}`);
});
