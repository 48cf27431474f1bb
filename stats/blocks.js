/**
 * From slices to the means of processes. In a block every contender runs one slice, so what the
 * machine did to all of them in that block is known, and can be taken out.
 *
 * Goals: the figure of a process, with the state of the machine and the worst slices out of it.
 * Non-goals: intervals, which are over processes: contenders.js. Blocks are no independent values.
 */

import { mean, median } from 'simple-statistics';

/** Slices left out at either end of a process, as a share. */
export const TRIM = 0.05;

/** @typedef {readonly (readonly (readonly (number | null)[])[])[]} Blocks logs of the time per
 *   operation, by contender, round and block; null: the slice is not valid */

/**
 * One step of a median polish (J. W. Tukey, "Exploratory data analysis", 1977): the state of a
 * block is the median over contenders of their distance to their own median of the round.
 * @param {Blocks} logs
 * @returns {(number | null)[][][]} the same without the state of the blocks
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
 * @param {readonly (number | null)[]} values of one process
 * @param {number} [trim] share left out at either end, rounded down to whole values
 * @returns {number} NaN without values
 */
export function trimmedMean(values, trim = TRIM) {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  const out = Math.floor(trim * sorted.length);
  return sorted.length === 0 ? Number.NaN : mean(sorted.slice(out, sorted.length - out));
}

/**
 * @param {Blocks} logs
 * @param {{ trim?: number }} [options]
 * @returns {number[][]} means of processes, by contender and round
 */
export function processMeans(logs, { trim = TRIM } = {}) {
  return withoutBlockState(logs).map((rounds) => rounds.map((row) => trimmedMean(row, trim)));
}
