/** The exit status of a result. */

import { LOST } from '../engine/lost-servers.js';
import { droppedTooMuch } from '../engine/openloop.js';
import { EXIT_STATUS } from '../lib/errors.js';

/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @param {Result} result
 * @returns {number} 5: a wrong reply, too many drops, a failed benchmark or a run ended by a lost
 *   agent; 4: nothing could run, or nothing with a server, a server was lost, or data of the run
 *   could not be removed; 6: a failed gate
 */
export function statusOf(result) {
  if (hasWrong(result)) return 5;
  if (result.warnings.some(({ code }) => code === 'ROWS_LEFT' || code === LOST)) return 4;
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
  if (endedByLoss(result, measured)) return 5;
  if (measured === 0 || lacksServers(result)) return 4;
  const isRegression = result.gates?.some(({ outcome }) => outcome === 'failed') ?? false;
  return isRegression ? EXIT_STATUS.E_REGRESSION : 0;
}

/** @param {Result} result @returns {boolean} whether a reply was wrong, in any state */
function hasWrong({ benchmarks }) {
  return benchmarks.some(({ rounds }) =>
    rounds.some(({ outcomes }) => outcomes.miss + outcomes.mismatch > 0),
  );
}

/**
 * @param {Result} result
 * @param {number} measured rounds
 * @returns {boolean} an agent was lost outside of a round, for example while measuring the harness
 *   overhead, so rounds are missing but none failed; with `truncate` this is not an error
 */
function endedByLoss({ state, fleet }, measured) {
  if (state !== 'aborted' || fleet?.lost === undefined) return false;
  return fleet.onLoss !== 'truncate' || measured === 0;
}

/**
 * @param {Result} result
 * @returns {boolean} storages with a server were requested, and none could run
 */
function lacksServers({ benchmarks, storages }) {
  const served = storages.filter(({ server }) => server !== null);
  const own = benchmarks.filter(({ storage, profile }) =>
    served.some((one) => one.name === storage && one.profile === profile),
  );
  return own.length > 0 && own.every(({ state }) => state === 'skipped');
}
