/** Slices of several load machines, as far as it is pure: the timetable, and merging. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { timetableOf } from '../../engine/slices/timetable.js';
import { mergeSlices } from '../../fleet/merge-slices.js';
import { MISMATCH, OK, OUTCOMES } from '../../lib/outcome.js';
import { TimedSliceSeries } from '../../load/timed-slice.js';
import { Histogram } from '../../measure/histogram.js';

const PLAN = { round: 0, blocks: 8, leadBlocks: 1, orderSeed: 5, sliceNs: 200e6, gapNs: 50e6 };
const WINDOW = { kind: 'window', inFlight: 10 };
const SLICE = 200e6;

describe('a timetable', () => {
  const shapes = [
    { every: 1, loads: [WINDOW, WINDOW] },
    { every: 1, loads: [WINDOW, null] },
    { every: 4, loads: [WINDOW, WINDOW] },
  ];

  test('is the same wherever it is drawn, and another in the next round', () => {
    assert.deepEqual(timetableOf(shapes, 2, PLAN), timetableOf(shapes, 2, PLAN));
    const next = timetableOf(shapes, 2, { ...PLAN, round: 1 });
    assert.notDeepEqual(
      next.map(({ entrant }) => entrant),
      timetableOf(shapes, 2, PLAN).map(({ entrant }) => entrant),
    );
  });

  test('has each contender once per block and load, at equal distances', () => {
    const slots = timetableOf(shapes, 2, PLAN);
    assert.deepEqual(
      slots.map(({ atNs }) => atNs),
      slots.map((_, i) => i * 250e6),
    );
    const count = (/** @type {number} */ entrant, /** @type {number} */ load) =>
      slots.filter((one) => one.entrant === entrant && one.load === load && !one.lead).length;
    assert.deepEqual([count(0, 0), count(0, 1), count(1, 0), count(1, 1)], [8, 8, 8, 0]);
    assert.equal(count(2, 0), 2);
    assert.equal(slots.filter(({ lead }) => lead).length, 5);
    assert.ok(slots.findLastIndex(({ lead }) => lead) < slots.findIndex(({ lead }) => !lead));
    for (const [i, { block, load }] of slots.entries()) {
      const before = slots[i - 1];
      // Slices of one load are next to each other.
      if (before === undefined || before.lead || before.load === load) continue;
      assert.ok(before.block <= block);
    }
  });
});

/**
 * @param {number} slot
 * @param {{ operations?: number, lateNs?: number, endNs?: number, valid?: boolean }} [how]
 * @returns {import('../../engine/slices/timed-process.js').TimedRecord}
 */
function recordOf(slot, { operations = 300, lateNs = 0, endNs, valid = true } = {}) {
  const histogram = new Histogram();
  for (let i = 0; i < operations; i += 1) histogram.record(100_000 + i * 100);
  const atNs = slot * 250e6;
  return {
    slot,
    ...{ startNs: atNs + lateNs, endNs: endNs ?? atNs + SLICE, lateNs },
    ...{ spanNs: 150e6, spanOperations: operations / 2, operations },
    ...{ medianNs: 115_000, cappedNs: 115_000, valid, latency: histogram.toMessage() },
    ...{ cpuNs: 30e6, runNs: 20e6, waitNs: 1e6, serverCpuNs: 50e6, serverWaitNs: 0 },
  };
}

/**
 * @param {string} agent
 * @param {import('../../engine/slices/timed-process.js').TimedRecord[]} records
 * @param {number} [offsetNs]
 */
function agentOf(agent, records, offsetNs = 0) {
  const latency = new Histogram();
  for (const one of records) if (one.latency) latency.mergeSparse(one.latency);
  const scheduled = records.reduce((sum, { operations }) => sum + operations, 0);
  const series = {
    ...{ scheduled, samples: [], durationNs: 1e9, inFlightMean: 5, latency: latency.toMessage() },
    outcomes: OUTCOMES.map((_, code) => (code === OK ? scheduled : 0)),
    cpu: { userNs: 1e8, systemNs: 1e7 },
  };
  const own = { records, occupancy: [{ client: 0.5, server: 0.9 }], series: [series] };
  const moved = records.map((one) => ({
    ...one,
    startNs: one.startNs - offsetNs,
    endNs: one.endNs - offsetNs,
  }));
  const contender = { ...own, records: moved, warmNs: [1000], failure: null };
  return { agent, offsetNs, contenders: [contender] };
}

/** @param {ReturnType<typeof agentOf>[]} agents */
function merge(agents) {
  const blocks = 3;
  const slots = timetableOf([{ every: 1, loads: [WINDOW] }], 1, { ...PLAN, blocks });
  return mergeSlices(agents, {
    ...{ slots, loads: 1, blocks, entrants: 1, startNs: 0, sliceNs: SLICE, windowNs: 150e6 },
  });
}

