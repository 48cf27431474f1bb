/** Ratios and their answers in words, the same on every page. */

import { formatRatio, formatShare } from '../lib/format.js';

/** @typedef {import('../stats/separation.js').Ratio} Ratio */

/**
 * @param {Pick<Ratio, 'ratio' | 'halfWidth'>} ratio
 * @returns {string} `0.95× ± 2.1 %`
 */
export function ratioText({ ratio, halfWidth }) {
  return `${formatRatio(ratio)}${halfText(halfWidth)}`;
}

/**
 * @param {number | null} half of an interval
 * @returns {string} ` ± 2.1 %`, to stand behind a figure; empty without an interval
 */
export function halfText(half) {
  return half === null ? '' : ` ± ${formatShare(half)}`;
}

/**
 * @param {Pick<Ratio, 'answer' | 'possible'>} ratio
 * @returns {string} `slower`, `tied within 2.1 %`, `not resolved below 14 %`: the greatest
 *   difference
 *   that the interval leaves possible
 */
export function answerText({ answer, possible }) {
  if (possible === null) return answer;
  return `${answer} ${answer === 'tied' ? 'within' : 'below'} ${formatShare(possible)}`;
}
