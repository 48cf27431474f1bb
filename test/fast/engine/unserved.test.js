/** Replies that a storage has not from its server, by the server's count. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unservedOf, unwaitedOf } from '../../../engine/unserved.js';

/** @param {Record<string, number>} counted */
const of = (counted) =>
  unservedOf({ counters: { counted: { replies: counted['due'], ...counted } } });

test('half a percent may be missing; multi-key commands count per key', () => {
  assert.equal(of({ due: 1000, operations: 996, lookups: 0 }), null);
  assert.match(String(of({ due: 1000, operations: 990, lookups: 0 })?.message), /: 1 %/);
  assert.equal(of({ due: 1000, operations: 10, lookups: 1000 }), null);
  assert.equal(of({ due: 0, operations: 0, lookups: 0 }), null);
  assert.equal(unservedOf({ counters: {} }), null, 'not counted');
});

test('replies per turn of the event loop are limited by the size of a socket read', () => {
  const of = (
    /** @type {number} */ replies,
    /** @type {number} */ bytes,
    /** @type {any} */ load,
  ) => {
    const client = { loopTurns: 9, ...(bytes > 0 && { replyBytes: bytes * replies }) };
    return unwaitedOf(/** @type {any} */ ({ outcomes: [replies], client }), load)?.code ?? null;
  };
  const window = { kind: 'window', inFlight: 20 };
  assert.deepEqual([of(400, 64, window), of(401, 64, window)], [null, 'E_UNSERVED']);
  assert.deepEqual(
    [of(20, 1024, { kind: 'sync' }), of(21, 1024, { kind: 'sync' })],
    [null, 'E_UNSERVED'],
  );
  // A read that fills its buffer is followed by another one.
  const many = { kind: 'window', inFlight: 100 };
  assert.deepEqual([of(40_000, 1024, many), of(40_001, 1024, many)], [null, 'E_UNSERVED']);
  assert.equal(of(8000, 0, window), null, 'the length of a reply is unknown');
  assert.equal(of(1e6, 64, { kind: 'burst' }), null);
});
