/** Loads that begin at a given moment: by a fake clock, and asleep before it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateOf } from '../../../engine/share.js';
import { OK } from '../../../lib/outcome.js';
import { countArrivals } from '../../../load/arrivals.js';
import { Load, runLoad } from '../../../load/load.js';
import { SPIN_NS, sleepUntilStart } from '../../../load/start.js';
import { createFakeClock, systemClock } from '../../../measure/clock.js';

const STEP_NS = 1e4;

/** @param {number} startNs @returns {Promise<{ startedNs: number, started: number }>} */
async function begin(startNs) {
  let started = 0;
  const { recorder } = await runLoad(
    {
      op: async (/** @type {number} */ i) => i,
      verify: () => OK,
      calls: 'promise',
      kind: 'rate',
      inFlight: 1,
      operations: Number.POSITIVE_INFINITY,
      durationNs: 1e6,
      rate: { perSecond: 100_000, arrivals: 'poisson', seed: 1, maxInFlight: 100 },
      stallNs: 1e9,
      clock: createFakeClock({ stepNs: STEP_NS }),
      startNs,
    },
    {
      onStart: () => {
        started += 1;
      },
    },
  );
  return { startedNs: recorder.startNs, started };
}

test('a load begins on time, with all preparations done before', async () => {
  const { startedNs, started } = await begin(1e6);
  assert.equal(started, 1);
  assert.ok(startedNs >= 1e6 && startedNs <= 1e6 + 2 * STEP_NS, `${startedNs}`);
});

test('arrivals are counted once, before the start is known', () => {
  const load = { kind: 'rate', rate: 1000, arrivals: 'poisson', durationNs: 1e9 };
  const share = { index: 1, count: 3 };
  const spec = { load: { ...load, inFlight: null, operations: null }, seed: 1, share };
  const rate = rateOf(/** @type {any} */ (spec), {});
  assert.ok(rate !== undefined);
  const bounds = { durationNs: 1e9, operations: Number.POSITIVE_INFINITY };
  assert.equal(rate.count, countArrivals(rate, bounds));
  const { limit } = new Load({
    op: () => null,
    verify: () => OK,
    calls: 'sync',
    kind: 'rate',
    inFlight: 1,
    ...bounds,
    rate: { ...rate, count: 7 },
    stallNs: 1e9,
    clock: createFakeClock(),
  });
  assert.equal(limit, 7);
});

test('a start in the past, or too far away for a loop, causes no wait', async () => {
  assert.ok((await begin(1)).startedNs <= 3 * STEP_NS);
  assert.ok((await begin(2 * SPIN_NS)).startedNs <= 3 * STEP_NS);
});

test('until shortly before it, the loop is idle; an abort ends that', async () => {
  const clock = systemClock;
  const startNs = clock.now() + 30e6;
  await sleepUntilStart(startNs, { clock });
  assert.ok(clock.now() >= startNs - SPIN_NS);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 20);
  await sleepUntilStart(clock.now() + 3600e9, { clock, signal: stop.signal });
  assert.ok(clock.now() < startNs + 3000e9);
});
