/**
 * How long segments and warm-ups of a round in blocks are: the usual lengths where the budget
 * allows them, shorter ones for a run with many variants. Pure.
 */

import { BLOCKS_MIN, ROUNDS_MIN } from '../stats/precision.js';
import { segmentsPerBlock } from './roles.js';

export const SEGMENT_NS = 8e6;
/** A shorter one is a few operations of a slow storage only. */
const SEGMENT_NS_MIN = 2e6;
/**
 * Blocks that are not counted. Contenders warm up side by side, which takes a third of the time but
 * says little of how fast each is alone: these blocks do, and set the length of the segments.
 */
const LEAD_BLOCKS = 3;
/** Between two segments: handing out the next one. */
const GAP_NS = 1e6;
/** Of a round: what segments may take, what warm-ups may take. */
const SEGMENTS_SHARE = 0.6;
const WARM_SHARE = 0.2;
const WARM_NS_MIN = 0.2e9;
const WARM_NS_MAX = 2e9;

/**
 * @typedef {object} Shape
 * @property {number} segmentNs
 * @property {number} leadBlocks
 * @property {number} warmNsMax of a process
 */

/**
 * @param {readonly import('./roles.js').Contender[]} contenders
 * @param {{ budgetNs: number, lanes: number }} limits lanes: processes that warm up at a time
 * @returns {Shape}
 */
export function shapeOf(contenders, { budgetNs, lanes }) {
  const slots = segmentsPerBlock(contenders);
  const roundNs = budgetNs / ROUNDS_MIN;
  const segmentsNs = SEGMENTS_SHARE * roundNs;
  const leadBlocks = slots * SEGMENT_NS * LEAD_BLOCKS > segmentsNs / 4 ? 1 : LEAD_BLOCKS;
  const fitting = segmentsNs / (slots * (BLOCKS_MIN + leadBlocks)) - GAP_NS;
  const segmentNs = Math.min(SEGMENT_NS, Math.max(SEGMENT_NS_MIN, fitting));
  const warmNs = (WARM_SHARE * roundNs * lanes) / contenders.length;
  return {
    segmentNs,
    leadBlocks,
    warmNsMax: Math.min(WARM_NS_MAX, Math.max(WARM_NS_MIN, warmNs)),
  };
}
