/** Brief segments pay for the garbage that they make, wherever its collection fell. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chargeGarbage, chargesOf } from '../../../engine/garbage.js';
import { emptySegment } from '../../../engine/segment.js';

const SEGMENT_NS = 8e6;
const GAP_NS = 1e6;
const COLLECTION_NS = 2e6;
const OPERATIONS = 200;
const BYTES = [3000, 1000];
const FULL = 6 * OPERATIONS * (BYTES[0] + BYTES[1]);

/**
 * Two loads in turn; a collection, in the first load's segment, each time that the heap is full.
 * @param {number} blocks
 */
function twoLoads(blocks) {
  const pieces = [];
  const collections = [];
  let heap = 0;
  let nowNs = 1e9;
  for (let i = 0; i < 2 * blocks; i += 1) {
    const load = i % 2;
    const startNs = nowNs;
    const bytesBefore = heap;
    heap += BYTES[load] * OPERATIONS;
    let ns = SEGMENT_NS;
    if (heap >= FULL) {
      collections.push({ startNs: startNs + 1e6, ns: COLLECTION_NS });
      heap = 0;
      ns += COLLECTION_NS;
    }
    nowNs += ns;
    const span = { fromNs: startNs, ns, operations: OPERATIONS };
    const about = { load, startNs, endNs: nowNs, span, scheduled: OPERATIONS };
    pieces.push({ ...about, bytesBefore, bytesAfter: heap });
    nowNs += GAP_NS;
  }
  return { pieces, collections };
}

/**
 * @param {Parameters<typeof chargesOf>[0]} pieces
 * @param {Parameters<typeof chargesOf>[1]} collections
 * @returns {number[]} charges of the pieces, in order
 */
function sharesOf(pieces, collections) {
  const charges = chargesOf(pieces, collections);
  const next = new Map([...(charges ?? [])].map(([load, { shares }]) => [load, shares.values()]));
  return pieces.map(({ load }) => Number(next.get(load)?.next().value));
}

