/**
 * Many short segments: every contender in every block, one at a time, in an order drawn anew for
 * each block, so that what is compared is measured side by side. Processes last a round: they are
 * opened together and warmed up first; some blocks that are not counted show how long an operation
 * takes.
 */

import { shuffled } from '../../lib/random.js';

/** A segment of a window has this many windows at least. */
const WINDOWS_MIN = 4;
/** Of a round whose time is limited. */
const BLOCKS_LEAST = 4;

/** @typedef {import('../contender.js').Amount} Amount */
/** @typedef {import('./index.js').Seen} Seen */
/** @typedef {import('./index.js').Step} Step */

/**
 * @typedef {object} BlocksPlan
 * @property {readonly import('./index.js').Scheduled[]} seats
 * @property {readonly { kind: string, inFlight: number | null, place: string }[]} loads place:
 *   where client and servers run
 * @property {() => number} random
 * @property {number} segmentNs
 * @property {number} leadBlocks
 * @property {(leadNs: number) => number} blocks how many, by what the last lead block took
 * @property {readonly Amount[]} [amounts] of a segment by load, where they are fixed
 * @property {() => boolean} [isOver] its time is: no further block begins, but four run in any case
 */

/**
 * @param {BlocksPlan} plan
 * @param {Seen} seen
 * @returns {Generator<Step[], void>}
 */
export function* blocks(plan, seen) {
  const { seats, loads, random, leadBlocks } = plan;
  const all = [...seats.keys()];
  // In a new order in every round: the last ones to warm up have the machine to themselves.
  const start = shuffled(all, random);
  const loadsOf = (/** @type {number} */ seat) =>
    [...loads.keys()].filter((load) => seats[seat].spec.tasks[load] !== null);
  yield start.map((seat) => ({ do: 'open', seat }));
  yield start.map((seat) => ({ do: 'warm', seat, loads: loadsOf(seat) }));
  yield all.map((seat) => ({ do: 'pin', seat }));
  /** @type {number[]} */
  let order = [];
  let leadNs = 0;
  for (let block = 0; block < leadBlocks; block += 1) {
    const fromNs = seen.nowNs();
    order = orderOfLoads(order, loads, random);
    yield* oneBlock(plan, seen, { block, of: 0, lead: true, order });
    leadNs = seen.nowNs() - fromNs;
  }
  const count = plan.blocks(leadNs);
  for (let block = 0; block < count; block += 1) {
    if (block >= BLOCKS_LEAST && plan.isOver?.()) break;
    order = orderOfLoads(order, loads, random);
    yield* oneBlock(plan, seen, { block, of: count, lead: false, order });
  }
  // One after the other: a workload may still measure something beside, alone.
  for (const seat of all) yield [{ do: 'close', seat }];
}

/**
 * Load by load within a block, so that the segments that are compared are next to each other.
 * @param {BlocksPlan} plan
 * @param {Seen} seen
 * @param {{ block: number, of: number, lead: boolean, order: readonly number[] }} at
 * @returns {Generator<Step[], void>}
 */
function* oneBlock(plan, seen, { block, of, lead, order }) {
  const { seats, loads, random, segmentNs, amounts } = plan;
  for (const load of order) {
    for (const seat of shuffled([...seats.keys()], random)) {
      if (seen.isOut(seat)) continue;
      const { every, spec } = seats[seat];
      const has = spec.tasks[load] !== null && !seen.isRefused(seat, load);
      // A program takes longer than a segment: its loads are spread over the blocks, each of them
      // within those that run in any case.
      const least = Math.min(BLOCKS_LEAST, of);
      const spread = block < least ? Math.min(least, every) : every;
      const turn =
        spec.opener === 'program'
          ? !lead && (block + load) % spread === 0
          : lead || block % every === 0;
      if (has && turn) {
        const amount = amounts?.[load] ?? amountOf(loads[load], seen.costNs(seat, load), segmentNs);
        yield [{ do: 'run', seat, load, amount, block, of, lead }];
      } else if (!lead) {
        yield [{ do: 'skip', seat, load }];
      }
    }
  }
}

/**
 * @param {{ kind: string, inFlight: number | null }} load
 * @param {number} costNs per operation; NaN: not known
 * @param {number} segmentNs
 * @returns {Amount} that takes about that long
 */
export function amountOf({ kind, inFlight }, costNs, segmentNs) {
  const width = kind === 'sync' ? 1 : (inFlight ?? 1);
  const least = kind === 'sync' ? 1 : WINDOWS_MIN;
  const operations = Number.isNaN(costNs) ? 1 : Math.max(1, segmentNs / costNs);
  const windows = Math.max(least, Math.round(operations / width));
  return { operations: windows * width, durationNs: null, brief: true };
}

/**
 * Where servers have to be moved between loads, those of one place follow each other, and a block
 * begins at the place where the one before ended: they are moved once per block.
 * @param {readonly number[]} before of the block before; empty: there is none
 * @param {readonly { place: string }[]} loads
 * @param {() => number} random
 * @returns {number[]}
 */
export function orderOfLoads(before, loads, random) {
  const order = shuffled([...loads.keys()], random);
  const placeOf = (/** @type {number} */ load) => loads[load].place;
  const places = [...new Set((before.length > 0 ? before.toReversed() : order).map(placeOf))];
  if (places.length < 2) return order;
  return places.flatMap((place) => order.filter((load) => placeOf(load) === place));
}
