/** Texts of ratios and verdicts, equal in every report. */

import { formatRatio, formatShare, formatWidth } from '../lib/format.js';

/** @typedef {import('../stats/separation.js').Ratio} Ratio */

/**
 * @param {Pick<Ratio, 'ratio' | 'halfWidth'>} ratio
 * @returns {string} `0.95× ± 2.1 %`, for a wide interval `0.55× (0.13–2.36)`
 */
export function ratioText({ ratio, halfWidth }) {
  return `${formatRatio(ratio)}${formatWidth(halfWidth, ratio, formatRatio)}`;
}

/**
 * @param {Pick<Ratio, 'answer' | 'possible'>} ratio
 * @returns {string} `slower`, `tied within 2.1 %`, `not resolved below 14 %`: the largest
 *   difference within the interval
 */
export function answerText({ answer, possible }) {
  if (possible === null) return answer;
  return `${answer} ${answer === 'tied' ? 'within' : 'below'} ${formatShare(possible)}`;
}

/**
 * @param {Pick<Ratio, 'ratio' | 'mean'> | null} ratio @returns {string} typical speed and mean
 *   speed
 */
export function partsText(ratio) {
  const [typical, all] = [ratio?.ratio, ratio?.mean].map((one) => formatRatio(one ?? null));
  return `typically ${typical}, with its pauses and late operations ${all}`;
}
