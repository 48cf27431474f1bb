/**
 * Segments on a common clock, without messages while it runs: several load machines run the same
 * segment at the same time, because each draws the same order from the seed, and segment s begins s
 * · (length + gap) after the start of the round.
 */

import { createRandom, shuffled } from '../../lib/random.js';
import { orderOfLoads } from './blocks.js';

/** A different stream than that of rounds whose segments are assigned one by one. */
const ORDER_STREAM = 0x74740000;

/** @typedef {import('./index.js').Seen} Seen */
/** @typedef {import('./index.js').Step} Step */

/**
 * @typedef {object} Slot
 * @property {number} seat
 * @property {number} load
 * @property {number} block
 * @property {boolean} lead not counted
 * @property {number} atNs start, relative to the start of the round
 *
 * @typedef {object} TimetableOptions
 * @property {number} round
 * @property {number} blocks
 * @property {number} leadBlocks
 * @property {number} orderSeed
 * @property {number} segmentNs
 * @property {number} rampNs start of a segment, until all machines have begun it
 * @property {number} gapNs time until the next segment, in which outstanding replies arrive
 */

/**
 * @param {readonly import('./index.js').Scheduled[]} seats
 * @param {number} loads
 * @param {TimetableOptions} options
 * @returns {Slot[]} in order of time
 */
export function timetableOf(seats, loads, options) {
  const { round, blocks, leadBlocks, orderSeed, segmentNs, gapNs } = options;
  const random = createRandom(orderSeed, ORDER_STREAM + round);
  const alike = Array.from({ length: loads }, () => ({ place: '' }));
  /** @type {Slot[]} */
  const slots = [];
  for (let at = -leadBlocks; at < blocks; at += 1) {
    const lead = at < 0;
    for (const load of orderOfLoads([], alike, random)) {
      for (const seat of shuffled([...seats.keys()], random)) {
        const { every, spec } = seats[seat];
        if (spec.tasks[load] === null || (!lead && at % every !== 0)) continue;
        const atNs = slots.length * (segmentNs + gapNs);
        slots.push({ seat, load, block: lead ? at + leadBlocks : at, lead, atNs });
      }
    }
  }
  return slots;
}

/**
 * Steps of one machine in a round.
 * @param {readonly number[]} seats seats of this machine
 * @param {readonly Slot[]} slots slots of all machines
 * @param {TimetableOptions} options
 * @param {Seen & { startNs(): number }} seen startNs: start of the round, once it has begun
 * @returns {Generator<Step[], void>}
 */
export function* timed(seats, slots, { segmentNs, rampNs, orderSeed, round }, seen) {
  const start = shuffled(seats, createRandom(orderSeed, 0x626c0000 + round));
  const loadsOf = (/** @type {number} */ seat) => [
    ...new Set(slots.filter((slot) => slot.seat === seat).map(({ load }) => load)),
  ];
  yield start.map((seat) => ({ do: 'open', seat }));
  yield start.map((seat) => ({ do: 'warm', seat, loads: loadsOf(seat) }));
  yield [{ do: 'barrier' }];
  for (const [slot, { seat, load, block, lead, atNs }] of slots.entries()) {
    if (!seats.includes(seat) || seen.isOut(seat)) continue;
    const fromNs = seen.startNs() + atNs;
    const times = { startNs: fromNs, fromNs: fromNs + rampNs, endNs: fromNs + segmentNs };
    // An earlier segment was still waiting for replies.
    if (seen.nowNs() >= times.endNs) {
      if (!lead) yield [{ do: 'skip', seat, load }];
      continue;
    }
    const amount = { operations: null, durationNs: null, brief: true, timed: true };
    yield [{ do: 'run', seat, load, amount, block, of: 0, lead, slot, start: times }];
  }
  for (const seat of seats) yield [{ do: 'close', seat }];
}
