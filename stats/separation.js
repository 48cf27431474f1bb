/**
 * Verdicts and ranks from the intervals of one run: faster, slower, or "cannot tell below x %".
 *
 * Goals: a rank is won by a difference that the rounds show. What they do not show has a number:
 * the greatest difference that there may be. Non-goals: a total order; ties are not transitive, and
 * the groups say so by overlapping.
 */

import { differenceOf, ownHalfOf } from './contenders.js';
import { tiedRuns } from './tied-runs.js';

/** The least effect that counts as a difference, as a share. */
export const EFFECT_MIN = 0.01;

/** @typedef {import('./contenders.js').Contest} Contest */
/** @typedef {'faster' | 'slower' | 'cannot tell'} Answer */

/**
 * @typedef {object} Ratio of the speeds of two contenders, 1.05: the first is 5 % faster
 * @property {number} ratio
 * @property {number} low
 * @property {number} high
 * @property {number} halfWidth as a share: 0.03 is ± 3 %
 * @property {number} n rounds
 * @property {Answer} answer
 * @property {number | null} cannotTellBelow as a share: the greatest difference that the interval
 *   leaves possible; null where it is decided
 */

/**
 * @param {number} difference of logs of time per operation, first less second
 * @param {number} half
 * @param {number} n
 * @returns {Ratio} of the speed of the first to that of the second
 */
export function toRatio(difference, half, n) {
  const value = -difference;
  const answer = answerOf(value, half);
  const greatest = Math.expm1(Math.abs(value) + half);
  return {
    ratio: Math.exp(value),
    low: Math.exp(value - half),
    high: Math.exp(value + half),
    halfWidth: Math.expm1(half),
    n,
    answer,
    cannotTellBelow: answer === 'cannot tell' ? greatest : null,
  };
}

/**
 * @param {number} value log of the ratio of speeds
 * @param {number} half
 * @returns {Answer}
 */
function answerOf(value, half) {
  const shown = Math.abs(value) > half && Math.abs(value) > Math.log1p(EFFECT_MIN);
  if (!shown) return 'cannot tell';
  return value > 0 ? 'faster' : 'slower';
}

/**
 * The interval of a ratio is never narrower than the pair's own rounds say. With the pooled
 * variance alone 94 of 104 intervals of equal contenders contained 1 in real races, where 95 % do
 * in simulated ones: processes are not quite normal, and Levene's test hardly sees one odd round.
 * @param {Contest} contest
 * @param {number} i
 * @param {number} reference
 * @returns {Ratio} speed of i to that of the reference, with the pair's interval; of itself: 1 ± 0
 */
export function ratioTo(contest, i, reference) {
  if (i === reference) return toRatio(0, 0, contest.rounds);
  const { value, half } = differenceOf(contest, i, reference);
  return toRatio(value, Math.max(half, ownHalfOf(contest, i, reference)), contest.rounds);
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
 * @returns {{ standings: Standing[], groups: number[][] }} fastest first; groups: largest runs of
 *   neighbours of which no pair is separated (compact letter display: H.-P. Piepho, 2004)
 */
export function rankContenders(contest) {
  const { k, estimates } = contest;
  const order = [...estimates.keys()].sort((a, b) => estimates[a] - estimates[b]);
  const answers = order.map((i) => order.map((j) => (i === j ? 'cannot tell' : decide(i, j))));
  /** @param {number} i @param {number} j @returns {Answer} */
  function decide(i, j) {
    const { value, halfOfAll } = differenceOf(contest, i, j);
    return answerOf(-value, halfOfAll);
  }
  const standings = order.map((index, at) => ({
    index,
    rank: 1 + answers[at].filter((answer) => answer === 'slower').length,
    rankWorst: k - answers[at].filter((answer) => answer === 'faster').length,
    tiedWith: order.filter((_, j) => j !== at && answers[at][j] === 'cannot tell'),
  }));
  const runs = tiedRuns(k, (i, j) => answers[i][j] === 'cannot tell');
  return { standings, groups: runs.map(([from, to]) => order.slice(from, to)) };
}
