/**
 * One record, one merge: any split of the same operations, over blocks, connections, processes or
 * machines, in any order and grouping, merges to the record of all of them. A check for each field.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { emptySegment, merge, parallel, spanOfValid } from '../../../engine/segment.js';
import { OK, OUTCOMES } from '../../../lib/outcome.js';
import { createRandom, drawBelow, shuffled } from '../../../lib/random.js';
import { encode } from '../../../measure/hdr.js';
import { Histogram } from '../../../measure/histogram.js';

/** @typedef {import('../../../engine/segment.js').Segment} Segment */
/** @typedef {import('../../../engine/segment.js').Interval} Interval */

const SPLITS = 200;
const OPERATIONS = 60;
/** Step of the made-up operations; the first ten failures are the samples. */
const STEP_NS = 10;
const BASE = 2 ** 53 - 2 ** 20;

/**
 * An operation that no other is like in any field.
 * @typedef {ReturnType<typeof operationAt>} Operation
 * @param {number} index
 */
function operationAt(index) {
  const random = createRandom(index, 0x5e67);
  const draw = (/** @type {number} */ below) => drawBelow(random, below);
  const outcome = index % 3 === 0 ? 1 + draw(OUTCOMES.length - 1) : OK;
  return {
    index,
    outcome,
    latencyNs: draw(2 ** (4 + draw(40))),
    // No two of them touch where the step after them is left out.
    fromNs: BASE + index * STEP_NS,
    toNs: BASE + (index + (index % 7 === 6 ? 0.5 : 1)) * STEP_NS,
    areaNs: draw(1e6),
    bytes: draw(1e9),
    garbageNs: 1000 + index * 7 + draw(7),
    switches: draw(100),
  };
}

const ALL = Array.from({ length: OPERATIONS }, (_, index) => operationAt(index));

/**
 * The record of some operations, counted by themselves: nothing here merges.
 * @param {readonly Operation[]} operations
 * @returns {Segment}
 */
function segmentOf(operations) {
  const ordered = operations.toSorted((a, b) => a.index - b.index);
  const sum = (/** @type {(one: Operation) => number} */ of) =>
    ordered.reduce((all, one) => all + of(one), 0);
  const most = (/** @type {(one: Operation) => number} */ of) => Math.max(...ordered.map(of));
  const list = (/** @type {number} */ mod) => ordered.filter(({ index }) => index % mod === 0);
  const some = list(5).length > 0;
  const wall = intervalsOf(ordered);
  return {
    state: ordered.some(({ index }) => index === 40) ? 'failed' : 'measured',
    failure: ordered.some(({ index }) => index === 40)
      ? { code: 'E_X', message: 'the 41st' }
      : null,
    refused: ordered.some(({ index }) => index === 41),
    scheduled: ordered.length,
    outcomes: OUTCOMES.map((_, code) => ordered.filter(({ outcome }) => outcome === code).length),
    samples: ordered
      .filter(({ outcome }) => outcome !== OK)
      .slice(0, 10)
      .map(({ index }) => ({ outcome: 'miss', operation: index, code: null, message: '' })),
    wall,
    inFlightAreaNs: sum(({ areaNs }) => areaNs),
    steady: wall,
    steadyAreaNs: sum(({ areaNs }) => areaNs),
    histograms: {
      latency: histogramOf(ordered.filter(({ outcome }) => outcome === OK)),
      'kind even': histogramOf(list(2)),
    },
    open: some
      ? { offered: list(5).length, lateNsMax: Math.max(...list(5).map((one) => one.areaNs)) }
      : null,
    client: { userNs: sum((one) => one.latencyNs), voluntarySwitches: sum((one) => one.switches) },
    collections: ordered
      .toSorted((a, b) => b.garbageNs - a.garbageNs)
      .slice(0, 12)
      .map(({ index, garbageNs: ns }) => ({ startNs: index, ns }))
      .sort((a, b) => a.startNs - b.startNs),
    servers: {
      '': { cpu: wall, rssBytes: most(({ bytes }) => bytes), threads: { '1/2': wall } },
      ...(some && { proxy: { cpu: intervalsOf(list(5)), rssBytes: null, threads: {} } }),
    },
    occupation: {
      wallNs: sum((one) => one.areaNs),
      runNs: sum((one) => one.switches),
      waitNs: sum((one) => one.index),
      server: [sum((one) => one.areaNs), ordered.length],
    },
    conditions: { stealShare: null, canaryNs: most(({ areaNs }) => areaNs) },
    counters: {
      compared: { replies: ordered.length, bytes: sum(({ bytes }) => bytes) },
      redirects: some ? { MOVED: list(5).length } : null,
    },
    pending: { bytes: sum(({ bytes }) => bytes), operations: ordered.length },
    outages: ordered.map(({ index }) => ({
      startNs: index * 10,
      ns: 3,
      failed: 1,
      reason: 'gone',
    })),
    metrics: {
      rows: { rule: 'sum', value: ordered.length },
      oldest: { rule: 'min', value: Math.min(...ordered.map(({ bytes }) => bytes)) },
      newest: { rule: 'max', value: most(({ bytes }) => bytes) },
      way: { rule: 'one', value: 'direct' },
      seen: { rule: 'list', value: ordered.map(({ index }) => index) },
      unknown: { rule: 'sum', value: null },
    },
    series: ordered.map(({ index }) => /** @type {any} */ ({ keys: index })),
    timeline: {
      windowNs: 100,
      operations: Array.from(
        { length: Math.floor(ordered[ordered.length - 1].index / 4) + 1 },
        (_, i) => ordered.filter(({ index }) => Math.floor(index / 4) === i).length,
      ),
    },
    process: {
      createdNs: most(({ areaNs }) => areaNs),
      workNs: most(({ bytes }) => bytes),
      rssBytesMax: sum(({ bytes }) => bytes),
    },
    warmup: {
      operations: sum(({ switches }) => switches),
      durationNs: most(({ areaNs }) => areaNs),
      curve: [1, 2],
      windowNs: 5,
    },
    agents: ordered.map(({ index }) => /** @type {any} */ ({ name: String(index) })),
    figures: null,
  };
}

