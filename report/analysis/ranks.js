/**
 * The ranks of a table's rows with ties shown as ties, and the A/A noise that a difference must
 * exceed. Pure; from the rounds of the rows of one group.
 *
 * Non-goals: an order that a single round could turn around; statistically tied rows share ranks.
 */

import { noiseFloor, successiveRounds } from '../../stats/noise.js';
import { rankEntries } from '../../stats/rank.js';

/** @typedef {{ best: number, worst: number }} Rank 1 is the fastest; tied: best < worst */

/**
 * @typedef {object} RankedRow
 * @property {string} label
 * @property {'server' | 'embedded' | 'overhead'} kind
 * @property {string} state
 * @property {number} wrong
 * @property {Pick<import('../../lib/result.js').Benchmark, 'load' | 'rounds'>} source
 */

/**
 * @param {Pick<import('../../lib/result.js').Benchmark, 'rounds'>} source
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
 * The noise of a group of benchmarks: each against itself, in successive rounds.
 * @param {readonly { source: Pick<import('../../lib/result.js').Benchmark, 'load' | 'rounds'> }[]}
 *   rows
 * @returns {import('../../stats/noise.js').NoiseFloor}
 */
export function noiseOf(rows) {
  const rounds = rows.map(({ source }) => throughputsOf(source));
  const blocks = Math.max(0, ...rounds.map(({ length }) => length));
  return noiseFloor(rounds.map(successiveRounds), { blocks: Math.max(1, blocks) });
}

/**
 * @param {readonly RankedRow[]} rows of one workload and load
 * @param {number | null} noise
 * @returns {(Rank | null)[]} by row; null: no contender, or fewer than two rounds to tell by
 */
export function ranksOf(rows, noise) {
  /** @type {(Rank | null)[]} */
  const ranks = rows.map(() => null);
  const contenders = rows.flatMap((row, index) => {
    const { kind, state, wrong, source } = row;
    // In an open loop the throughput is what was offered.
    if (kind === 'overhead' || state === 'failed' || wrong > 0 || source.load.kind === 'rate')
      return [];
    const rounds = throughputsOf(source);
    return rounds.filter((value) => value !== null).length < 2 ? [] : [{ index, rounds }];
  });
  const blocks = Math.max(0, ...contenders.map(({ rounds }) => rounds.length));
  const entries = contenders.map(({ index, rounds }) => ({
    name: String(index),
    rounds: [...rounds, ...Array(blocks - rounds.length).fill(null)],
  }));
  for (const { name, rank, rankWorst } of rankEntries(entries, { noise }).entries) {
    ranks[Number(name)] = { best: rank, worst: rankWorst };
  }
  return ranks;
}
