/**
 * The places of a table's rows with ties shown as ties, and the A/A noise that a difference must
 * exceed. Pure; from the rounds of the rows of one group.
 *
 * Non-goals: an order that a single round could turn around; what is not told apart shares places.
 */

import { noiseFloor, successiveRounds } from '../../stats/noise.js';
import { rankEntries } from '../../stats/rank.js';

/** @typedef {{ best: number, worst: number }} Place 1 is the fastest; tied: best < worst */

/**
 * @typedef {object} PlacedRow
 * @property {string} label
 * @property {'server' | 'embedded' | 'floor'} kind
 * @property {string} state
 * @property {number} wrong
 * @property {Pick<import('../../lib/result.js').Cell, 'load' | 'rounds'>} cell
 */

/**
 * @param {Pick<import('../../lib/result.js').Cell, 'rounds'>} cell
 * @returns {import('../../stats/ratio.js').Rounds} throughput by round; null where it was not
 *   measured
 */
export function throughputsOf({ rounds }) {
  const last = Math.max(-1, ...rounds.map(({ round }) => round));
  return Array.from({ length: last + 1 }, (_, i) => {
    const found = rounds.find(({ round, state }) => round === i && state === 'measured');
    return found !== undefined && found.throughput > 0 ? found.throughput : null;
  });
}

/**
 * The noise of a group of cells: each against itself, in successive rounds.
 * @param {readonly { cell: Pick<import('../../lib/result.js').Cell, 'load' | 'rounds'> }[]} rows
 * @returns {import('../../stats/noise.js').NoiseFloor}
 */
export function noiseOf(rows) {
  const rounds = rows.map(({ cell }) => throughputsOf(cell));
  const blocks = Math.max(0, ...rounds.map(({ length }) => length));
  return noiseFloor(rounds.map(successiveRounds), { blocks: Math.max(1, blocks) });
}

/**
 * @param {readonly PlacedRow[]} rows of one workload and load
 * @param {number | null} noise
 * @returns {(Place | null)[]} by row; null: no rival, or fewer than two rounds to tell by
 */
export function placesOf(rows, noise) {
  /** @type {(Place | null)[]} */
  const places = rows.map(() => null);
  const rivals = rows.flatMap((row, index) => {
    const { kind, state, wrong, cell } = row;
    // In an open loop the throughput is what was offered.
    if (kind === 'floor' || state === 'failed' || wrong > 0 || cell.load.kind === 'rate') return [];
    const rounds = throughputsOf(cell);
    return rounds.filter((value) => value !== null).length < 2 ? [] : [{ index, rounds }];
  });
  const blocks = Math.max(0, ...rivals.map(({ rounds }) => rounds.length));
  const entries = rivals.map(({ index, rounds }) => ({
    name: String(index),
    rounds: [...rounds, ...Array(blocks - rounds.length).fill(null)],
  }));
  for (const { name, rank, rankWorst } of rankEntries(entries, { noise }).entries) {
    places[Number(name)] = { best: rank, worst: rankWorst };
  }
  return places;
}
