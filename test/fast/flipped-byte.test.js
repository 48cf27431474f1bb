/**
 * One wrong byte in every reply is found, wherever it is; in some of them, as often as the share
 * that is compared in full lets expect, at whatever distances it comes. Through the loop that
 * measures.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDataset, TAG_LENGTH } from '../../lib/dataset.js';
import { MISMATCH, OK } from '../../lib/outcome.js';
import { mix32 } from '../../lib/random.js';
import { FullComparisons } from '../../load/full-comparisons.js';
import { runLoad, WHOLE_EVERY } from '../../load/load.js';
import { ReplyBatch } from '../../load/reply-batch.js';
import { createFakeClock } from '../../measure/clock.js';
import { loadWorkload } from '../../workloads/index.js';

/** @param {string} text @param {number} at */
function flip(text, at) {
  const flipped = String.fromCharCode(text.charCodeAt(at) ^ 1);
  return text.slice(0, at) + flipped + text.slice(at + 1);
}

/** @type {WeakMap<import('../../lib/types.js').Dataset, string[]>} */
const valuesOf = new WeakMap();

/**
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {(text: string) => string} damage
 */
function handleOf(dataset, damage) {
  const values =
    valuesOf.get(dataset) ?? Array.from({ length: dataset.rows }, (_, i) => dataset.value(i + 1));
  valuesOf.set(dataset, values);
  const get = (/** @type {number} */ id) => damage(values[id - 1]);
  return {
    get: async (/** @type {number} */ id) => get(id),
    getNow: get,
    set: async () => 'OK',
    mget: async (/** @type {number[]} */ ids) => ids.map(get),
    close: async () => {},
  };
}

/**
 * @param {{ name: string, options: Record<string, unknown> }} what
 * @param {import('../../lib/types.js').Dataset} dataset
 * @param {(text: string) => string} damage
 * @param {number} operations
 * @param {{ inFlight?: number, calls?: 'promise' | 'sync', seed?: number }} [how]
 */
async function measure({ name, options }, dataset, damage, operations, how = {}) {
  const { inFlight = 4, calls = 'promise', seed = 1 } = how;
  const { prepare } = await loadWorkload(name);
  const context = {
    dataset,
    seed: 3,
    ops: operations,
    options,
    phase: /** @type {const} */ ('measure'),
  };
  const { getNow, ...handle } = handleOf(dataset, damage);
  const variant = calls === 'sync' ? { ...handle, get: getNow } : handle;
  const bound = prepare(context)(/** @type {any} */ (variant), calls);
  const { recorder } = await runLoad({
    ...bound,
    calls,
    kind: 'window',
    inFlight,
    operations,
    durationNs: Number.POSITIVE_INFINITY,
    stallNs: 1e15,
    clock: createFakeClock(),
    series: undefined,
    comparisons: new FullComparisons(seed),
  });
  return { outcomes: recorder.outcomes, compared: bound.compared };
}

/** Replies of 1 KB that are verified together. */
const BATCH = new ReplyBatch(1024).limit;

/**
 * @param {number} seed
 * @param {number} replies
 * @param {number} every
 * @param {number} batch replies that are drawn together
 * @returns {boolean[]} whether each reply is compared in full, without a mismatch
 */
function drawn(seed, replies, every, batch) {
  const comparisons = new FullComparisons(seed);
  const draws = Array.from({ length: Math.ceil(replies / batch) }, () => comparisons.next(every));
  return Array.from({ length: replies }, (_, i) => draws[Math.floor(i / batch)]);
}

const WORKLOADS = [
  { name: 'get', options: {} },
  { name: 'mix', options: { mix: 'get:99,set:1' } },
  { name: 'mget', options: { mget: { counts: [1], cycles: 14, lead: 1 } } },
  { name: 'mget-single', options: { mget: { counts: [3], cycles: 30, lead: 1 } } },
  { name: 'ycsb', options: { parameters: { core: 'c' } } },
  { name: 'ycsb', options: { parameters: { core: 'e' } } },
];