/** @param {readonly Operation[]} own in their order @returns {Interval[]} */
function intervalsOf(own) {
  /** @type {Interval[]} */
  const joined = [];
  for (const { fromNs, toNs } of own) {
    const last = joined.at(-1);
    if (last?.[1] === fromNs) last[1] = toNs;
    else joined.push([fromNs, toNs]);
  }
  return joined;
}

/** @param {readonly Operation[]} own */
function histogramOf(own) {
  if (own.length === 0) return null;
  const histogram = new Histogram();
  for (const { latencyNs } of own) histogram.record(latencyNs);
  return histogram.toMessage();
}

/**
 * @param {Segment[]} parts
 * @param {() => number} random
 * @returns {Segment} merged in groups drawn by chance, and these again
 */
function mergeSomehow(parts, random) {
  let left = shuffled(parts, random);
  while (left.length > 1) {
    const size = 1 + drawBelow(random, left.length);
    const one = /** @type {Segment} */ (merge(left.slice(0, size)));
    left = shuffled([one, ...left.slice(size)], random);
  }
  return left[0];
}

/** Lists whose order is that of the parts. @param {any} value */
function inOrder(value) {
  return Array.isArray(value) ? value.toSorted((a, b) => keyOf(a) - keyOf(b)) : value;
}

/** @param {any} one */
function keyOf(one) {
  return typeof one === 'number' ? one : Number(one.keys ?? one.name);
}

/** @type {Partial<Record<keyof Segment, (value: any) => any>>} */
const COMPARED = {
  series: inOrder,
  agents: inOrder,
  metrics: (metrics) => ({
    ...metrics,
    seen: { rule: 'list', value: inOrder(metrics?.seen.value) },
  }),
};

/**
 * Fields that do not depend on how the operations are split.
 * @type {Partial<Record<keyof Segment, () => unknown>>}
 */
