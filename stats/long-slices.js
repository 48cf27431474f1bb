/**
 * Slices longer than three times the median of their process: pauses too rare to show in a mean of
 * eight rounds. Of 14,568 slices of calm races one was that long; of a driver with stalls of 40 ms,
 * 3 %. Such counts are compared exactly with those of all contenders of the load: a pair alone
 * needs nine against none, with four other contenders four are sufficient.
 */

import { median } from 'simple-statistics';

const LONG = Math.log(3);
/** One-sided: two contenders are reported as different at 99.5 %. */
const ERROR = 0.0025;

/**
 * @typedef {object} LongSlices
 * @property {number} own
 * @property {number} base
 * @property {boolean} isDecided at equal rates of all contenders, the one with more would have as
 *   many in 0.25 % of all runs
 */

/**
 * @param {readonly (readonly (readonly (number | null)[])[])[]} times logs of the time per
 *   operation, by contender of the load, round and slice
 * @param {number} i
 * @param {number} j
 * @returns {LongSlices} counts of contender i compared with j
 */
export function longSlicesOf(times, i, j) {
  const counts = times.map(countIn);
  const sum = (/** @type {'slices' | 'long'} */ field) =>
    counts.reduce((all, one) => all + one[field], 0);
  const [own, base] = [counts[i], counts[j]];
  const more = own.long > base.long ? own : base;
  const isDecided =
    own.long !== base.long && tail(more.long, sum('long'), more.slices / sum('slices')) < ERROR;
  return { own: own.long, base: base.long, isDecided };
}

/** @param {readonly (readonly (number | null)[])[]} time */
function countIn(time) {
  let [slices, long] = [0, 0];
  for (const row of time) {
    const values = row.filter((value) => value !== null);
    if (values.length === 0) continue;
    const limit = median(values) + LONG;
    slices += values.length;
    long += values.filter((value) => value > limit).length;
  }
  return { slices, long };
}

/**
 * @param {number} least
 * @param {number} all
 * @param {number} share
 * @returns {number} probability of at least that many of all, each with that share (binomial)
 */
function tail(least, all, share) {
  let [term, sum] = [(1 - share) ** all, 0];
  for (let count = 0; count <= all; count += 1) {
    if (count >= least) sum += term;
    term *= ((all - count) / (count + 1)) * (share / (1 - share));
  }
  return sum;
}
