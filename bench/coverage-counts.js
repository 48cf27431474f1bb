/** How often the intervals of simulated races hold the truth; for the bench and for the tests. */

import { ROUNDS_MIN } from '../stats/precision.js';
import { standingsOf } from '../stats/standings.js';
import { simulateRace } from './simulated-race.js';

/** @typedef {import('./simulated-race.js').SimulatedRace} SimulatedRace */
/** @typedef {import('../stats/standings.js').Standings} Standings */

/**
 * @typedef {object} Cell races of equal contenders, with a second copy of the first (A/A)
 * @property {number} contenders
 * @property {number} rounds
 * @property {number} segments per process; 1: a whole load
 * @property {boolean} [stalled] the last contender stalls in one round; the others are counted
 * @property {number} [processDeviation] of a process, on logs
 * @property {readonly number[]} [factors] of the deviations, by contender
 * @property {number} [precision] stop each race at the first round from the sixth on at which
 *   every half-width is that small
 */

/**
 * @typedef {object} Coverage
 * @property {number} own share of intervals of ops/s that hold the expected figure
 * @property {number} ratio share of intervals of ratios to the fastest that hold 1; NaN: none
 * @property {number} allRatios share of races in which all of them do
 * @property {number} again share of A/A intervals that hold 1
 * @property {number} half mean half-width of the ratios on logs
 * @property {number} bias expected log of a figure less the mean of the drawn logs
 * @property {number} rounds mean
 */

const LOG = 8;
/** Mean of the spikes of simulateRace: one slice of ten takes up to twice as long. */
const SPIKE_MEAN = 0.1 * (2 * Math.LN2 - 1);

/**
 * @param {Cell} cell
 * @param {{ races: number, seed?: number }} options
 * @returns {Coverage}
 */
export function coverageOf(cell, { races, seed = 1 }) {
  const { contenders, rounds, segments: blocks, processDeviation = 0.03, stalled = false } = cell;
  const last = contenders - 1;
  const factors = cell.factors && [...cell.factors, cell.factors[0]];
  const logs = Array(contenders + 1).fill(LOG);
  /** @type {SimulatedRace} */
  const race = { logs, rounds, blocks, processDeviation, factors };
  if (stalled) race.stalled = last;
  /** @type {{ log: number, half: number }[]} */
  const figures = [];
  let [ratios, held, sound, again, halves, total] = [0, 0, 0, 0, 0, 0];
  for (let n = 0; n < races; n += 1) {
    const standings = standingsUntil(simulateRace(race, seed * 100_003 + n), cell.precision);
    const rows = standings.rows.filter(
      ({ name, group }) => group === 'networked' && !(stalled && name === `${last}`),
    );
    for (const { nsPerOperation, halfWidth } of rows) {
      figures.push({ log: Math.log(nsPerOperation), half: Math.log1p(Number(halfWidth)) });
    }
    const [fastest] = standings.rows;
    const isOfStalled = stalled && fastest.name === `${last}`;
    const own = rows.flatMap(({ vsFastest }) =>
      vsFastest?.halfWidth && !isOfStalled ? [vsFastest] : [],
    );
    const holding = own.filter(holdsOne).length;
    ratios += own.length;
    held += holding;
    if (holding === own.length) sound += 1;
    for (const { halfWidth } of own) halves += Math.log1p(Number(halfWidth));
    if (holdsOne(/** @type {Ratio} */ (standings.again))) again += 1;
    total += rows[0].n;
  }
  // Trimmed means of skewed slices lie below the mean: the interval is of what is printed.
  const expected = figures.reduce((sum, { log }) => sum + log, 0) / figures.length;
  const own = figures.filter(({ log, half }) => Math.abs(log - expected) <= half).length;
  return {
    own: own / figures.length,
    ratio: held / ratios,
    allRatios: ratios < races / 2 ? Number.NaN : sound / races,
    again: again / races,
    half: halves / ratios,
    bias: expected - LOG - SPIKE_MEAN,
    rounds: total / races,
  };
}

/** @typedef {import('../stats/separation.js').Ratio} Ratio */

/** @param {Ratio} ratio */
function holdsOne({ low, high }) {
  return Number(low) <= 1 && Number(high) >= 1;
}

/**
 * @param {number[][][]} times by contender, round and segment; the last is the A/A copy
 * @param {number} [precision]
 * @returns {Standings} of all rounds, or of the first at which the run stops
 */
function standingsUntil(times, precision) {
  const last = times.length - 1;
  const of = (/** @type {number} */ rounds) =>
    standingsOf(
      times.map((time, i) => ({
        name: i === last ? 'again' : `${i}`,
        group: i === last ? 'again' : 'networked',
        of: '0',
        time: time.slice(0, rounds),
      })),
    );
  const all = times[0].length;
  if (precision === undefined) return of(all);
  for (let rounds = ROUNDS_MIN; rounds < all; rounds += 1) {
    const standings = of(rounds);
    if (standings.halfWidths.every((half) => half <= precision)) return standings;
  }
  return of(all);
}
