/** The point read: its keys, its calls, its verdicts; and the queue of callbacks. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDataset } from '../../lib/dataset.js';
import { MISMATCH, MISS, OK } from '../../lib/outcome.js';
import { PendingQueue } from '../../storages/pending-queue.js';
import { workload } from '../../workloads/get/index.js';
import { loadWorkload, WORKLOAD_NAMES } from '../../workloads/index.js';

/** A documented promise: a longer run goes through the keys again. */
const KEYS_MAX = 4_194_304;

const dataset = createDataset({ rows: 100, valueSize: 40, seed: 4 });

describe('the get workload', () => {
  it('is found by its name, and an unknown name is reported', async () => {
    assert.ok(WORKLOAD_NAMES.includes('get'));
    assert.equal((await loadWorkload('get')).name, 'get');
    await assert.rejects(loadWorkload('gets'), { code: 'E_USAGE', message: /unknown workload/ });
    await assert.rejects(loadWorkload('toString'), { code: 'E_USAGE' });
  });

  it('draws the same keys for the same seed, others for another', () => {
    assert.deepEqual(drawKeys(100, 1, 1000), drawKeys(100, 1, 1000));
    assert.notDeepEqual(drawKeys(100, 1, 1000), drawKeys(100, 2, 1000));
    // A shorter run has the beginning of a longer one: rounds stay comparable.
    assert.deepEqual(drawKeys(100, 1, 10), drawKeys(100, 1, 1000).slice(0, 10));
  });

  it('draws ids from 1 to rows, each about as often', () => {
    const counts = new Uint32Array(12);
    for (const id of drawKeys(10, 3, 100_000)) counts[id] += 1;
    assert.equal(counts[0] + counts[11], 0);
    // 10,000 each, standard deviation 95.
    for (let id = 1; id <= 10; id += 1) assert.ok(Math.abs(counts[id] - 10_000) < 500);
  });

  it('repeats its keys in a long run after 4,194,304', () => {
    const three = recorder(100, 1, 3);
    for (let index = 0; index < 6; index += 1) three.op(index);
    assert.deepEqual(three.asked.slice(3), three.asked.slice(0, 3));
    const endless = recorder(100, 1, Number.POSITIVE_INFINITY);
    for (let i = 0; i < 50; i += 1) {
      endless.op(i);
      endless.op(i + KEYS_MAX);
    }
    endless.asked.forEach((id, i) => {
      assert.equal(id, endless.asked[i - (i % 2)]);
    });
    assert.ok(new Set(endless.asked).size > 20);
  });

  it('passes the callback on, and returns the reply of the driver unchanged', async () => {
    const { prepare } = await loadWorkload('get');
    const reply = {};
    const handle = {
      get: (/** @type {number} */ _id, /** @type {any} */ done) => done?.(null, 1) ?? reply,
      async close() {},
    };
    const { op } = prepare({ dataset, seed: 1, ops: 3, options: {} })(handle);
    assert.equal(op(0), reply);
    let called = 0;
    op(0, () => (called += 1));
    assert.equal(called, 1);
  });

  it('distinguishes rows, misses and mismatches, by the tag and in full', async () => {
    const { prepare } = await loadWorkload('get');
    const [id] = drawKeys(100, 1, 1);
    const right = dataset.value(id);
    const spoiled = `${right.slice(0, -1)}${right.endsWith('A') ? 'B' : 'A'}`;
    const verdicts = (/** @type {any} */ handle, /** @type {any} */ reply) => {
      const { verify } = prepare({ dataset, seed: 1, ops: 1, options: {} })(handle);
      return [verify(0, reply, false), verify(0, reply, true)];
    };
    const plain = { get() {}, async close() {} };
    assert.deepEqual(verdicts(plain, right), [OK, OK]);
    assert.deepEqual(verdicts(plain, undefined), [MISS, MISS]);
    assert.deepEqual(verdicts(plain, spoiled), [OK, MISMATCH]); // the first window is right
    for (const wrong of [null, '', Buffer.from(right), [right], 7, dataset.value((id % 100) + 1)]) {
      assert.deepEqual(verdicts(plain, wrong), [MISMATCH, MISMATCH]);
    }
    const rows = { ...plain, value: (/** @type {any[]} */ reply) => reply[0]?.str };
    assert.deepEqual(verdicts(rows, [{ str: right }]), [OK, OK]);
    assert.deepEqual(verdicts(rows, []), [MISS, MISS]);
  });

  it('counts the replies and bytes that it compared', async () => {
    const { prepare } = await loadWorkload('get');
    const [id] = drawKeys(100, 1, 1);
    const handle = { get() {}, async close() {} };
    const { verify, compared } = prepare({ dataset, seed: 1, ops: 1, options: {} })(handle);
    for (const whole of [false, false, true]) verify(0, dataset.value(id), whole);
    verify(0, undefined, true);
    // 8 of the 40 letters are the tag.
    assert.deepEqual(compared, { replies: 3, bytes: 8 + 8 + 40, length: 120, whole: 1 });
  });
});

/**
 * @param {number} rows
 * @param {number} seed
 * @param {number} ops
 */
function recorder(rows, seed, ops) {
  /** @type {number[]} */
  const asked = [];
  const handle = { get: (/** @type {number} */ id) => asked.push(id), async close() {} };
  const options = { dataset: createDataset({ ...dataset, rows }), seed, ops, options: {} };
  const { op } = workload.prepare(options)(handle);
  return { asked, op };
}

/**
 * @param {number} rows
 * @param {number} seed
 * @param {number} ops
 * @returns {number[]} the ids that the workload asks for
 */
function drawKeys(rows, seed, ops) {
  const { asked, op } = recorder(rows, seed, ops);
  for (let index = 0; index < ops; index += 1) op(index);
  return asked;
}

describe('the queue of callbacks', () => {
  it('is first in, first out through growth and wrapping', () => {
    const pending = new PendingQueue();
    /** @type {number[]} */
    const called = [];
    let pushed = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      for (let i = 0; i < 60; i += 1) {
        const mine = pushed;
        pushed += 1;
        pending.push(() => called.push(mine));
      }
      for (let i = 0; i < 40; i += 1) pending.take()?.(null);
    }
    assert.equal(pending.size, 4000);
    while (pending.size > 0) pending.take()?.(null);
    assert.deepEqual(
      called,
      Array.from({ length: 12_000 }, (_, i) => i),
    );
    assert.equal(pending.take(), undefined);
  });

  it('fails pending callbacks, and does not reuse them for later replies', () => {
    const pending = new PendingQueue();
    let failed = 0;
    let late = 0;
    for (let i = 0; i < 10; i += 1) {
      pending.push((error) => {
        assert.equal(error, pending.lost);
        failed += 1;
        pending.push(() => (late += 1));
      });
    }
    pending.fail(new Error('gone'));
    assert.deepEqual([failed, late, pending.size], [10, 0, 10]);
  });
});
