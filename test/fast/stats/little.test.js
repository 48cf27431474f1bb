/** Little's law: numbers that fit and numbers that do not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { littleCheck } from '../../../stats/little.js';
import { assertNear } from './near.js';

test("Little's law holds within 2 % and is marked beyond", () => {
  const benchmark = { throughputPerSecond: 50_000, latencyNsMean: 2_000_000 };
  assert.equal(littleCheck({ ...benchmark, inFlightMean: 100 }).holds, true);
  assert.equal(littleCheck({ ...benchmark, inFlightMean: 101.9 }).holds, true);
  assert.equal(littleCheck({ ...benchmark, inFlightMean: 98.1 }).holds, true);
  const off = littleCheck({ ...benchmark, inFlightMean: 102.1 });
  assert.equal(off.holds, false);
  assert.deepEqual([off.expected, off.measured], [100, 102.1]);
  assertNear(off.difference, 0.021, 1e-12);
  assert.equal(littleCheck({ ...benchmark, inFlightMean: 97.9 }).holds, false);
});

test('a benchmark without operations holds only if nothing was in flight', () => {
  const idle = { throughputPerSecond: 0, latencyNsMean: 0 };
  assert.equal(littleCheck({ ...idle, inFlightMean: 0 }).holds, true);
  assert.equal(littleCheck({ ...idle, inFlightMean: 3 }).holds, false);
});

test('NaN is refused, not called consistent', () => {
  const benchmark = { throughputPerSecond: 1, latencyNsMean: Number.NaN, inFlightMean: 1 };
  assert.throws(() => littleCheck(benchmark), { code: 'E_USAGE', message: /latencyNsMean/ });
});
