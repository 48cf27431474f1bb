/**
 * Races drawn from a seed, whose true answers are known: what the estimator's intervals are tested
 * on. Machine state per block, luck per process, noise per slice with heavy tails.
 */

import { createRandom } from '../lib/random.js';

const STALLED_ROUND = 1;

/**
 * @typedef {object} SimulatedRace
 * @property {readonly number[]} logs true log of the time per operation of each contender
 * @property {number} rounds
 * @property {number} blocks
 * @property {number} processDeviation of a process, on logs
 * @property {number} [blockDeviation] of what a block does to all contenders
 * @property {number} [sliceDeviation] of a slice
 * @property {number} [spikes] share of slices that a neighbour hits: up to twice as long
 * @property {readonly number[]} [factors] of the deviations, by contender; absent: all equal
 * @property {number} [stalled] contender whose process takes three times as long in one round
 */

/**
 * @param {SimulatedRace} race
 * @param {number} seed
 * @returns {number[][][]} logs by contender, round and block
 */
export function simulateRace(race, seed) {
  const { logs, rounds, blocks, processDeviation, factors, stalled } = race;
  const { blockDeviation = 0.1, sliceDeviation = 0.1, spikes = 0.1 } = race;
  const random = createRandom(seed, 0x73696d);
  const uniform = () => (random() + 0.5) / 2 ** 32;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const result = logs.map(() => /** @type {number[][]} */ ([]));
  for (let round = 0; round < rounds; round += 1) {
    // The state of the machine has a memory: it goes from block to block.
    let state = normal() * blockDeviation;
    const states = Array.from({ length: blocks }, () => {
      state = 0.7 * state + 0.7 * blockDeviation * normal();
      return state;
    });
    for (const [i, log] of logs.entries()) {
      const factor = factors?.[i] ?? 1;
      const luck = normal() * processDeviation * factor;
      const stall = i === stalled && round === STALLED_ROUND ? Math.log(3) : 0;
      result[i].push(
        states.map((shared) => {
          const spike = uniform() < spikes ? Math.log1p(uniform()) : 0;
          return log + luck + stall + shared + normal() * sliceDeviation * factor + spike;
        }),
      );
    }
  }
  return result;
}
