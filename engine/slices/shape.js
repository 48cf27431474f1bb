/**
 * How long slices and warm-ups are: the usual lengths where the budget allows them, shorter ones
 * for a run with many variants. Pure.
 */

import { BLOCKS_MIN, ROUNDS_MIN } from '../../stats/precision.js';
import { weightOf } from './entrants.js';
import { LEAD_BLOCKS } from './round.js';

export const SLICE_NS = 8e6;
/** A shorter one is a few operations of a slow storage only. */
const SLICE_NS_MIN = 2e6;
/** Between two slices: handing out the next one. */
const GAP_NS = 1e6;
/** Of a round: what slices may take, what warm-ups may take. */
const SLICES_SHARE = 0.6;
const WARM_SHARE = 0.2;
const WARM_NS_MIN = 0.2e9;
const WARM_NS_MAX = 2e9;

/**
 * @typedef {object} Shape
 * @property {number} sliceNs
 * @property {number} leadBlocks
 * @property {number} warmNsMax of a process
 */

/**
 * @param {readonly { every: number, lasts?: number,
 *   spec: { loads: readonly unknown[] } }[]} entrants
 * @param {{ budgetNs: number, lanes: number }} limits lanes: processes that warm up at a time
 * @returns {Shape}
 */
export function shapeOf(entrants, { budgetNs, lanes }) {
  const slots = entrants.reduce(
    (sum, one) => sum + one.spec.loads.filter((load) => load !== null).length * weightOf(one),
    0,
  );
  const roundNs = budgetNs / ROUNDS_MIN;
  const slicesNs = SLICES_SHARE * roundNs;
  const leadBlocks = slots * SLICE_NS * LEAD_BLOCKS > slicesNs / 4 ? 1 : LEAD_BLOCKS;
  const fitting = slicesNs / (slots * (BLOCKS_MIN + leadBlocks)) - GAP_NS;
  const sliceNs = Math.min(SLICE_NS, Math.max(SLICE_NS_MIN, fitting));
  const warmNs = (WARM_SHARE * roundNs * lanes) / entrants.length;
  return {
    ...{ sliceNs, leadBlocks },
    warmNsMax: Math.min(WARM_NS_MAX, Math.max(WARM_NS_MIN, warmNs)),
  };
}