describe('slices of several machines', () => {
  const slots = [0, 1, 2, 3];

  test('are one: throughputs in the window and histograms are added', async () => {
    const { contenders, overrunNs } = await merge([
      agentOf(
        'a',
        slots.map((slot) => recordOf(slot)),
      ),
      agentOf(
        'b',
        slots.map((slot) => recordOf(slot, { operations: 600 })),
        7e12,
      ),
    ]);
    assert.equal(overrunNs, 0);
    const [{ slices, series, agents, occupancy, failure }] = contenders;
    assert.equal(failure, null);
    // The first block is not counted.
    assert.equal(slices[0].length, 3);
    for (const slice of slices[0]) {
      assert.ok(slice?.valid);
      assert.deepEqual([slice.spanNs, slice.spanOperations, slice.operations], [150e6, 450, 900]);
      // Every agent on its machine reads all of the server's time.
      assert.deepEqual([slice.cpuNs, slice.serverCpuNs], [60e6, 50e6]);
    }
    assert.equal(series[0].scheduled, 3600);
    assert.equal(series[0].latency?.count, 3600);
    assert.equal(series[0].inFlightMean, 10);
    assert.deepEqual(occupancy, [{ client: 0.5, server: 0.9 }]);
    assert.deepEqual(
      agents?.[0].map(({ agent, ok, throughput }) => [agent, ok, throughput]),
      [
        ['a', 1200, 1000],
        ['b', 2400, 2000],
      ],
    );
  });

  test('a slice that one began more than 50 ms late is none, and the agent is named', async () => {
    const late = slots.map((slot) => recordOf(slot, { lateNs: [0, 51e6, 20e6, 0][slot] }));
    const { contenders } = await merge([
      agentOf(
        'a',
        slots.map((s) => recordOf(s)),
      ),
      agentOf('b', late),
    ]);
    const [{ slices, agents, failure }] = contenders;
    assert.equal(failure, null);
    assert.deepEqual(
      slices[0].map((slice) => slice?.valid),
      [false, true, true],
    );
    assert.deepEqual(
      agents?.[0].map(({ agent, lateNs, slices: own }) => [agent, lateNs, own?.late, own?.invalid]),
      [
        ['a', 0, 0, 0],
        ['b', 51e6, 2, 1],
      ],
    );
  });

  test('without one in time there is no round, and the failure names the agent', async () => {
    const late = slots.map((slot) => recordOf(slot, { lateNs: 60e6 }));
    const { contenders } = await merge([
      agentOf(
        'a',
        slots.map((s) => recordOf(s)),
      ),
      agentOf('b', late),
    ]);
    assert.deepEqual(contenders[0].failure, {
      code: 'E_AGENT_LATE',
      message: 'agent b began slices up to 60 ms late: the round is invalid',
    });
  });

  test('a slice that begins while replies of the one before are outstanding is none', async () => {
    const slow = slots.map((slot) => recordOf(slot, slot === 1 ? { endNs: 510e6 } : {}));
    const { contenders } = await merge([
      agentOf('a', slow),
      agentOf(
        'b',
        slots.map((s) => recordOf(s)),
      ),
    ]);
    assert.deepEqual(
      contenders[0].slices[0].map((slice) => slice?.valid),
      [true, false, true],
    );
  });

  test('a slice that one agent has not run is none; a failure names its agent', async () => {
    const some = agentOf('b', [recordOf(0), recordOf(1)]);
    const all = agentOf(
      'a',
      slots.map((s) => recordOf(s)),
    );
    const { contenders } = await merge([all, some]);
    assert.deepEqual(
      contenders[0].slices[0].map((slice) => slice?.valid ?? null),
      [true, null, null],
    );
    const failure = { code: 'E_TARGET', message: 'no answer' };
    Object.assign(some.contenders[0], { failure });
    const [one] = (await merge([all, some])).contenders;
    assert.deepEqual(one.failure, { code: 'E_TARGET', message: 'agent b: no answer' });
  });
});

/** A clock that only an operation moves. */
function steppedClock() {
  let time = 1e9;
  const advance = (/** @type {number} */ ns) => {
    time += ns;
  };
  return { now: () => time, originNs: 0, date: () => '2026-01-01T00:00:00.000Z', advance };
}

describe('a slice by time', () => {
  test('counts what is completed in its window, and ends when it is over', async () => {
    const clock = steppedClock();
    const all = new TimedSliceSeries({
      ...{ calls: 'sync', kind: 'sync', inFlight: 1, stallNs: 5e9, clock },
      op: (index) => {
        clock.advance(1e6);
        return index;
      },
      verify: (index, reply) => (reply === index ? OK : MISMATCH),
    });
    const startNs = clock.now();
    const times = { startNs, fromNs: startNs + 50e6, endNs: startNs + 200e6 };
    const first = await all.runBetween(times);
    assert.equal(first.valid, true);
    assert.equal(first.lateNs, 0);
    assert.equal(first.spanNs, 150e6);
    assert.equal(first.spanOperations, 150);
    assert.equal(first.operations, 200);
    assert.equal(first.latency?.count, 200);
    const late = await all.runBetween({ ...times, endNs: clock.now() + 40e6 });
    assert.equal(late.lateNs, 200e6);
    assert.equal(late.operations, 40);
    assert.equal(all.first, 240, 'goes on with the operation behind the last one');
    assert.equal(all.recorder.histogram.count, 240);
  });

  test('with more operations than there was room for keeps them all', async () => {
    const clock = steppedClock();
    const all = new TimedSliceSeries({
      ...{ calls: 'sync', kind: 'sync', inFlight: 1, stallNs: 5e9, clock },
      op: (index) => {
        clock.advance(1e4);
        return index;
      },
      verify: () => OK,
    });
    const startNs = clock.now();
    const slice = await all.runBetween({ startNs, fromNs: startNs, endNs: startNs + 200e6 });
    assert.equal(slice.operations, 20_000);
    assert.equal(slice.latency?.count, 20_000);
  });
});
