/**
 * Many short segments: every contender in every block, one at a time, in an order drawn for each
 * block, so that compared figures are measured side by side. Processes last a round: they are
 * opened together and warmed up first; some uncounted blocks determine how long an operation takes.
 */

import { shuffled } from '../../lib/random.js';

/** Minimum windows per segment of a window. */
const WINDOWS_MIN = 4;
/** Minimum blocks of a round with a time limit. */
const BLOCKS_LEAST = 4;

/** @typedef {import('../contender.js').Amount} Amount */
/** @typedef {import('./index.js').Seen} Seen */
/** @typedef {import('./index.js').Step} Step */

/**
 * @typedef {object} BlocksPlan
 * @property {readonly import('./index.js').Scheduled[]} seats
 * @property {readonly { kind: string, inFlight: number | null, place: string }[]} loads loads;
 *   place: processors of client and servers
 * @property {() => number} random
 * @property {number} segmentNs
 * @property {number} leadBlocks
 * @property {(leadNs: number) => number} blocks number of blocks, given the duration of the last
 *   lead block
 * @property {readonly Amount[]} [amounts] amounts of a segment by load, if fixed
 * @property {() => boolean} [isOver] its time is over: no further block begins, but at least four
 *   run
 */

/**
 * @param {BlocksPlan} plan
 * @param {Seen} seen
 * @returns {Generator<Step[], void>}
 */
export function* blocks(plan, seen) {
  const { seats, loads, random, leadBlocks } = plan;
  const all = [...seats.keys()];
  // In a new order in every round, since the last one to warm up has the machine to itself.
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
  // One after the other: a workload may still measure something else, exclusively.
  for (const seat of all) yield [{ do: 'close', seat }];
}

/**
 * Load by load within a block, so that compared segments are adjacent.
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
      // A program takes longer than a segment: its loads are distributed over the blocks that run
      // in any case.
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
 * @param {number} costNs cost per operation in ns; NaN: unknown
 * @param {number} segmentNs
 * @returns {Amount} operations that take about that long
 */
export function amountOf({ kind, inFlight }, costNs, segmentNs) {
  const width = kind === 'sync' ? 1 : (inFlight ?? 1);
  const least = kind === 'sync' ? 1 : WINDOWS_MIN;
  const operations = Number.isNaN(costNs) ? 1 : Math.max(1, segmentNs / costNs);
  const windows = Math.max(least, Math.round(operations / width));
  return { operations: windows * width, durationNs: null, brief: true };
}

/**
 * If servers have to be moved between loads, loads with one placement are consecutive, and a block
 * begins with the placement of the end of the previous one, so that servers move once per block.
 * @param {readonly number[]} before placement of the previous block; empty: none
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
