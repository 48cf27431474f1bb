/** Bottleneck of a benchmark: every verdict, its thresholds, and unknown ones. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { occupancyOf } from '../../../engine/to-round.js';
import { bottleneckOf } from '../../../stats/bottleneck.js';

const SECOND = 1e9;
const base = { durationNs: SECOND, clientCpuNs: 0.5e9, serverCpuNs: 0.3e9, cores: 8 };

/** @param {Partial<import('../../../stats/bottleneck.js').CpuTimes> & { embedded?: boolean }} fields */
const verdict = ({ embedded, ...fields }) =>
  bottleneckOf({ cpu: { ...base, ...fields }, embedded }).verdict;

test('a client at 90 % of the time means driver, at 89 % it does not', () => {
  assert.equal(verdict({ clientCpuNs: 0.9e9 }), 'driver');
  assert.equal(verdict({ clientCpuNs: 0.89e9 }), 'latency');
  assert.equal(verdict({ clientCpuNs: 1.3e9 }), 'driver', 'helper threads may add to it');
});

test('the busiest thread of the server decides, not the sum of its threads', () => {
  assert.equal(verdict({ serverCpuNs: 1.4e9, serverThreadNs: 0.95e9 }), 'server');
  assert.equal(verdict({ serverCpuNs: 1.4e9, serverThreadNs: 0.7e9 }), 'latency');
});

test('without the busiest thread a sum below one core says no, one above says nothing', () => {
  assert.equal(verdict({ serverCpuNs: 0.8e9 }), 'latency');
  assert.equal(verdict({ serverCpuNs: 1.4e9 }), null);
});

test('if all cores are busy the server is the bottleneck, whatever its threads do', () => {
  const full = { clientCpuNs: 0.8e9, serverCpuNs: 1.1e9, serverThreadNs: 0.6e9, cores: 2 };
  assert.equal(verdict(full), 'server');
  assert.equal(verdict({ ...full, cores: 4 }), 'latency');
});

test('if both are busy the driver is named', () => {
  assert.equal(verdict({ clientCpuNs: 0.95e9, serverCpuNs: 1e9, serverThreadNs: 1e9 }), 'driver');
});

test('a reached ceiling decides if CPU time does not', () => {
  assert.equal(verdict({ ofClientCeiling: 0.93 }), 'driver');
  assert.equal(verdict({ ofServerCeiling: 0.95 }), 'server');
  assert.equal(verdict({ ofClientCeiling: 0.89, ofServerCeiling: 0.5 }), 'latency');
  assert.equal(verdict({ serverCpuNs: null, ofServerCeiling: 0.95 }), 'server');
});

test('a server with unknown CPU time is not assumed to wait', () => {
  assert.equal(verdict({ serverCpuNs: null }), null);
  assert.equal(verdict({ serverCpuNs: null, clientCpuNs: 0.97e9 }), 'driver');
  assert.equal(verdict({ clientCpuNs: null }), null);
  assert.equal(verdict({ clientCpuNs: null, serverThreadNs: 0.99e9 }), 'server');
});

test('an embedded store has no server to wait for', () => {
  assert.equal(verdict({ embedded: true, serverCpuNs: null }), 'latency');
  assert.equal(verdict({ embedded: true, serverCpuNs: null, clientCpuNs: 0.99e9 }), 'driver');
});

test('processes that share a load have one thread each', () => {
  assert.equal(verdict({ clientCpuNs: 1.2e9, processes: 2 }), 'latency');
  assert.equal(verdict({ clientCpuNs: 1.9e9, processes: 2 }), 'driver');
});

test('shares are shown beside the verdict; without measurements there is none', () => {
  assert.deepEqual(bottleneckOf({ cpu: { ...base, serverThreadNs: 0.2e9 } }), {
    verdict: 'latency',
    clientShare: 0.5,
    serverShare: 0.2,
  });
  assert.deepEqual(bottleneckOf({ cpu: { ...base, durationNs: 0 } }), {
    verdict: null,
    clientShare: null,
    serverShare: null,
  });
});

