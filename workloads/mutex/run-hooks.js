/** Output of `dragstrip mutex`: legacy output, and the verdict of stress. */

import { usageError } from '../../lib/errors.js';
import { lockRow, stressVerdict } from './analysis.js';
import { legacyLinesOf, processLines, startLine } from './legacy.js';
import { WHO_HAS_WHAT } from './plan.js';

/** Handler option of the original program; auto: a script if the server supports it. */
const VARIABLE = 'REDIS_EM_MUTEX_HANDLER';
const BY_VARIABLE = Object.freeze({ pure: 'pure', script: 'script', auto: 'script' });

/** @type {NonNullable<import('../../lib/types.js').RunHooks['fromEnvironment']>} */
export function fromEnvironment({ [VARIABLE]: given }) {
  if (given === undefined || given === '') return {};
  const name = given.toLowerCase();
  if (Object.hasOwn(BY_VARIABLE, name))
    return { handlers: BY_VARIABLE[/** @type {'pure'} */ (name)] };
  throw usageError(
    `${VARIABLE}=${given}: unknown lock implementation`,
    `accepted values: ${Object.keys(BY_VARIABLE).join(', ')}; for others use --handlers`,
  );
}

/**
 * The lock under test in stress, and the final report of each of its processes.
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
