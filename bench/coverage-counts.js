/** What the intervals of simulated races do, counted; for the bench and for the tests. */

import { processMeans } from '../stats/blocks.js';
import { contest, differenceOf } from '../stats/contenders.js';
import { ROUNDS_MIN } from '../stats/precision.js';
import { simulateRace } from './simulated-race.js';

/**
 * @param {import('./simulated-race.js').SimulatedRace} race
 * @param {{ races: number, trim?: number, seed?: number, precision?: number }} options precision:
 *   stop each race at the first round from the sixth on at which every half-width is that small
 * @returns {{ covered: number, falsePair: number, half: number, unpooled: number, rounds: number }}
 *   shares: of intervals of pairs that hold the truth, of races with any pair wrongly separated by
 *   all pairs' intervals, of races where not all share one variance; half: mean half-width;
 *   rounds: mean
 */
export function blockMeansOf(race, { races, trim = 0.05, seed = 1, precision }) {
  let [covered, pairs, falsePairs, halves, unpooled, rounds] = [0, 0, 0, 0, 0, 0];
  for (let n = 0; n < races; n += 1) {
    const means = processMeans(simulateRace(race, seed * 100_003 + n), { trim });
    const own = precision === undefined ? contest(means) : contestWhenPrecise(means, precision);
    let wrong = false;
    for (let i = 0; i < own.k; i += 1) {
      for (let j = 0; j < i; j += 1) {
        const { value, half, halfOfAll } = differenceOf(own, i, j);
        const error = Math.abs(value - (race.logs[i] - race.logs[j]));
        if (error <= half) covered += 1;
        if (error > halfOfAll) wrong = true;
        halves += half;
        pairs += 1;
      }
    }
    if (wrong) falsePairs += 1;
    if (own.pool.length < own.k) unpooled += 1;
    rounds += own.rounds;
  }
  return {
    covered: covered / pairs,
    falsePair: falsePairs / races,
    half: halves / pairs,
    unpooled: unpooled / races,
    rounds: rounds / races,
  };
}

/** @param {number[][]} means @param {number} precision */
function contestWhenPrecise(means, precision) {
  for (let rounds = ROUNDS_MIN; ; rounds += 1) {
    const own = contest(means.map((row) => row.slice(0, rounds)));
    if (rounds >= means[0].length) return own;
    const widest = Math.max(...means.map((_, i) => (i === 0 ? 0 : differenceOf(own, i, 0).half)));
    if (widest <= Math.log1p(precision)) return own;
  }
}
