/**
 * Answers and ranks from the intervals of one run: faster, slower, tied, or not resolved.
 *
 * Goals: a rank requires a difference that the rounds show. Otherwise a number bounds the possible
 * difference. Non-goals: a total order; ties are not transitive, so the groups may overlap.
 */

import { differenceOf } from './contenders.js';

/** The smallest effect that counts as a difference, as a share. */
export const EFFECT_MIN = 0.01;
/** Largest difference that the interval of a tie may include, as a share. */
export const TIED_MAX = 0.05;

/** @typedef {import('./contenders.js').Contest} Contest */
/**
 * @typedef {'faster' | 'slower' | 'tied' | 'not resolved'} Answer tied: not shown to differ, and by
 *   less than 5 % if at all; not resolved: the interval is too wide to decide, or the machine was
 *   too busy
 */

/**
 * @typedef {object} Ratio ratio of the speeds of two contenders, 1.05: the first is 5 % faster
 * @property {number} ratio
 * @property {number | null} low lower end of the interval that decided the answer; null: one round
 * @property {number | null} high
 * @property {number | null} halfWidth as a share: 0.03 is ± 3 %
 * @property {number} n number of rounds
 * @property {Answer | 'split'} answer split: typically faster, but slower over all time, or the
 *   reverse
 * @property {number | null} possible the largest difference within the interval, as a share; null
 *   if the answer is neither tied nor not resolved, or there is no interval
 * @property {number} mean the ratio of throughputs, with all pauses and late operations; if
 *   segments are charged with their garbage, the value above is that of the typical figure
 */

/**
 * @param {number} difference difference of logs of time per operation, first minus second
 * @param {number} half half-width; infinite: one round
 * @param {number} n
 * @param {{ mean?: number, isBusy?: boolean }} [more] mean: the same for all their time; isBusy:
 *   the machine was too busy for an answer
 * @returns {Ratio} ratio of the speed of the first to that of the second
 */
export function toRatio(difference, half, n, { mean = difference, isBusy = false } = {}) {
  const value = -difference;
  const answer = isBusy ? 'not resolved' : withMean(answerOf(value, half), -mean);
  const isKnown = Number.isFinite(half);
  return {
    ratio: Math.exp(value),
    low: isKnown ? Math.exp(value - half) : null,
    high: isKnown ? Math.exp(value + half) : null,
    halfWidth: isKnown ? Math.expm1(half) : null,
    n,
    answer,
    possible:
      isKnown && (answer === 'tied' || answer === 'not resolved')
        ? Math.expm1(Math.abs(value) + half)
        : null,
    mean: Math.exp(-mean),
  };
}

/**
 * @param {Answer} answer answer by the typical figure
 * @param {number} mean log of the ratio of throughputs
 * @returns {Ratio['answer']}
 */
function withMean(answer, mean) {
  const least = Math.log1p(EFFECT_MIN);
  const isAgainst = (answer === 'faster' && mean < -least) || (answer === 'slower' && mean > least);
  return isAgainst ? 'split' : answer;
}

/**
 * Tied by two one-sided tests (Schuirmann 1987): the whole interval lies within 5 %.
 * @param {number} value log of the ratio of speeds
 * @param {number} half
 * @param {number} [margin] smallest relevant effect, as a share
 * @returns {Answer}
 */
export function answerOf(value, half, margin = EFFECT_MIN) {
  const size = Math.abs(value);
  if (size > half && size > Math.log1p(margin)) return value > 0 ? 'faster' : 'slower';
  return size + half <= Math.log1p(TIED_MAX) ? 'tied' : 'not resolved';
}

/** @param {Ratio['answer']} answer */
export function isDecided(answer) {
  return answer === 'faster' || answer === 'slower';
}

/**
 * @typedef {object} Standing
 * @property {number} index index of the contender
 * @property {number} rank one more than the number of contenders shown to be faster; 1 if the
 *   fastest is not shown to be, since the interval of that ratio is printed beside it
 * @property {number} rankWorst number of contenders not shown to be slower
 * @property {number[]} tiedWith indices of the contenders tied with it
 */

/**
 * Ranks from the decisions of all pairs, which are simultaneous at the contest's confidence.
 * @param {Contest} contest
 * @param {readonly number[]} [averages] logs of the time per operation over all time; default: the
 *   estimates
 * @returns {Standing[]} fastest first
 */
export function rankContenders(contest, averages = contest.estimates) {
  const { k, estimates } = contest;
  const order = [...estimates.keys()].sort((a, b) => estimates[a] - estimates[b]);
  const answers = order.map((i) => order.map((j) => (i === j ? 'tied' : decide(i, j))));
  /** @param {number} i @param {number} j @returns {Ratio['answer']} */
  function decide(i, j) {
    const { value, halfOfAll } = differenceOf(contest, i, j);
    return withMean(answerOf(-value, halfOfAll), averages[j] - averages[i]);
  }
  return order.map((index, at) => ({
    index,
    rank:
      answers[at][0] === 'slower'
        ? 1 + answers[at].filter((answer) => answer === 'slower').length
        : 1,
    rankWorst: k - answers[at].filter((answer) => answer === 'faster').length,
    tiedWith: order.filter((_, j) => j !== at && !isDecided(answers[at][j])),
  }));
}
