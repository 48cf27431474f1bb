/** Outstanding requests keep their order, wherever the ring wraps around and grows. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PendingRing } from '../../pending-ring.js';

test('first in, first out, at every size at which it grows or shrinks', () => {
  for (const head of [0, 1, 2, 1023]) {
    const ring = new PendingRing();
    for (let i = 0; i < head; i += 1) {
      ring.push(i, i);
      ring.drop();
    }
    const all = Array.from({ length: 70_000 }, (_, i) => ({ type: i, callback: -i }));
    for (const { type, callback } of all) ring.push(type, callback);
    assert.equal(ring.size, all.length);
    assert.deepEqual(ring.takeAll(), all);
    assert.deepEqual([ring.size, ring.mask], [0, 1023]);
  }
});