const EXAMPLES = {
  async histograms() {
    const [first, ...more] = ALL.map((one) => segmentOf([{ ...one, outcome: OK }]));
    const latency = merge([...more, first])?.histograms?.['latency'];
    assert.ok(latency);
    const whole = new Histogram();
    for (const { latencyNs } of ALL) whole.record(latencyNs);
    assert.equal(await encode(Histogram.fromSparse(latency)), await encode(whole), 'each byte');
  },
  wall() {
    const of = (/** @type {Interval[]} */ wall) => ({ ...emptySegment(), wall });
    const beside = merge([of([[100, 1100]]), of([[150, 2100]])]);
    assert.deepEqual(beside?.wall, [[100, 2100]], 'side by side: from first to last');
    const parts = /** @type {Interval[]} */ ([
      [100, 1100],
      [2000, 2500],
    ]);
    assert.deepEqual(merge([of([parts[1]]), of([parts[0]])])?.wall, parts, 'one by one: the sum');
  },
  servers() {
    const of = (/** @type {Interval} */ cpu) => ({
      ...emptySegment(),
      servers: { '': { cpu: [cpu], rssBytes: 7, threads: {} } },
    });
    const beside = merge([of([50, 90]), of([55, 120])]);
    assert.deepEqual(beside?.servers?.[''].cpu, [[50, 120]], 'the same counter is counted once');
  },
  occupation() {
    const of = (/** @type {number | null} */ runNs) => ({
      ...emptySegment(),
      occupation: { wallNs: 10, runNs, waitNs: 1, server: [5, 1] },
    });
    const expected = { wallNs: 20, runNs: null, waitNs: 2, server: [10, 2] };
    assert.deepEqual(merge([of(null), of(7)])?.occupation, expected, 'one of them is not known');
  },
  timeline() {
    const of = (/** @type {number} */ windowNs, /** @type {number[]} */ operations) => ({
      ...emptySegment(),
      timeline: { windowNs, operations },
    });
    const expected = { windowNs: 200, operations: [13, 23] };
    assert.deepEqual(merge([of(100, [1, 2, 3]), of(200, [10, 20])])?.timeline, expected);
  },
};

describe('merged records equal that of all operations, however they were split', () => {
  const random = createRandom(11);
  const merged = Array.from({ length: SPLITS }, () => {
    const count = 2 + drawBelow(random, 6);
    const parts = Array.from({ length: count }, () => /** @type {Operation[]} */ ([]));
    for (const one of ALL) parts[drawBelow(random, count)].push(one);
    const segments = parts.filter((part) => part.length > 0).map(segmentOf);
    // Nothing was done by some: an identity.
    return mergeSomehow([...segments, emptySegment()], random);
  });
  const complete = segmentOf(ALL);
  // From the record, so that a rule that is missing fails the check of its field alone.
  for (const field of /** @type {(keyof Segment)[]} */ (Object.keys(emptySegment()))) {
    test(`${field}, ${SPLITS} times`, async () => {
      const compared = COMPARED[field] ?? ((/** @type {any} */ value) => value);
      for (const one of merged) assert.deepEqual(compared(one[field]), compared(complete[field]));
      await EXAMPLES[field]?.();
    });
  }
});

test('no segments have no record', () => {
  assert.equal(merge([]), null);
});

test('throughputs of parallel segments are added; an invalid one makes the sum invalid', () => {
  const of = (/** @type {Partial<import('../../../engine/segment.js').Figures>} */ fields) => ({
    ...emptySegment(),
    figures: {
      spanNs: 1000,
      spanOperations: 10,
      medianNs: 100,
      valid: true,
      lateNs: 0,
      latency: null,
      ...fields,
    },
  });
  const { spanNs, spanOperations, medianNs, valid, lateNs } = parallel([
    of({ spanOperations: 20, lateNs: 3 }),
    of({ spanNs: 500, medianNs: 200 }),
  ]);
  assert.equal(spanOperations / spanNs, 20 / 1000 + 10 / 500);
  assert.deepEqual([medianNs, valid, lateNs], [150, true, 3]);
  assert.equal(parallel([of({}), of({ valid: false })]).valid, false);
  const segments = [of({}), null, of({ valid: false }), of({ spanNs: 500 })];
  assert.deepEqual(spanOfValid(segments), { spanNs: 1500, operations: 20 });
});
