/** How full a thread was, and which bottleneck that is, also where it is kept off its processor. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { occupancyOf, verdictOfOccupancy } from '../../../stats/occupancy.js';

test('time without a processor is no idle time', () => {
  assert.equal(occupancyOf({ wallNs: 100, runNs: 97, waitNs: 0 }), 0.97);
  assert.equal(occupancyOf({ wallNs: 200, runNs: 97, waitNs: 100 }), 0.97);
  assert.equal(occupancyOf({ wallNs: 200, runNs: 50, waitNs: 0 }), 0.25);
  assert.equal(occupancyOf({ wallNs: 100, runNs: 101, waitNs: 0 }), 1);
  assert.equal(occupancyOf({ wallNs: 100, runNs: 0, waitNs: 100 }), null);
});

test('one processor for both: the side that waits for replies is not full', () => {
  const client = occupancyOf({ wallNs: 100, runNs: 60, waitNs: 38 });
  const server = occupancyOf({ wallNs: 100, runNs: 38, waitNs: 30 });
  assert.equal(verdictOfOccupancy(client, server), 'driver');
  const turns = occupancyOf({ wallNs: 100, runNs: 50, waitNs: 2 });
  assert.equal(verdictOfOccupancy(turns, turns), 'latency');
});

test('above 0.95 it is the bottleneck, from 0.80 on both are named', () => {
  assert.equal(verdictOfOccupancy(0.96, 1), 'driver');
  assert.equal(verdictOfOccupancy(0.95, 0.5), 'driver/latency');
  assert.equal(verdictOfOccupancy(0.8, 0.79), 'driver/latency');
  assert.equal(verdictOfOccupancy(0.79, 0.79), 'latency');
  assert.equal(verdictOfOccupancy(0.85, 0.9), 'server/latency');
  assert.equal(verdictOfOccupancy(0.5, 0.96), 'server');
  assert.equal(verdictOfOccupancy(0.5, null), 'latency');
  assert.equal(verdictOfOccupancy(null, 0.99), null);
});
