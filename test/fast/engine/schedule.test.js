/** Schedules under made-up observations: no process, no clock, a thousand seeds. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { amountOf } from '../../../engine/schedule/blocks.js';
import {
  blocks,
  orderOfRound,
  timed,
  timetableOf,
  wholeSegment,
} from '../../../engine/schedule/index.js';
import { isWarm } from '../../../engine/warm.js';
import { createRandom } from '../../../lib/random.js';
import { ROOT } from '../../helpers/command-line.js';

/** @typedef {import('../../../engine/schedule/index.js').Step} Step */
/** @typedef {import('../../../engine/schedule/index.js').RunStep} RunStep */
/** @typedef {import('../../../engine/schedule/blocks.js').BlocksPlan} BlocksPlan */

const SEEDS = 1000;
const SYNC = { kind: 'sync', inFlight: 1, place: '' };
const WINDOW = { kind: 'window', inFlight: 10, place: '' };

/**
 * @param {Partial<import('../../../engine/schedule/index.js').Seen>} [fields]
 * @returns {import('../../../engine/schedule/index.js').Seen & { startNs(): number }}
 */
function seenOf(fields = {}) {
  return {
    isOut: () => false,
    isRefused: () => false,
    costNs: () => 1000,
    nowNs: () => 0,
    startNs: () => 1e9,
    ...fields,
  };
}

/**
 * @param {readonly (number | null)[]} tasks null: it lacks the load
 * @param {number} [every]
 * @param {string} [opener]
 */
function seatOf(tasks, every = 1, opener = 'storage') {
  return { every, spec: { opener, tasks } };
}

/**
 * @param {number} seed
 * @param {Partial<BlocksPlan>} [fields]
 * @returns {BlocksPlan}
 */
function planOf(seed, fields = {}) {
  return {
    seats: Array.from({ length: 3 }, () => seatOf([0, 1])),
    loads: [SYNC, WINDOW],
    random: createRandom(seed),
    segmentNs: 8e6,
    leadBlocks: 2,
    blocks: () => 6,
    ...fields,
  };
}

/** @param {Iterable<Step[]>} steps @returns {Step[]} */
function all(steps) {
  return [...steps].flat();
}

/** @param {readonly Step[]} steps @returns {RunStep[]} counted steps */
function runsOf(steps) {
  return steps.flatMap((step) => (step.do === 'run' && !step.lead ? [step] : []));
}

