/**
 * What `dragstrip mutex` says of its result: the original program's lines, the verdict of stress.
 */

import { usageError } from '../../lib/errors.js';
import { lockRow, stressVerdict } from './analysis.js';
import { legacyLinesOf, processLines, startLine } from './legacy.js';
import { WHO_HAS_WHAT } from './plan.js';

/**
 * Which lock stress is testing, and what each of its processes said when it ended.
 * @type {NonNullable<import('../../lib/types.js').RunHooks['legacyLines']>}
 */
export function legacyLines({ test, quiet }) {
  return (event) => {
    if (test !== 'stress' || quiet) return [];
    if (event.type === 'benchmark-start') return [startLine(event.benchmark)];
    return event.type === 'benchmark-end' ? processLines([event.benchmark]) : [];
  };
}

const TITLES = Object.freeze({ lock: 'Test 1', count: 'Test 2', killed: 'crash recovery' });

/** @type {NonNullable<import('../../lib/types.js').RunHooks['nameOf']>} */
export function nameOf(benchmark) {
  const { label, test, keys } = lockRow(benchmark);
  const title = /** @type {Readonly<Record<string, string>>} */ (TITLES)[test];
  if (title === undefined) return `${test}: ${label}`;
  return `${title}: ${label}${test === 'killed' ? '' : `, keys ${keys}/${2 * keys - 1}`}`;
}

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
