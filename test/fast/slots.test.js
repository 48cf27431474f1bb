/** The nodes of a Redis Cluster's slots, as CLUSTER SLOTS names them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SLOTS } from '../../packages/mutex/slot.js';
import { nodesOf, parseSlots } from '../../protocols/resp/slots.js';

const REPLY = [
  [0, 5460, ['10.0.0.1', 7000, 'a'], ['10.0.0.4', 7003, 'd', []]],
  [5461, 10_922, ['10.0.0.2', 7001, 'b']],
  [10_923, 16_383, ['', 7000, 'a'], [null, 7004, 'e']],
];

test('CLUSTER SLOTS names primaries and replicas; an empty host is the node that replied', () => {
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
    [[0, 1, ['a', 65_536]]],
    [[0, 1, 'a']],
    [[-1, 1, ['a', 1]]],
    [[0, 1, [7, 1]]],
  ]) {
    assert.throws(() => parseSlots(reply, 'a'), { code: 'E_TARGET', message: /CLUSTER SLOTS/ });
  }
});
