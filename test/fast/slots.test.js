/** Slots of a Redis Cluster, by the vectors of its specification and of a Redis 7.0.15. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodesOf, parseSlots, SLOTS, slotOf } from '../../protocols/resp/slots.js';

test('the slot of a key is its CRC16, as CLUSTER KEYSLOT has it', () => {
  assert.equal(slotOf('123456789'), 0x31c3); // of the specification
  assert.equal(slotOf('foo'), 12_182);
  assert.equal(slotOf('bar'), 5061);
  assert.equal(slotOf('hello'), 866);
  assert.equal(slotOf(''), 0);
});

test('a hash tag alone is hashed; an empty one is none', () => {
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

const REPLY = [
  [0, 5460, ['10.0.0.1', 7000, 'a'], ['10.0.0.4', 7003, 'd', []]],
  [5461, 10_922, ['10.0.0.2', 7001, 'b']],
  [10_923, 16_383, ['', 7000, 'a'], [null, 7004, 'e']],
];

test('CLUSTER SLOTS names primaries and replicas; an empty host is the node that was asked', () => {
  const ranges = parseSlots(REPLY, '10.0.0.1');
  assert.deepEqual(ranges[2], {
    first: 10_923,
    last: 16_383,
    nodes: [
      { host: '10.0.0.1', port: 7000 },
      { host: '10.0.0.1', port: 7004 },
    ],
  });
  assert.deepEqual(
    nodesOf(ranges).map(({ host, port }) => `${host}:${port}`),
    ['10.0.0.1:7000', '10.0.0.2:7001', '10.0.0.4:7003', '10.0.0.1:7004'],
  );
});

test('anything else is an error in one line', () => {
  for (const reply of [
    null,
    'OK',
    [5],
    [[0, 1]],
    [[0, SLOTS, ['a', 1]]],
    [[0, 1, ['a', 0]]],
    [[0, 1, 'a']],
    [[-1, 1, ['a', 1]]],
    [[0, 1, [7, 1]]],
  ]) {
    assert.throws(() => parseSlots(reply, 'a'), { code: 'E_TARGET', message: /CLUSTER SLOTS/ });
  }
});