describe('garbage of brief segments', () => {
  it('is charged by the allocation of each load, not to the load in which it was collected', () => {
    const { pieces, collections } = twoLoads(60);
    assert.equal(collections.length, 10);
    const fellInto = new Set(
      collections.map(({ startNs }) => pieces.findIndex((one) => one.endNs > startNs) % 2),
    );
    assert.equal(fellInto.size, 1);
    const shares = sharesOf(pieces, collections);
    const paid = pieces.map(({ span }, i) => span.ns + shares[i] - SEGMENT_NS);
    const perBlock = (10 * COLLECTION_NS) / 60;
    for (const [i, ns] of paid.entries()) {
      assert.ok(Math.abs(ns - (i % 2 === 0 ? 3 / 4 : 1 / 4) * perBlock) < 1, `${i}: ${ns}`);
    }
    assert.ok(Math.abs(paid.reduce((sum, ns) => sum + ns, 0) - 10 * COLLECTION_NS) < 100);
  });

  it('includes collections between segments, less the share allocated in between', () => {
    const { pieces, collections } = twoLoads(60);
    const between = pieces.map(({ endNs }, i) => ({ startNs: endNs + 1, ns: i === 7 ? 5e5 : 0 }));
    const all = [...collections, ...between];
    const sum = sharesOf(pieces, all).reduce((ns, one) => ns + one, 0);
    assert.ok(Math.abs(sum - 5e5) < 100, String(sum));
    // Bytes of what runs between segments are charged to none of them.
    let shift = 0;
    const leaking = pieces.map((one) => {
      shift += OPERATIONS * (BYTES[0] + BYTES[1]);
      return { ...one, bytesBefore: one.bytesBefore + shift, bytesAfter: one.bytesAfter + shift };
    });
    const paid = sharesOf(leaking, collections).reduce((ns, one) => ns + one, 0);
    assert.ok(paid < -0.6 * 10 * COLLECTION_NS, String(paid));
  });

  it('of the untimed part is not charged', () => {
    const { pieces, collections } = twoLoads(60);
    const halves = pieces.map((one) => ({
      ...one,
      span: { fromNs: one.startNs + 4e6, ns: one.endNs - one.startNs - 4e6, operations: 100 },
    }));
    const paid = sharesOf(halves, collections).reduce((ns, one) => ns + one, 0);
    assert.ok(Math.abs(paid - 5 * COLLECTION_NS) < 100, String(paid));
  });

  it('before the first segment is not charged', () => {
    const { pieces, collections } = twoLoads(60);
    const before = { startNs: pieces[0].startNs - 5e6, ns: 5e6 };
    const shares = sharesOf(pieces, [before, ...collections]);
    assert.deepEqual(shares, sharesOf(pieces, collections));
  });

  it('collected while the heap was read makes the bytes of a load unknown', () => {
    const at = (/** @type {number} */ startNs, /** @type {number[]} */ [before, after]) => ({
      load: 0,
      startNs,
      endNs: startNs + 10,
      span: { fromNs: startNs, ns: 10, operations: 1 },
      scheduled: 1,
      bytesBefore: before,
      bytesAfter: after,
    });
    const pieces = [at(0, [0, 100]), at(20, [100, 0])];
    assert.deepEqual(sharesOf(pieces, [{ startNs: 15, ns: 4 }]), [2, 2]);
  });

  it('counts what each load has collected and allocated', () => {
    const { pieces, collections } = twoLoads(60);
    const charges = chargesOf(pieces, collections);
    const [first, second] = [0, 1].map((load) => charges?.get(load));
    assert.deepEqual([first?.count, second?.count].sort(), [0, 10]);
    assert.equal(first?.bytes, 60 * OPERATIONS * BYTES[0]);
    assert.equal(second?.bytes, 60 * OPERATIONS * BYTES[1]);
    assert.ok(Math.abs(Number(first?.ns) - 7.5 * COLLECTION_NS) < 1);
    assert.ok(Math.abs(Number(second?.ns) - 2.5 * COLLECTION_NS) < 1);
  });

  it('is not charged if the bytes of a load are unknown: all its segments were collected', () => {
    const { pieces } = twoLoads(4);
    const ofLoad = (/** @type {number} */ load) =>
      pieces
        .filter((one) => one.load === load)
        .map(({ startNs }) => ({ startNs: startNs + 1, ns: 1000 }));
    assert.equal(chargesOf(pieces, ofLoad(1)), null);
    assert.notEqual(chargesOf(pieces, ofLoad(1).slice(1)), null);
    assert.equal(chargesOf([], []), null);
  });

  it('is not charged if the runtime reports no collections; no collections cost nothing', () => {
    const { pieces, collections } = twoLoads(60);
    assert.equal(chargesOf(pieces, null), null);
    assert.equal(chargesOf(pieces, []), null, 'the heap has shrunk: it was collected unseen');
    assert.notEqual(chargesOf(pieces, collections), null);
    const first = pieces.findIndex(({ bytesAfter, bytesBefore }) => bytesAfter < bytesBefore);
    const charges = chargesOf(pieces.slice(0, first), []);
    assert.deepEqual([charges?.get(0)?.count, charges?.get(0)?.ns], [0, 0]);
  });

  it('is added to the spans, of processes side by side its mean; the last segment has the sums', () => {
    const segments = [100, 200].map((spanNs) => ({
      ...emptySegment(),
      figures: { spanNs, spanOperations: 1, medianNs: 1, valid: true, lateNs: 0, latency: null },
    }));
    const used = { count: 1, ns: 10, bytes: 100 };
    const charge = (/** @type {(number[] | null | undefined)[]} */ ...all) =>
      chargeGarbage(
        segments,
        all.map((shares) => shares && { shares, ...used }),
      );
    assert.equal(charge([10, -20], [30, 0]), true);
    const { gcCount, gcNs, allocatedBytes } = segments[1].client ?? {};
    assert.deepEqual([gcCount, gcNs, allocatedBytes], [2, 20, 200]);
    assert.equal(charge([5]), false, 'of an incomplete list');
    assert.equal(charge([5, 5], undefined), false, 'a process of several has none');
    assert.equal(charge(null), false);
    assert.deepEqual(
      segments.map(({ figures }) => figures.spanNs),
      [120, 190],
    );
  });
});
