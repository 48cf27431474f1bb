/**
 * From slices to the means of processes. In a block every contender runs one slice, so the state of
 * the machine in that block affects all of them, and can be removed.
 *
 * Goals: the figure of a process without the state of the machine and without its worst slices.
 * Non-goals: intervals, which are computed over processes in contenders.js, since blocks are not
 * independent.
 */

import { mean, median } from 'simple-statistics';

/** Share of slices excluded at either end of a process. */
export const TRIM = 0.05;
/**
 * Share of the fastest slices of a process that its typical figure covers. Half of them gave
 * narrower intervals in one load and larger errors against planted differences.
 */
const TYPICAL = 0.75;

/**
 * @typedef {readonly (readonly (readonly (number | null)[])[])[]} Blocks logs of the time per
 *   operation, by contender, round and block; null: invalid slice
 */

/**
 * One step of a median polish (J. W. Tukey, "Exploratory data analysis", 1977): the state of a
 * block is the median over contenders of their distance to their own median in the round.
 * @param {Blocks} logs
 * @returns {(number | null)[][][]} the same values without the state of the blocks
 */
export function withoutBlockState(logs) {
  const rounds = logs[0]?.length ?? 0;
  /** @type {(number | null)[][][]} */
  const result = logs.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const rows = logs.map((contender) => contender[round]);
    const centres = rows.map((row) => medianOf(row));
    const blocks = Math.max(0, ...rows.map((row) => row.length));
    const states = Array.from({ length: blocks }, (_, block) =>
      medianOf(rows.map((row, i) => distance(row[block] ?? null, centres[i]))),
    );
    for (const [i, row] of rows.entries()) {
      result[i].push(row.map((value, block) => distance(value, states[block])));
    }
  }
  return result;
}

/** @param {number | null} value @param {number | null} from */
function distance(value, from) {
  return value === null || from === null ? null : value - from;
}

/** @param {readonly (number | null)[]} values */
function medianOf(values) {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : median(present);
}

/**
 * @param {readonly (number | null)[]} values values of one process
 * @param {number} [trim] share excluded at either end, rounded down to whole values
 * @returns {number} NaN without values
 */
export function trimmedMean(values, trim = TRIM) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  const out = Math.floor(trim * sorted.length);
  return sorted.length === 0 ? Number.NaN : mean(sorted.slice(out, sorted.length - out));
}

/**
 * Each detects effects that the others do not: pauses and late operations are in the mean, but
 * hardly in the typical figure, whose intervals are the narrowest. The typical figure ignores
 * garbage unless each slice is charged with its own (engine/garbage.js).
 * @typedef {'trimmed' | 'typical' | 'mean'} Figure figure of a process, a log of the time per
 *   operation: the mean of logs without block state and the ends; that of the faster three
 *   quarters; the log of the mean
 */

/**
 * @type {Record<'typical' | 'mean', (values: readonly number[]) => number>} figure of one process
 */
const FIGURES = {
  typical(values) {
    const sorted = [...values].sort((a, b) => a - b);
    return mean(sorted.slice(0, Math.ceil(TYPICAL * sorted.length)));
  },
  mean: (values) => Math.log(mean(values.map(Math.exp))),
};

/**
 * @param {Blocks} logs
 * @param {{ trim?: number, figure?: Figure }} [options] trim: share for `trimmed`
 * @returns {number[][]} figures of processes, by contender and round; NaN without slices
 */
export function processMeans(logs, { trim = TRIM, figure = 'trimmed' } = {}) {
  if (figure === 'trimmed') {
    return withoutBlockState(logs).map((rounds) => rounds.map((row) => trimmedMean(row, trim)));
  }
  return logs.map((rounds) =>
    rounds.map((row) => {
      const values = row.filter((value) => value !== null);
      return values.length === 0 ? Number.NaN : FIGURES[figure](values);
    }),
  );
}
