/** One slice of a load: its time per operation, and the rules of recording over many slices. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR, MISMATCH, OK, TIMEOUT } from '../../../lib/outcome.js';
import { SliceSeries } from '../../../load/slice.js';
import { createFakeClock, systemClock } from '../../../measure/clock.js';

/** @param {Partial<import('../../../load/slice.js').SliceOptions>} [options] */
function series(options = {}) {
  return new SliceSeries({
    op: async (index) => index,
    verify: (index, reply) => (reply === index ? OK : MISMATCH),
    calls: 'promise',
    kind: 'window',
    inFlight: 10,
    stallNs: 5e9,
    clock: createFakeClock(),
    ...options,
  });
}

/** @param {SliceSeries} all */
function requireAccounts({ outcomes, scheduled }) {
  assert.equal(
    outcomes.reduce((sum, n) => sum + n, 0),
    scheduled,
  );
}

describe('a slice', () => {
  test('goes on with the operation behind the last one of the slice before', async () => {
    /** @type {number[]} */
    const seen = [];
    const all = series({
      op: async (index) => {
        seen.push(index);
        return index;
      },
    });
    for (const operations of [20, 40, 10]) {
      const { valid, operations: done } = await all.run(operations, 1);
      assert.ok(valid);
      assert.equal(done, operations);
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 70 }, (_, i) => i),
    );
    assert.equal(all.outcomes[OK], 70);
    assert.equal(all.recorder.histogram.count, 70);
    requireAccounts(all);
  });

  test('of a window ends with the issue of its last operation', async () => {
    const { spanOperations, operations } = await series().run(100, 1);
    assert.deepEqual([operations, spanOperations], [100, 90]);
    // Too short for that: the whole.
    assert.equal((await series().run(10, 1)).spanOperations, 10);
    assert.equal((await series({ kind: 'sync', inFlight: 1 }).run(30, 1)).spanOperations, 30);
  });

  test('a window whose replies come all together takes its round trips, no more', async () => {
    /** @type {(() => void)[]} */
    let waiting = [];
    let timeNs = 0;
    const batch = () => {
      timeNs += 10e6;
      const due = waiting;
      waiting = [];
      for (const reply of due) reply();
    };
    const all = series({
      clock: { now: () => timeNs, date: () => '' },
      op: (index) =>
        new Promise((resolve) => {
          waiting.push(() => resolve(index));
          if (waiting.length === 10) setImmediate(batch);
        }),
    });
    const { spanNs, spanOperations } = await all.run(50, 1);
    assert.equal(spanOperations, 40);
    assert.equal(spanNs, 4 * 10e6);
  });

  test('a burst is repeated until it is long enough, and counts whole', async () => {
    const all = series({ kind: 'burst' });
    const { operations, spanOperations, medianNs } = await all.run(300, 3);
    assert.deepEqual([operations, spanOperations], [900, 900]);
    assert.ok(medianNs > 0);
    assert.equal(all.outcomes[OK], 900);
    requireAccounts(all);
  });

  test('is not valid where a reply is wrong, and its outcomes are kept', async () => {
    const all = series({ verify: (index) => (index === 25 ? MISMATCH : OK) });
    assert.equal((await all.run(20, 1)).valid, true);
    assert.equal((await all.run(20, 1)).valid, false);
    assert.equal((await all.run(20, 1)).valid, true);
    assert.equal(all.outcomes[MISMATCH], 1);
    assert.equal(all.samples.length, 1);
    requireAccounts(all);
  });

  test('whose operations never settle times out', async () => {
    const all = series({
      ...{ clock: systemClock, stallNs: 0.2e9 },
      op: (index) => (index < 15 ? Promise.resolve(index) : new Promise(() => {})),
    });
    assert.equal((await all.run(40, 1)).valid, false);
    assert.equal(all.outcomes[TIMEOUT], 10);
    requireAccounts(all);
  });

  test('whose operations all fail ends, and says why', async () => {
    const all = series({
      op: async () => {
        throw new Error('gone');
      },
    });
    assert.equal((await all.run(40, 1)).valid, false);
    assert.equal(all.outcomes[ERROR], 40);
    assert.equal(all.samples[0].message, 'gone');
    requireAccounts(all);
  });

  test('the median hides one slow operation, the capped mean and the span do not', async () => {
    const latencies = Float64Array.from({ length: 100 }, (_, i) => (i % 20 === 0 ? 200 : 100));
    latencies[50] = 1e6;
    const { recorder } = series();
    recorder.reset(0, 100);
    for (const [i, ns] of latencies.entries()) recorder.ok(0, ns, i);
    const { medianNs, cappedNs } = recorder.absorb();
    assert.equal(medianNs, 100);
    assert.equal(cappedNs, (94 * 100 + 5 * 200 + 1000) / 100);
  });

  test('Little’s law holds over all slices', async () => {
    const all = series({ replyBytes: 64 });
    for (let i = 0; i < 5; i += 1) await all.run(200, 1);
    const { histogram } = all.recorder;
    const latencyNs = histogram.sum / histogram.count;
    const inFlight = all.inFlightAreaNs / all.durationNs;
    const expected = (histogram.count / all.durationNs) * latencyNs;
    assert.ok(Math.abs(inFlight / expected - 1) < 0.02, `${inFlight}, ${expected}`);
  });

  test('a warm-up is forgotten', async () => {
    const all = series();
    await all.run(50, 1);
    all.clear();
    assert.deepEqual([all.scheduled, all.outcomes[OK], all.recorder.histogram.count], [0, 0, 0]);
    await all.run(20, 1);
    assert.equal(all.outcomes[OK], 20);
    requireAccounts(all);
  });
});
