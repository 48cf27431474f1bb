/** The number in flight is counted apart from the latencies, so that Little's law can fail. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OK } from '../../../lib/outcome.js';
import { runLoad } from '../../../load/load.js';
import { createFakeClock, systemClock } from '../../../measure/clock.js';
import { littleCheck } from '../../../stats/little.js';

const OPS = {
  promise: (/** @type {number} */ i) =>
    new Promise((resolve) => {
      if (i % 2 === 0) setImmediate(() => resolve(i));
      else resolve(i);
    }),
  callback: (/** @type {number} */ i, /** @type {any} */ done) => {
    if (i % 2 === 0) setImmediate(() => done(null, i));
    else done(null, i);
  },
  sync: (/** @type {number} */ i) => i,
};
const RATE = { perSecond: 1e5, arrivals: /** @type {const} */ ('constant'), seed: 1 };

/**
 * @param {Partial<import('../../../load/load.js').LoadOptions>} options
 */
async function littleOf(options) {
  const { recorder, scheduled, durationNs, inFlightAreaNs } = await runLoad({
    op: OPS.promise,
    verify: () => OK,
    calls: 'promise',
    kind: 'window',
    inFlight: 10,
    operations: 2000,
    durationNs: Number.POSITIVE_INFINITY,
    stallNs: 5e9,
    clock: createFakeClock(),
    ...options,
  });
  assert.equal(
    recorder.outcomes.reduce((a, b) => a + b, 0),
    scheduled,
  );
  const histogram = /** @type {any} */ (recorder).service ?? recorder.histogram;
  return littleCheck({
    throughputPerSecond: (histogram.count / durationNs) * 1e9,
    latencyNsMean: histogram.mean,
    inFlightMean: inFlightAreaNs / durationNs,
  });
}

for (const clock of ['fake', 'real']) {
  for (const kind of /** @type {const} */ (['sync', 'window', 'burst', 'rate'])) {
    for (const calls of /** @type {const} */ (['promise', 'callback', 'sync'])) {
      test(`Little's law holds for ${kind}, ${calls}, on a ${clock} clock`, async () => {
        const check = await littleOf({
          kind,
          calls,
          op: OPS[calls],
          inFlight: kind === 'sync' ? 1 : 10,
          rate: kind === 'rate' ? { ...RATE, maxInFlight: 50 } : undefined,
          clock: clock === 'fake' ? createFakeClock() : systemClock,
        });
        assert.ok(check.holds, JSON.stringify(check));
        assert.ok(check.expected > 0);
      });
    }
  }
}

test('the law fails if untimed operations settle', async () => {
  // A driver that answers wrongly for every second operation: those have no latency.
  const check = await littleOf({ verify: (index) => (index % 2 === 1 ? OK : 1) });
  assert.equal(check.holds, false);
  assert.ok(check.difference !== null && check.difference > 0.5);
});