describe('blocks', () => {
  test(`every contender once per load and block, whatever the seed: ${SEEDS} seeds`, () => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const steps = all(blocks(planOf(seed), seenOf()));
      const runs = runsOf(steps);
      const keys = runs.map(({ seat, load, block }) => `${block} ${load} ${seat}`);
      assert.equal(keys.length, 6 * 2 * 3);
      assert.equal(new Set(keys).size, keys.length);
      // A load of a block is measured without another one in between.
      const groups = runs.filter((one, i) => i === 0 || one.load !== runs[i - 1].load);
      assert.ok(groups.length <= 6 * 2);
      assert.deepEqual(
        steps.flatMap((step) => (step.do === 'close' ? [step.seat] : [])),
        [0, 1, 2],
      );
    }
  });

  test('any order of a block is as likely as any other (chi square)', () => {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const runs = runsOf(all(blocks(planOf(seed), seenOf())));
      for (let at = 0; at < runs.length; at += 3) {
        const order = runs.slice(at, at + 3).map(({ seat }) => seat);
        counts.set(order.join(), (counts.get(order.join()) ?? 0) + 1);
      }
    }
    assert.equal(counts.size, 6);
    const expected = (SEEDS * 12) / 6;
    const square = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    // 99.9 % point of chi square with 5 degrees of freedom.
    assert.ok(square < 20.52, `${square}`);
  });

  test('the same seed has the same steps, a different one different steps', () => {
    const stepsOf = (/** @type {number} */ seed) => all(blocks(planOf(seed), seenOf()));
    assert.deepEqual(stepsOf(5), stepsOf(5));
    assert.notDeepEqual(stepsOf(5), stepsOf(6));
  });

  test('each is opened, warmed up and placed before the first segment', () => {
    const steps = all(blocks(planOf(1), seenOf()));
    const kinds = steps.map((step) => step.do);
    assert.deepEqual(kinds.slice(0, 9), [
      ...Array(3).fill('open'),
      ...Array(3).fill('warm'),
      ...Array(3).fill('pin'),
    ]);
    assert.deepEqual(kinds.slice(-3), Array(3).fill('close'));
  });

  test('an excluded contender does not run; a refused or missing load is skipped', () => {
    /** @type {Step[]} */
    const steps = [];
    const plan = planOf(1, {
      seats: [seatOf([0, 1]), seatOf([0, null]), seatOf([0, 1])],
    });
    const seen = seenOf({
      // After three blocks of four segments.
      isOut: (seat) => seat === 0 && runsOf(steps).length >= 12,
      isRefused: (seat, load) => seat === 2 && load === 0,
    });
    for (const step of blocks(plan, seen)) steps.push(...step);
    const runs = runsOf(steps);
    const countOf = (/** @type {number} */ seat, /** @type {number} */ load) =>
      runs.filter((run) => run.seat === seat && run.load === load).length;
    assert.deepEqual([countOf(0, 0), countOf(0, 1)], [3, 3]);
    assert.deepEqual([countOf(1, 0), countOf(1, 1)], [6, 0]);
    assert.deepEqual([countOf(2, 0), countOf(2, 1)], [0, 6]);
    // So that segment b of a contender is that of block b.
    const skipped = steps.filter((step) => step.do === 'skip' && step.seat === 2);
    assert.equal(skipped.length, 6);
    const warm = steps.flatMap((step) => (step.do === 'warm' ? [[step.seat, step.loads]] : []));
    assert.deepEqual(new Map(/** @type {[number, number[]][]} */ (warm)).get(1), [0]);
  });

  test('contenders of every fourth block; a program’s loads are spread over the blocks', () => {
    const seats = [seatOf([0, 1]), seatOf([0, 1], 4), seatOf([0, 1], 4, 'program')];
    const runs = runsOf(all(blocks(planOf(1, { seats, blocks: () => 8 }), seenOf())));
    const at = (/** @type {number} */ seat, /** @type {number} */ load) =>
      runs.filter((run) => run.seat === seat && run.load === load).map(({ block }) => block);
    assert.deepEqual(
      [at(1, 0), at(1, 1)],
      [
        [0, 4],
        [0, 4],
      ],
    );
    assert.deepEqual(
      [at(2, 0), at(2, 1)],
      [
        [0, 4],
        [3, 7],
      ],
    );
  });

  test('lead blocks are counted separately, and decide the number of blocks and length of segments', () => {
    let nowNs = 0;
    let costNs = Number.NaN;
    let leadNs = 0;
    const plan = planOf(1, {
      blocks: (ns) => {
        leadNs = ns;
        return 5;
      },
    });
    const seen = seenOf({ costNs: () => costNs, nowNs: () => nowNs });
    /** @type {RunStep[]} */
    const steps = [];
    for (const [step] of blocks(plan, seen)) {
      if (step.do === 'run') {
        steps.push(step);
        nowNs += 7;
        costNs = 10_000;
      }
    }
    assert.equal(leadNs, 6 * 7, 'of the last lead block');
    assert.equal(steps[0].lead, true);
    const firstOf = { 0: 1, 1: 40 };
    assert.equal(steps[0].amount.operations, firstOf[/** @type {0 | 1} */ (steps[0].load)]);
    const counted = steps.filter(({ lead }) => !lead);
    assert.equal(counted.length, 5 * 6);
    for (const { amount, of } of counted) {
      assert.deepEqual(amount, { operations: 800, durationNs: null, brief: true });
      assert.equal(of, 5);
    }
  });

  test('a segment of a window has at least four whole windows; of sync at least one operation', () => {
    const of = (/** @type {any} */ load, /** @type {number} */ costNs) =>
      amountOf(load, costNs, 8e6).operations;
    assert.deepEqual([of(WINDOW, 1e6), of(WINDOW, 1000), of(WINDOW, 1234)], [40, 8000, 6480]);
    assert.deepEqual([of(SYNC, 1e9), of(SYNC, 1000), of(SYNC, Number.NaN)], [1, 8000, 1]);
  });

  test('after its time no further block begins, but four run in any case', () => {
    const blocksBy = (/** @type {number} */ overAt) => {
      let runs = 0;
      const plan = planOf(1, { blocks: () => 20, isOver: () => runs / 6 >= overAt });
      for (const steps of blocks(plan, seenOf())) runs += runsOf(steps).length;
      return runs / 6;
    };
    assert.deepEqual([blocksBy(1), blocksBy(9), blocksBy(99)], [4, 9, 20]);
  });

  test('a program runs each load once in blocks that are few or end early', () => {
    const loads = [0, 1, 2, 3, 4];
    const seats = [seatOf(loads, 8, 'program')];
    for (const count of [1, 3, 20]) {
      const plan = planOf(1, {
        seats,
        loads: loads.map(() => SYNC),
        blocks: () => count,
        isOver: () => true,
      });
      const runs = runsOf(all(blocks(plan, seenOf())));
      assert.deepEqual([...new Set(runs.map(({ load }) => load))].sort(), loads, `${count} blocks`);
    }
  });

  test('servers are moved once per block', () => {
    const loads = ['a', 'b', 'a', 'b'].map((place) => ({ ...SYNC, place }));
    const seats = [seatOf([0, 1, 2, 3])];
    const runs = runsOf(all(blocks(planOf(1, { loads, seats }), seenOf())));
    const places = runs.map(({ load }) => loads[load].place);
    const moves = places.filter((place, i) => i > 0 && place !== places[i - 1]).length;
    assert.equal(moves, 6);
  });
});

