/** A pool of connections: as many as requests in flight, each with one request at a time. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPool, poolSize, poolWorkload } from '../../../engine/pool.js';

const spec = (/** @type {any} */ workloadOptions, /** @type {number | null} */ inFlight) =>
  /** @type {any} */ ({ workloadOptions, load: { kind: 'window', inFlight } });

describe('a pool', () => {
  test('has as many handles as requests in flight, if requested and calls do not block', () => {
    assert.equal(poolSize(spec({ pool: true }, 16), 'promise'), 16);
    assert.equal(poolSize(spec({ pool: true }, 16), 'sync'), 1);
    assert.equal(poolSize(spec({}, 16), 'promise'), 1);
    assert.equal(poolSize(spec({ pool: true }, null), 'callback'), 1);
  });

  test('is closed by its first handle; a failed opening closes the earlier ones', async () => {
    /** @type {number[]} */
    const closed = [];
    let n = 0;
    const open = async () => {
      const id = n++;
      if (id === 5) throw new Error('refused');
      return /** @type {any} */ ({ close: async () => void closed.push(id) });
    };
    const [first] = await openPool(3, open);
    await first.close();
    assert.deepEqual(closed.sort(), [0, 1, 2]);
    await assert.rejects(openPool(4, open), /refused/);
    assert.deepEqual(closed.sort(), [0, 1, 2, 3, 4]);
  });

  for (const calls of /** @type {const} */ (['promise', 'callback'])) {
    test(`gives each ${calls} operation an idle handle`, async () => {
      const most = [0, 0, 0];
      const inFlight = [0, 0, 0];
      const bounds = most.map((_, worker) => {
        const begin = () => {
          inFlight[worker] += 1;
          most[worker] = Math.max(most[worker], inFlight[worker]);
        };
        const op = (/** @type {number} */ index, /** @type {any} */ done) => {
          begin();
          const end = () => {
            inFlight[worker] -= 1;
            return index;
          };
          if (calls === 'callback') return void setImmediate(() => done(null, end()));
          return new Promise((resolve) => setImmediate(() => resolve(end())));
        };
        return /** @type {any} */ ({ op, verify: () => 0 });
      });
      const { op } = poolWorkload(bounds, calls);
      const ask = (/** @type {number} */ index) =>
        calls === 'promise'
          ? op(index)
          : new Promise((resolve) => op(index, (_, reply) => resolve(reply)));
      const worker = async (/** @type {number} */ first) => {
        for (let i = first; i < 60; i += 3) assert.equal(await ask(i), i);
      };
      await Promise.all([0, 1, 2].map(worker));
      assert.deepEqual(most, [1, 1, 1]);
      // More than there are handles: they are shared, and nothing is lost.
      const replies = await Promise.all(Array.from({ length: 9 }, (_, i) => ask(i)));
      assert.deepEqual(replies, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
      assert.deepEqual(inFlight, [0, 0, 0]);
    });
  }

  test('reuses a handle after a failed operation', async () => {
    let calls = 0;
    const bounds = [1, 2].map((id) => ({
      op: async () => {
        calls += 1;
        if (id === 2) throw new Error('refused');
        return id;
      },
    }));
    const { op } = poolWorkload(/** @type {any} */ (bounds), 'promise');
    for (let i = 0; i < 3; i += 1) await assert.rejects(op(i), /refused/);
    assert.equal(calls, 3);
  });

  test('never contains a handle twice, even if a driver calls back twice', () => {
    /** @type {number[]} */
    const used = [];
    const bounds = [1, 2].map((id) => ({
      op(/** @type {number} */ index, /** @type {any} */ done) {
        used.push(id);
        if (index === 0) for (let i = 0; i < 2; i += 1) done(null, index);
      },
    }));
    const { op } = poolWorkload(/** @type {any} */ (bounds), 'callback');
    for (let i = 0; i < 3; i += 1) op(i, () => {});
    assert.deepEqual(used, [2, 2, 1]);
  });

  test('of one is the workload itself', () => {
    const bound = /** @type {any} */ ({ op: () => {}, verify: () => 0 });
    assert.equal(poolWorkload([bound], 'promise'), bound);
  });
});
