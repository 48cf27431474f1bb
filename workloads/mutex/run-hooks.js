/**
 * What `dragstrip mutex` says of its result: the original program's lines, the verdict of stress.
 */

import { usageError } from '../../lib/errors.js';
import { stressVerdict } from './analysis.js';
import { legacyLinesOf } from './legacy.js';
import { WHO_HAS_WHAT } from './plan.js';

/** @type {NonNullable<import('../../lib/types.js').RunHooks['output']>} */
export function output(result, { test, quiet }) {
  if (result.benchmarks.length === 0) {
    throw usageError('none of these storages implements any of these locks', WHO_HAS_WHAT);
  }
  const tables = quiet ? /** @type {const} */ ('none') : undefined;
  if (test === 'stress') {
    return { tables, after: `${quiet ? '' : '\n'}verdict: ${stressVerdict(result).text}\n` };
  }
  const blocks = /** @type {const} */ (['lock', 'count'])
    .map((one) => legacyLinesOf(result, one))
    .filter((lines) => lines.length > 0);
  return { before: blocks.map((lines) => `${lines.join('\n')}\n\n`).join(''), tables };
}

/** @type {NonNullable<import('../../lib/types.js').RunHooks['status']>} */
export function status(result, usual, { test }) {
  const one = usual(result);
  if (test !== 'stress' || one !== 0) return one;
  return stressVerdict(result).verdict === 'held' ? 0 : 5;
}
