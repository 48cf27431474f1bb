/**
 * When each slice of a round begins, where no message may pass while the clock runs: several load
 * machines run the same slice at the same time because each draws the same order from the seed, and
 * slice s begins s · (slice + gap) after the start of the round. Pure.
 */

import { createRandom, shuffled } from '../../lib/random.js';
import { orderOfLoads } from './round.js';

/** Another stream than that of rounds whose slices are handed out one by one. */
const ORDER_STREAM = 0x74740000;

/**
 * @typedef {object} Slot
 * @property {number} entrant
 * @property {number} load
 * @property {number} block
 * @property {boolean} lead it is not counted
 * @property {number} atNs after the start of the round
 *
 * @typedef {object} TimetableOptions
 * @property {number} round
 * @property {number} blocks
 * @property {number} leadBlocks
 * @property {number} orderSeed
 * @property {number} sliceNs
 * @property {number} gapNs until the next slice: outstanding replies arrive
 */

/**
 * @param {readonly { every: number, loads: readonly unknown[] }[]} entrants every: how many blocks
 *   each runs; loads: null where it does not have that one
 * @param {number} loads
 * @param {TimetableOptions} options
 * @returns {Slot[]} in the order of time
 */
export function timetableOf(entrants, loads, options) {
  const { round, blocks, leadBlocks, orderSeed, sliceNs, gapNs } = options;
  const random = createRandom(orderSeed, ORDER_STREAM + round);
  /** @type {Slot[]} */
  const slots = [];
  for (let at = -leadBlocks; at < blocks; at += 1) {
    const lead = at < 0;
    for (const load of orderOfLoads([], loads, random)) {
      for (const entrant of shuffled([...entrants.keys()], random)) {
        const { every, loads: own } = entrants[entrant];
        if (own[load] === null || (!lead && at % every !== 0)) continue;
        const atNs = slots.length * (sliceNs + gapNs);
        slots.push({ entrant, load, block: lead ? at + leadBlocks : at, lead, atNs });
      }
    }
  }
  return slots;
}
