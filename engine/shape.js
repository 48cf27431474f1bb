/**
 * Lengths of segments and warm-ups of a round in blocks: the usual lengths if the budget allows
 * them, shorter ones for a run with many variants. Pure.
 */

import { BLOCKS_MIN, ROUNDS_MIN } from '../stats/precision.js';
import { segmentsPerBlock } from './roles.js';

export const SEGMENT_NS = 8e6;
/** A shorter segment would have only a few operations of a slow storage. */
const SEGMENT_NS_MIN = 2e6;
/**
 * Uncounted blocks. Contenders warm up side by side, which takes a third of the time but does not
 * show how fast each is alone: these blocks do, and determine the length of the segments.
 */
const LEAD_BLOCKS = 3;
/** Gap between two segments, for assigning the next one. */
const GAP_NS = 1e6;
/** Shares of a round's time for segments and for warm-ups. */
const SEGMENTS_SHARE = 0.6;
const WARM_SHARE = 0.2;
const WARM_NS_MIN = 0.2e9;
const WARM_NS_MAX = 2e9;

/**
 * @typedef {object} Shape
 * @property {number} segmentNs
 * @property {number} leadBlocks
 * @property {number} warmNsMax maximum per process
 */

/**
 * @param {readonly import('./roles.js').Contender[]} contenders
 * @param {{ budgetNs: number, concurrency: number }} limits concurrency: processes that warm up at
 *   a time
 * @returns {Shape}
 */
export function shapeOf(contenders, { budgetNs, concurrency }) {
  const slots = segmentsPerBlock(contenders);
  const roundNs = budgetNs / ROUNDS_MIN;
  const segmentsNs = SEGMENTS_SHARE * roundNs;
  const leadBlocks = slots * SEGMENT_NS * LEAD_BLOCKS > segmentsNs / 4 ? 1 : LEAD_BLOCKS;
  const fitting = segmentsNs / (slots * (BLOCKS_MIN + leadBlocks)) - GAP_NS;
  const segmentNs = Math.min(SEGMENT_NS, Math.max(SEGMENT_NS_MIN, fitting));
  const warmNs = (WARM_SHARE * roundNs * concurrency) / contenders.length;
  return {
    segmentNs,
    leadBlocks,
    warmNsMax: Math.min(WARM_NS_MAX, Math.max(WARM_NS_MIN, warmNs)),
  };
}