describe('whole', () => {
  const amount = { operations: 10, durationNs: null };
  const kindsOf = (/** @type {Parameters<typeof seenOf>[0]} */ fields) =>
    all(wholeSegment(3, amount, seenOf(fields))).map((step) => step.do);

  test('opens, warms up, places, runs and closes', () => {
    assert.deepEqual(kindsOf({}), ['open', 'warm', 'pin', 'run', 'close']);
    const run = all(wholeSegment(3, amount, seenOf())).find((step) => step.do === 'run');
    assert.deepEqual(run && [run.seat, run.load, run.amount, run.lead], [3, 0, amount, false]);
  });

  test('a contender that does not open, or is refused, is not measured', () => {
    assert.deepEqual(kindsOf({ isOut: () => true }), ['open', 'pin', 'close']);
    assert.deepEqual(kindsOf({ isRefused: () => true }), ['open', 'warm', 'pin', 'close']);
  });
});

describe('the order of a round', () => {
  test('one round keeps the specified order', () => {
    assert.deepEqual(orderOfRound(5, 0, 1, 42), [0, 1, 2, 3, 4]);
  });

  test('every round has each benchmark once, drawn from the seed', () => {
    for (let round = 0; round < 6; round += 1) {
      const order = orderOfRound(9, round, 6, 42);
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        [0, 1, 2, 3, 4, 5, 6, 7, 8],
      );
      assert.deepEqual(orderOfRound(9, round, 6, 42), order);
    }
    assert.notDeepEqual(orderOfRound(9, 0, 6, 42), orderOfRound(9, 0, 6, 43));
    assert.notDeepEqual(orderOfRound(9, 0, 6, 42), orderOfRound(9, 2, 6, 42));
  });

  test('the second of two rounds mirrors the first, so that drift cancels', () => {
    for (const round of [0, 2, 4]) {
      const there = orderOfRound(9, round, 6, 7);
      assert.deepEqual(orderOfRound(9, round + 1, 6, 7), there.reverse());
    }
  });
});