test('time without a processor is not idle time', () => {
  const of = (/** @type {number} */ wallNs, /** @type {number} */ runNs, waitNs = 0) =>
    occupancyOf({ wallNs, runNs, waitNs, server: [] }).client;
  assert.equal(of(100, 97), 0.97);
  assert.equal(of(200, 97, 100), 0.97);
  assert.equal(of(200, 50), 0.25);
  assert.equal(of(100, 101), 1);
  assert.equal(of(100, 0, 100), null);
});

test('a client that waits for a processor is slowed by the machine', () => {
  const of = (/** @type {number} */ waitNs, server = [0, 0]) =>
    Number(occupancyOf({ wallNs: 1000, runNs: 300, waitNs, server }).waiting);
  assert.equal(of(400), 0.4);
  assert.equal(of(400, [350, 10]), 0.05, 'while its server ran');
  assert.equal(of(100, [350, 10]), 0);
  const placed = (/** @type {'one-cpu' | 'two-cpus' | 'pinned' | 'free'} */ kind, client = [0]) =>
    occupancyOf({ wallNs: 1000, runNs: 300, waitNs: 400, server: [350, 10] }, { kind, client })
      .waiting;
  assert.equal(placed('two-cpus'), 0.4, 'the server runs elsewhere: the client waited for others');
  assert.equal(placed('pinned'), 0.4);
  assert.equal(placed('pinned', []), 0.05, 'nothing could be pinned');
  assert.equal(placed('one-cpu'), 0.05);
  assert.equal(placed('free', []), 0.05);
  const occupancy = [{ client: 0.5, server: 0.4 }];
  const verdict = (/** @type {number[]} */ waits) =>
    bottleneckOf({ occupancy, waits, cpu: base }).verdict;
  assert.equal(verdict([]), 'latency');
  assert.equal(verdict([0.3, 0.1, 0.2]), 'latency', 'middle round');
  assert.equal(verdict([0.3, 0.1, 0.25]), 'machine');
  const full = bottleneckOf({
    occupancy: [{ client: 0.97, server: 0.4 }],
    waits: [0.5],
    cpu: base,
  });
  assert.equal(full.verdict, 'driver');
});

test('an embedded store is slowed by the machine as well, with or without occupancy', () => {
  const of = (/** @type {number[]} */ waits, /** @type {number | null} */ client) =>
    bottleneckOf({
      occupancy: [{ client, server: null }],
      waits,
      cpu: { ...base, serverCpuNs: null },
      embedded: true,
    }).verdict;
  for (const client of [0.5, null]) {
    assert.equal(of([0.3], client), 'machine');
    assert.equal(of([0.2], client), 'latency');
  }
  assert.equal(of([0.3], 0.97), 'driver');
  const alone = occupancyOf({ wallNs: 1000, runNs: 300, waitNs: 400, server: [] });
  assert.equal(alone.waiting, 0.4, 'no server ran meanwhile');
});

test('utilisation of the threads decides: above 0.95 one, from 0.80 both are named', () => {
  const of = (/** @type {number | null} */ client, /** @type {number | null} */ server) =>
    bottleneckOf({ occupancy: [{ client, server }], cpu: base }).verdict;
  assert.equal(of(0.96, 1), 'driver');
  assert.equal(of(0.95, 0.5), 'driver/latency');
  assert.equal(of(0.8, 0.79), 'driver/latency');
  assert.equal(of(0.79, 0.79), 'latency');
  assert.equal(of(0.85, 0.9), 'server/latency');
  assert.equal(of(0.5, 0.96), 'server');
  const full = { ...base, clientCpuNs: 0.95e9 };
  const unknown = [{ client: null, server: 0.99 }];
  assert.equal(bottleneckOf({ occupancy: unknown, cpu: full }).verdict, 'driver', 'by CPU time');
  const blind = [{ client: 0.5, server: null }];
  assert.equal(bottleneckOf({ occupancy: blind, cpu: full }).verdict, 'driver', 'by CPU time');
  const embedded = { occupancy: blind, cpu: full, embedded: true };
  assert.equal(bottleneckOf(embedded).verdict, 'latency');
  const rounds = [0.99, 0.5, 0.5].map((client) => ({ client, server: 0.1 }));
  assert.equal(bottleneckOf({ occupancy: rounds, cpu: base }).verdict, 'latency', 'middle round');
});
