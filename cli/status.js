/** The exit status that a result stands for. */

import { droppedTooMuch } from '../engine/openloop.js';
import { EXIT_STATUS } from '../lib/errors.js';

/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @param {Result} result
 * @returns {number} 5 where an answer was wrong, too much was dropped or a benchmark failed; 4
 *   where nothing could run, or data of the run could not be removed; 6 where a gate failed
 */
export function statusOf(result) {
  if (result.warnings.some(({ code }) => code === 'ROWS_LEFT')) return 4;
  let measured = 0;
  for (const benchmark of result.benchmarks) {
    if (benchmark.state === 'failed') return 5;
    for (const round of benchmark.rounds) {
      const { outcomes } = round;
      measured += 1;
      if (outcomes.miss + outcomes.mismatch + outcomes.error + outcomes.timeout > 0) return 5;
      if (result.state === 'aborted' || result.searches !== undefined) continue;
      if (outcomes.unsent > 0 || droppedTooMuch(round)) return 5;
    }
  }
  if (measured === 0) return 4;
  const isRegression = result.gates?.some(({ outcome }) => outcome === 'failed') ?? false;
  return isRegression ? EXIT_STATUS.E_REGRESSION : 0;
}