describe('a flipped byte in every reply', () => {
  for (const what of WORKLOADS) {
    const label = `${what.name} ${JSON.stringify(what.options)}`;
    test(`is detected at any position: ${label}`, async () => {
      for (const valueSize of [8, 9, 41, 333]) {
        const dataset = createDataset({ rows: 300, valueSize, seed: 7 });
        // Writes and warm-up fetches may be among them.
        const operations = what.name === 'mix' || what.name === 'ycsb' ? 40 : WHOLE_EVERY.others;
        for (let at = 0; at < valueSize; at += 1) {
          const { outcomes } = await measure(what, dataset, (text) => flip(text, at), operations);
          assert.ok(outcomes[MISMATCH] > 0, `byte ${at} of ${valueSize}`);
        }
        const right = await measure(what, dataset, (text) => text, operations);
        assert.equal(right.outcomes[OK], operations);
        assert.ok((right.compared?.replies ?? 0) >= WHOLE_EVERY.others);
        assert.ok((right.compared?.bytes ?? 0) >= valueSize);
        // Values that are a tag alone are always compared in full, and counted so.
        if (valueSize === TAG_LENGTH) assert.equal(right.compared?.whole, right.compared?.replies);
      }
    });
  }

  test('is detected in all replies after the first detection', async () => {
    const dataset = createDataset({ rows: 300, valueSize: 1024, seed: 7 });
    const what = { name: 'get', options: {} };
    for (const at of [8, 500, 1023]) {
      for (const every of [2, 7, 1000]) {
        let calls = 0;
        const damage = (/** @type {string} */ text) =>
          calls++ % every === every - 1 ? flip(text, at) : text;
        const { outcomes, compared } = await measure(what, dataset, damage, 20_000);
        const isInFull = drawn(1, 20_000, WHOLE_EVERY.small, BATCH);
        const first = isInFull.findIndex((inFull, i) => inFull && i % every === every - 1);
        const left = 20_000 - first;
        assert.equal(outcomes[MISMATCH], Math.ceil(left / every), `byte ${at}, each ${every}th`);
        const before = isInFull.slice(0, first).filter(Boolean).length;
        assert.equal(compared?.whole, before + left);
      }
    }
  });

  test('is searched in different replies by each process', () => {
    const [one, other] = [1, 3].map((seed) => {
      const comparisons = new FullComparisons(seed);
      return Array.from({ length: 100 }, () => comparisons.next(WHOLE_EVERY.small));
    });
    assert.notDeepEqual(one, other);
  });

  const RUNS = 60;
  for (const [valueSize, calls, every, operations] of /** @type {const} */ ([
    [8, 'promise', 1, 3000],
    [1024, 'promise', WHOLE_EVERY.small, 6000],
    [1024, 'sync', WHOLE_EVERY.others, 30_000],
  ])) {
    for (const distance of [300, 999, 1000, 3000]) {
      test(`${calls}, ${valueSize} B, one in ${distance} replies: found as the share says`, async () => {
        const dataset = createDataset({ rows: 300, valueSize, seed: 7 });
        const flips = operations / distance;
        const batch = calls === 'sync' ? 1 : BATCH;
        // After the first batch, which is always compared in full.
        const step = Math.floor((distance - BATCH) / RUNS);
        const expected = (/** @type {number} */ seed) =>
          drawn(seed, operations, every, batch).filter(Boolean).length;
        let detected = 0;
        for (let run = 0; run < RUNS; run += 1) {
          let replies = 0;
          const damage = (/** @type {string} */ text) => {
            replies += 1;
            return replies % distance === BATCH + 1 + step * run
              ? flip(text, (replies * 7) % valueSize)
              : text;
          };
          const what = { name: 'get', options: {} };
          const seed = mix32(run, 0);
          const how = { inFlight: 1, calls, seed };
          const { outcomes, compared } = await measure(what, dataset, damage, operations, how);
          if (outcomes[MISMATCH] > 0) detected += 1;
          else assert.equal(compared?.whole, expected(seed));
        }
        const share = 1 - (1 - 1 / every) ** Math.floor(flips);
        const deviation = Math.sqrt(RUNS * share * (1 - share));
        assert.ok(Math.abs(detected - RUNS * share) <= 3 * deviation, `${detected} of ${RUNS}`);
      });
    }
  }
});
