/**
 * Random races with known true values, from a seed, to test the intervals of the estimator. Effects
 * of the machine per block and of the process, and noise per segment with heavy tails.
 */

import { createRandom } from '../lib/random.js';

const STALLED_ROUND = 1;

/**
 * @typedef {object} SimulatedRace
 * @property {readonly number[]} logs true log of the time per operation of each contender
 * @property {number} rounds
 * @property {number} blocks
 * @property {number} processDeviation standard deviation of a process, on logs
 * @property {number} [blockDeviation] standard deviation of the common effect of a block
 * @property {number} [sliceDeviation] standard deviation of a segment
 * @property {number} [spikes] fraction of segments disturbed by a neighbour: up to twice as long
 * @property {readonly number[]} [factors] factors of the deviations, by contender; absent: all
 *   equal
 * @property {number} [stalled] contender whose process takes three times as long in one round
 * @property {readonly (Defect | null)[]} [defects] by contender; absent: none
 *
 * @typedef {object} Defect defect of a driver in segments of 8 ms that include their own garbage
 *   collections
 * @property {number} [everySlices] average number of segments per event
 * @property {number} [longer] relative extension of that segment
 * @property {number} [more] relative extension of each segment
 * @property {number} [slowSlices] number of first segments of a process, which take 50 % longer
 */

/**
 * With 100 µs per operation and 7 % of the time in collections.
 * @satisfies {Record<string, Defect>}
 */
export const DEFECTS = Object.freeze({
  // 80 operations per segment, each 200th of which takes 2 ms more.
  'late operations': { everySlices: 2.5, longer: 0.25 },
  // 125 segments take a second.
  'a pause of 30 ms each second': { everySlices: 125, longer: 30 / 8 },
  'twice the garbage': { more: 0.07 },
  'a slow start': { slowSlices: 5 },
});

/**
 * @param {SimulatedRace} race
 * @param {number} seed
 * @returns {number[][][]} logs by contender, round and block
 */
export function simulateRace(race, seed) {
  const { logs, rounds, blocks, processDeviation, factors, stalled, defects = [] } = race;
  const { blockDeviation = 0.1, sliceDeviation = 0.1, spikes = 0.1 } = race;
  const random = createRandom(seed, 0x73696d);
  const uniform = () => (random() + 0.5) / 2 ** 32;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const result = logs.map(() => /** @type {number[][]} */ ([]));
  for (let round = 0; round < rounds; round += 1) {
    // The state of the machine is correlated between consecutive blocks.
    let state = normal() * blockDeviation;
    const states = Array.from({ length: blocks }, () => {
      state = 0.7 * state + 0.7 * blockDeviation * normal();
      return state;
    });
    for (const [i, log] of logs.entries()) {
      const factor = factors?.[i] ?? 1;
      const luck = normal() * processDeviation * factor;
      const stall = i === stalled && round === STALLED_ROUND ? Math.log(3) : 0;
      const defect = defects[i] ?? null;
      result[i].push(
        states.map((shared, block) => {
          const spike = uniform() < spikes ? Math.log1p(uniform()) : 0;
          const slice = log + luck + stall + shared + normal() * sliceDeviation * factor + spike;
          return defect === null ? slice : slice + defectIn(defect, block, uniform());
        }),
      );
    }
  }
  return result;
}

/**
 * @param {Defect} defect
 * @param {number} block
 * @param {number} chance 0 to 1
 * @returns {number} log of the extension of the segment
 */
function defectIn({ everySlices = Infinity, longer = 0, more = 0, slowSlices = 0 }, block, chance) {
  const event = chance < 1 / everySlices ? longer : 0;
  return Math.log1p(event + more + (block < slowSlices ? 0.5 : 0));
}
