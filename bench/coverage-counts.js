/** Coverage of the intervals of simulated races, for the bench and for the tests. */

import { ROUNDS_MIN } from '../stats/precision.js';
import { pairOf, standingsOf } from '../stats/standings.js';
import { simulateRace } from './simulated-race.js';

/** @typedef {import('./simulated-race.js').SimulatedRace} SimulatedRace */

/**
 * @typedef {object} Cell races of equal contenders, with a second copy of the first (A/A)
 * @property {number} contenders
 * @property {number} rounds
 * @property {number} segments per process; 1: a load without blocks
 * @property {boolean} [stalled] the last contender stalls in one round; the others are counted
 * @property {number} [processDeviation] standard deviation of a process, on logs
 * @property {readonly number[]} [factors] factors of the deviations, by contender
 * @property {boolean} [ownGarbage] ratios of the typical speed, as in races
 * @property {number} [precision] stop each race at the first round, from the sixth on, with every
 *   half-width at most this
 */

/**
 * @typedef {object} Coverage
 * @property {number} own fraction of intervals of ops/s that contain the expected figure
 * @property {number} ratio fraction of intervals of ratios to the fastest that contain 1; NaN: none
 * @property {number} allRatios fraction of races in which all of them do
 * @property {number} again fraction of A/A intervals that contain 1
 * @property {number} claimed fraction of pairs with the first contender with any claim: faster,
 *   slower, split, pauses, long segments
 * @property {number} split fraction of split ones among them
 * @property {number} half mean half-width of the ratios on logs
 * @property {number} bias expected log of a figure minus the mean of the drawn logs
 * @property {number} rounds mean
 */

const LOG = 8;
/** Mean of the spikes of simulateRace: one segment of ten takes up to twice as long. */
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
  let [pairs, claimed, split] = [0, 0, 0];
  for (let n = 0; n < races; n += 1) {
    const entries = entriesUntil(simulateRace(race, seed * 100_003 + n), cell);
    const standings = standingsOf(entries);
    const rows = standings.rows.filter(
      ({ name, group }) => group === 'networked' && !(stalled && name === `${last}`),
    );
    for (const { nsPerOperation, halfWidth } of rows) {
      figures.push({ log: Math.log(nsPerOperation), half: Math.log1p(Number(halfWidth)) });
    }
    const [fastest] = standings.rows;
    const isOfStalled = stalled && fastest.name === `${last}`;
    const ratioHits = rows.flatMap(({ vsFastest }) =>
      vsFastest?.halfWidth && !isOfStalled ? [vsFastest] : [],
    );
    const holding = ratioHits.filter(holdsOne).length;
    ratios += ratioHits.length;
    held += holding;
    if (holding === ratioHits.length) sound += 1;
    for (const { halfWidth } of ratioHits) halves += Math.log1p(Number(halfWidth));
    if (holdsOne(/** @type {Ratio} */ (standings.again))) again += 1;
    for (const { name, group } of entries.slice(1)) {
      if (group !== 'networked' || (stalled && name === `${last}`)) continue;
      const found = findingsOf(entries, name, '0');
      pairs += 1;
      if (found.length > 0) claimed += 1;
      if (found.includes('split')) split += 1;
    }
    total += rows[0].n;
  }
  // Trimmed means of skewed segments are below the mean; the interval refers to the printed figure.
  const expected = figures.reduce((sum, { log }) => sum + log, 0) / figures.length;
  const covered = figures.filter(({ log, half }) => Math.abs(log - expected) <= half).length;
  return {
    own: covered / figures.length,
    ratio: held / ratios,
    allRatios: ratios < races / 2 ? Number.NaN : sound / races,
    again: again / races,
    claimed: claimed / pairs,
    split: split / pairs,
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

/** @typedef {import('../stats/standings.js').Entry} Entry */

/**
 * @param {number[][][]} times by contender, round and segment; the last is the A/A copy
 * @param {Pick<Cell, 'precision' | 'ownGarbage'>} cell
 * @returns {Entry[]} segments of all rounds, or up to the round at which the run stops
 */
function entriesUntil(times, { precision, ownGarbage = false }) {
  const last = times.length - 1;
  const of = (/** @type {number} */ rounds) =>
    times.map((time, i) => ({
      name: i === last ? 'again' : `${i}`,
      group: /** @type {Entry['group']} */ (i === last ? 'again' : 'networked'),
      of: '0',
      time: time.slice(0, rounds),
      ownGarbage,
    }));
  const all = times[0].length;
  if (precision === undefined) return of(all);
  for (let rounds = ROUNDS_MIN; rounds < all; rounds += 1) {
    const entries = of(rounds);
    if (standingsOf(entries).halfWidths.every((half) => half <= precision)) return entries;
  }
  return of(all);
}

/** @typedef {'faster' | 'slower' | 'split' | 'shape' | 'long slices'} Finding */

/**
 * @param {readonly Entry[]} entries
 * @param {string} name
 * @param {string} base
 * @returns {Finding[]} claim of a report about the pair
 */
export function findingsOf(entries, name, base) {
  const pair = pairOf(entries, name, base);
  if (pair === null) return [];
  const { answer } = pair.speed;
  return [
    ...(answer === 'faster' || answer === 'slower' || answer === 'split' ? [answer] : []),
    ...(pair.isUneven ? [/** @type {const} */ ('shape')] : []),
    ...(pair.long.isDecided ? [/** @type {const} */ ('long slices')] : []),
  ];
}

/**
 * Races of a calm machine, in which the second of four contenders has a defect. In 16 rounds of 40
 * segments it runs for 5 s.
 * @param {import('./simulated-race.js').Defect | null} defect null: both are equal
 * @param {{ races: number, rounds?: number, blocks?: number }} size
 * @returns {Record<Finding | 'anything', number>} number of races in which it was detected, by
 *   figure
 */
export function foundBy(defect, { races, rounds = 16, blocks = 40 }) {
  const counts = { anything: 0, faster: 0, slower: 0, split: 0, shape: 0, 'long slices': 0 };
  const calm = { blockDeviation: 0.02, sliceDeviation: 0.05, spikes: 0.01, processDeviation: 0.01 };
  const defects = [null, defect];
  for (let n = 0; n < races; n += 1) {
    const race = { ...calm, logs: Array(5).fill(LOG), rounds, blocks, defects };
    const entries = entriesUntil(simulateRace(race, n + 1), { ownGarbage: true });
    const all = findingsOf(entries, '1', '0');
    for (const one of all) counts[one] += 1;
    if (all.length > 0) counts.anything += 1;
  }
  return counts;
}
