/** Replies that wait to be verified: counted as if each had been verified at once. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR, MISMATCH, OK, UNSENT } from '../../../lib/outcome.js';
import { runLoad } from '../../../load/load.js';
import { FAILURES_IN_A_ROW_MAX } from '../../../load/recorder.js';
import { ReplyBatch } from '../../../load/reply-batch.js';
import { createFakeClock, systemClock } from '../../../measure/clock.js';

/** @param {Partial<import('../../../load/load.js').LoadOptions>} options */
function load(options) {
  return {
    op: async (/** @type {number} */ index) => index,
    verify: (/** @type {number} */ index, /** @type {any} */ reply) =>
      reply === index ? OK : MISMATCH,
    calls: /** @type {const} */ ('promise'),
    kind: /** @type {const} */ ('window'),
    inFlight: 10,
    operations: 1000,
    durationNs: Number.POSITIVE_INFINITY,
    stallNs: 5e9,
    clock: createFakeClock(),
    replyBytes: 1024,
    ...options,
  };
}

describe('deferred replies', () => {
  test('no more than 64, and no more than 256 KiB of them', () => {
    assert.equal(new ReplyBatch().limit, 1);
    assert.equal(new ReplyBatch(16).limit, 64);
    assert.equal(new ReplyBatch(32 * 1024).limit, 8);
    assert.equal(new ReplyBatch(16 * 1024 * 1024).limit, 1);
  });

  test('each is verified once, in order of arrival, including the last ones', async () => {
    for (const operations of [1, 63, 64, 65, 1000]) {
      /** @type {number[]} */
      const seen = [];
      const verify = (/** @type {number} */ index, /** @type {number} */ reply) => {
        seen.push(index);
        return reply === index ? OK : MISMATCH;
      };
      const { recorder, scheduled } = await runLoad(load({ operations, verify }));
      assert.deepEqual(
        seen,
        Array.from({ length: operations }, (_, i) => i),
      );
      assert.equal(recorder.outcomes[OK], operations);
      assert.equal(scheduled, operations);
    }
  });

  test('a wrong reply keeps its position: the sum equals that of the outcomes', async () => {
    const op = async (/** @type {number} */ i) => {
      if (i % 10 === 3) throw Object.assign(new Error('refused'), { code: 'OOM' });
      return i % 10 === 2 ? -1 : i;
    };
    const verify = (/** @type {number} */ i, /** @type {number} */ reply) => {
      if (i % 10 === 7) throw new Error('no row at all');
      return reply === i ? OK : MISMATCH;
    };
    const { recorder } = await runLoad(load({ op, verify }));
    assert.equal(recorder.outcomes[OK], 700);
    assert.equal(recorder.outcomes[MISMATCH], 100);
    assert.equal(recorder.outcomes[ERROR], 200);
    assert.deepEqual(
      recorder.samples.map(({ operation }) => operation),
      [2, 3, 7, 12, 13, 17, 22, 23, 27, 32],
    );
  });

  test('the law of Little holds, and the worker that verifies is not in flight meanwhile', async () => {
    const { recorder, inFlightAreaNs } = await runLoad(
      load({
        clock: systemClock,
        op: () => new Promise((resolve) => setImmediate(resolve)),
        verify: () => OK,
        operations: 20_000,
      }),
    );
    const { sum } = recorder.histogram;
    assert.ok(Math.abs(inFlightAreaNs / sum - 1) < 0.02, `${inFlightAreaNs} for ${sum}`);
  });

  test('a timed load ends in time, and all issued operations are counted', async () => {
    let nowNs = 0;
    const { recorder, scheduled } = await runLoad(
      load({
        clock: { now: () => nowNs, date: () => '' },
        // A millisecond passes with each reply.
        op: async (i) => {
          await null;
          nowNs += 1e6;
          return i;
        },
        operations: Number.POSITIVE_INFINITY,
        durationNs: 50e6,
      }),
    );
    assert.ok(scheduled >= 50 && scheduled < 50 + 10, `${scheduled}`);
    assert.equal(recorder.outcomes[OK], scheduled);
  });

  test('only wrong replies end the load, at the latest one batch later', async () => {
    const { recorder, scheduled } = await runLoad(
      load({ op: async () => -1, operations: 100_000, inFlight: 10 }),
    );
    assert.equal(scheduled, 100_000);
    const wrong = recorder.outcomes[MISMATCH];
    assert.ok(wrong >= FAILURES_IN_A_ROW_MAX && wrong < FAILURES_IN_A_ROW_MAX + 80, `${wrong}`);
    assert.equal(recorder.outcomes[UNSENT], 100_000 - wrong);
  });
});