describe('a timetable', () => {
  const seats = [seatOf([0, 1]), seatOf([0, 1], 4), seatOf([null, 1])];
  const options = {
    round: 2,
    blocks: 8,
    leadBlocks: 2,
    orderSeed: 7,
    segmentNs: 8e6,
    rampNs: 1e6,
    gapNs: 4e6,
  };

  test('is equal on all machines, whatever they have measured, and differs in each round', () => {
    assert.deepEqual(timetableOf(seats, 2, options), timetableOf(seats, 2, { ...options }));
    const other = timetableOf(seats, 2, { ...options, round: 3 });
    assert.notDeepEqual(timetableOf(seats, 2, options), other);
  });

  test('has every contender once per load and block, one after the other', () => {
    const slots = timetableOf(seats, 2, options);
    for (const [i, { atNs }] of slots.entries()) assert.equal(atNs, i * 12e6);
    const of = (/** @type {number} */ seat, /** @type {boolean} */ lead) =>
      slots.filter((slot) => slot.seat === seat && slot.lead === lead).length;
    assert.deepEqual([of(0, false), of(1, false), of(2, false)], [16, 4, 8]);
    assert.deepEqual([of(0, true), of(1, true), of(2, true)], [4, 4, 2]);
    assert.equal(new Set(slots.map((slot) => JSON.stringify({ ...slot, atNs: 0 }))).size, 38);
  });

  test('a machine runs the slots of its contenders at their times, after the barrier', () => {
    const slots = timetableOf(seats, 2, options);
    const steps = all(timed([0, 2], slots, options, seenOf({ isOut: (seat) => seat === 2 })));
    const barrier = steps.findIndex((step) => step.do === 'barrier');
    assert.ok(steps.slice(0, barrier).every((step) => step.do === 'open' || step.do === 'warm'));
    const runs = steps.flatMap((step) => (step.do === 'run' ? [step] : []));
    assert.equal(runs.length, 20);
    for (const { seat, slot = -1, load, start } of runs) {
      assert.deepEqual([seat, load], [slots[slot].seat, slots[slot].load]);
      const startNs = 1e9 + slots[slot].atNs;
      assert.deepEqual(start, { startNs, fromNs: startNs + 1e6, endNs: startNs + 8e6 });
    }
  });

  test('a slot in the past is skipped, so that a slow contender costs others no round', () => {
    const slots = timetableOf(seats, 2, options);
    const lastNs = slots[slots.length - 1].atNs;
    let nowNs = 1e9;
    const steps = [];
    for (const own of timed([0, 1, 2], slots, options, seenOf({ nowNs: () => nowNs }))) {
      steps.push(...own);
      // The first one waits for a reply until the last one is due.
      if (own[0].do === 'run') nowNs = 1e9 + lastNs;
    }
    const runs = steps.flatMap((step) => (step.do === 'run' ? [step.slot] : []));
    assert.deepEqual(runs, [0, slots.length - 1]);
    const skipped = steps.filter((step) => step.do === 'skip').length;
    assert.equal(skipped, slots.filter(({ lead }) => !lead).length - 1);
  });
});

test('a schedule imports no process and no clock', () => {
  const folder = path.join(ROOT, 'engine/schedule');
  for (const file of readdirSync(folder)) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const imports = [...text.matchAll(/^import .* from '(.*)';$/gm)].map(([, from]) => from);
    for (const from of imports) assert.doesNotMatch(from, /clock|process|child|seat|round|^node:/);
    assert.doesNotMatch(text, /performance\.now|Date\.now|hrtime|setTimeout/, file);
  }
});

describe('a warm-up', () => {
  const level = Array.from({ length: 40 }, (_, i) => 100 + (i % 3));

  test('lasts at least its operations and its time', () => {
    assert.equal(isWarm(level, 5000, 300e6), true);
    assert.equal(isWarm(level, 4999, 300e6), false);
    assert.equal(isWarm(level, 5000, 299e6), false);
  });

  test('continues while it gets faster, but not forever', () => {
    const falling = Array.from({ length: 40 }, (_, i) => 1000 - 20 * i);
    assert.equal(isWarm(falling, 1e6, 1e9), false);
    assert.equal(isWarm(falling, 1e6, 2e9), true);
    assert.equal(isWarm(falling, 1e6, 1e9, 1e9), true);
  });
});
