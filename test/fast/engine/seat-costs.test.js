/** Seats without a process: their handling of a process's replies. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Seat } from '../../../engine/seat.js';
import { countedSegment } from '../../../engine/segment.js';

/** @param {Record<string, (...words: any[]) => unknown>[]} remotes */
function seatOf(remotes) {
  const shares = remotes.map((_, index) => ({ index, count: remotes.length }));
  const left = remotes.map((own) => ({ kill() {}, abort() {}, async open() {}, ...own }));
  const spec = /** @type {any} */ ({ tasks: [{}], storage: {} });
  return new Seat({ name: 'a', spec, shares }, () => /** @type {any} */ (left.shift()));
}

test('the cost of an operation is the least of its lead segments, not that of the warm-up', async () => {
  const spans = [100, 50, 80];
  const run = async () => {
    const spanNs = Number(spans.shift());
    const figures = { spanNs, spanOperations: 1, medianNs: null, valid: true, lateNs: 0 };
    return countedSegment(1, [0, spanNs], figures);
  };
  const seat = seatOf([{ run, warm: async () => ({ refused: false, costNs: 20 }) }]);
  await seat.open();
  await seat.warm(0);
  const seen = [seat.costs[0]];
  for (let i = 0; i < 3; i += 1) {
    await seat.run(0, { amount: /** @type {any} */ ({}), lead: true });
    seen.push(seat.costs[0]);
  }
  assert.deepEqual(seen, [20, 100, 50, 50]);
});

test('of several processes the failed one is the reason, not one stopped because of it', async () => {
  const rejects = (/** @type {string} */ code) => ({
    async open() {
      throw Object.assign(new Error(code), { code });
    },
  });
  const seat = seatOf([rejects('E_ABORTED'), rejects('E_TARGET'), rejects('E_ABORTED')]);
  await seat.open();
  assert.equal(seat.failure?.code, 'E_TARGET');
});
