/**
 * Answers and ranks from the intervals of one run: faster, slower, tied, or not resolved.
 *
 * Goals: a rank is won by a difference that the rounds show. What they do not show has a number:
 * the greatest difference that there may be. Non-goals: a total order; ties are not transitive, and
 * the groups say so by overlapping.
 */

import { differenceOf } from './contenders.js';

/** The least effect that counts as a difference, as a share. */
export const EFFECT_MIN = 0.01;
/** Widest difference that the interval of a tie may leave possible, as a share. */
export const TIED_MAX = 0.05;

/** @typedef {import('./contenders.js').Contest} Contest */
/** @typedef {'faster' | 'slower' | 'tied' | 'not resolved'} Answer tied: not shown to differ, and
 *   by less than 5 % if at all; not resolved: the interval is too wide to say so */

/**
 * @typedef {object} Ratio of the speeds of two contenders, 1.05: the first is 5 % faster
 * @property {number} ratio
 * @property {number | null} low of the interval that the answer was decided by; null: one round
 * @property {number | null} high
 * @property {number | null} halfWidth as a share: 0.03 is ± 3 %
 * @property {number} n rounds
 * @property {Answer} answer
 * @property {number | null} possible as a share: the greatest difference that the interval leaves
 *   possible; null where the answer is faster or slower, or there is no interval
 */

/**
 * @param {number} difference of logs of time per operation, first less second
 * @param {number} half infinite: one round
 * @param {number} n
 * @returns {Ratio} of the speed of the first to that of the second
 */
export function toRatio(difference, half, n) {
  const value = -difference;
  const answer = answerOf(value, half);
  const isKnown = Number.isFinite(half);
  return {
    ratio: Math.exp(value),
    low: isKnown ? Math.exp(value - half) : null,
    high: isKnown ? Math.exp(value + half) : null,
    halfWidth: isKnown ? Math.expm1(half) : null,
    n,
    answer,
    possible: isKnown && !isDecided(answer) ? Math.expm1(Math.abs(value) + half) : null,
  };
}

/**
 * Tied by two one-sided tests (Schuirmann 1987): the whole interval lies within 5 %.
 * @param {number} value log of the ratio of speeds
 * @param {number} half
 * @param {number} [margin] least effect, as a share
 * @returns {Answer}
 */
export function answerOf(value, half, margin = EFFECT_MIN) {
  const size = Math.abs(value);
  if (size > half && size > Math.log1p(margin)) return value > 0 ? 'faster' : 'slower';
  return size + half <= Math.log1p(TIED_MAX) ? 'tied' : 'not resolved';
}

/** @param {Answer} answer */
export function isDecided(answer) {
  return answer === 'faster' || answer === 'slower';
}

/**
 * @typedef {object} Standing
 * @property {number} index of the contender
 * @property {number} rank one more than the contenders that are shown to be faster
 * @property {number} rankWorst as many as are not shown to be slower
 * @property {number[]} tiedWith indices of those that it is not separated from
 */

/**
 * Ranks from the decisions of all pairs, which hold together with the contest's confidence.
 * @param {Contest} contest
 * @returns {Standing[]} fastest first
 */
export function rankContenders(contest) {
  const { k, estimates } = contest;
  const order = [...estimates.keys()].sort((a, b) => estimates[a] - estimates[b]);
  const answers = order.map((i) => order.map((j) => (i === j ? 'tied' : decide(i, j))));
  /** @param {number} i @param {number} j @returns {Answer} */
  function decide(i, j) {
    const { value, halfOfAll } = differenceOf(contest, i, j);
    return answerOf(-value, halfOfAll);
  }
  return order.map((index, at) => ({
    index,
    rank: 1 + answers[at].filter((answer) => answer === 'slower').length,
    rankWorst: k - answers[at].filter((answer) => answer === 'faster').length,
    tiedWith: order.filter((_, j) => j !== at && !isDecided(answers[at][j])),
  }));
}
