/**
 * Notes on all rows of a result, one line each: scaling over processes.
 */

import { plainText } from '../lib/format.js';
import { loadName } from '../lib/load-name.js';
import { scalingsOf } from './analysis/scaling.js';
import { answerText, ratioText } from './answers.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('./analysis/rows.js').Group} Group */

/**
 * @param {Result} result
 * @param {Group[]} groups
 * @returns {string[]}
 */
export function noteLines(result, groups) {
  return scalingsOf(groups, result.environment).map(scalingLine);
}

/** @param {import('./analysis/scaling.js').Scaling} scaling */
function scalingLine({ label, load, processes, ratio, reason }) {
  const { answer } = ratio;
  const outcome = answer === 'tied' ? 'no gain' : answerText(ratio);
  return plainText(
    `${label}, ${loadName({ ...load, processes: 1 })}: ${processes} processes reach ` +
      `${ratioText(ratio)} of one process: ${outcome}${reason === null ? '' : `; ${reason}`}`,
  );
}
