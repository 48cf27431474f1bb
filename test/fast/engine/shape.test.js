/** Segments, lead blocks and warm-ups of a round: usual lengths, and shorter ones of many loads. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shapeOf } from '../../../engine/shape.js';

/** @param {number} contenders @param {number} loads @param {number} budgetNs */
function shape(contenders, loads, budgetNs) {
  const one = { every: 1, lasts: 1, spec: { tasks: Array(loads).fill({}) } };
  const all = /** @type {any} */ (Array(contenders).fill(one));
  return shapeOf(all, { budgetNs, concurrency: 2 });
}

test('a race has segments of 8 ms after three lead blocks', () => {
  const usual = { segmentNs: 8e6, leadBlocks: 3, warmNsMax: 1.6e9 };
  assert.deepEqual(shape(5, 2, 120e9), usual);
});

test('many loads have one lead block and shorter segments, not below 2 ms', () => {
  // 60 % of 20 s per round, over 50 loads of 4 contenders in 11 blocks, less a gap of 1 ms.
  const many = shape(4, 50, 120e9);
  assert.equal(many.leadBlocks, 1);
  assert.equal(Math.round(many.segmentNs), Math.round(12e9 / (200 * 11) - 1e6));
  assert.deepEqual(shape(20, 500, 60e9), { segmentNs: 2e6, leadBlocks: 1, warmNsMax: 0.2e9 });
});
