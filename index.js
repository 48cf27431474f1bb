/**
 * The programming interface: everything that the command line does can be done from a program. It
 * prints nothing, writes no file, and does not end the process.
 *
 *     import { run } from 'dragstrip';
 *     const loads = [{ kind: 'window', inFlight: 64 }];
 *     const result = await run({ storages: ['ioredis'], loads });
 */

import { measureLimits, runLimits } from './engine/ceilings.js';
import { runRace } from './engine/runner.js';
import { limitsFrom } from './lib/ceilings.js';
import { loadReport } from './report/index.js';
import {
  DEFAULT_SERVER_NAMES,
  fetchServers,
  loadServer,
  SERVER_NAMES,
  startServers,
  statusServers,
  stopServers,
} from './servers/index.js';

export { seedServers as seed } from './engine/seed.js';
export { createDataset } from './lib/dataset.js';
export {
  defineLoader,
  defineReport,
  defineServer,
  defineStorage,
  defineWorkload,
} from './lib/define.js';
export { DragstripError } from './lib/errors.js';
export {
  choice,
  choices,
  count,
  counts,
  duration,
  flag,
  names,
  text,
} from './lib/options.js';
export { parseResult } from './lib/parse-result.js';
export { resultJsonSchema } from './lib/result.js';
export { version } from './lib/version.js';
export { compareResults } from './report/analysis/comparison.js';
export { historyOf as history } from './report/analysis/history.js';
export { summarize } from './report/summary.js';

/** Real servers without root, as `dragstrip servers` has them. */
export const servers = Object.freeze({
  fetchServers,
  startServers,
  statusServers,
  stopServers,
  DEFAULT_SERVER_NAMES,
  loadServer,
  SERVER_NAMES,
});

/**
 * A stored result as text.
 * @param {Result | readonly Result[]} result
 * @param {'console' | 'markdown' | 'csv' | 'json' | 'html' | 'pr'} [format] pr: a comment on a pull
 *   request
 * @param {import('./lib/types.js').ReportOptions} [options]
 * @returns {Promise<string>}
 * @throws {import('./lib/errors.js').DragstripError} E_USAGE for a format that is not known
 */
export async function report(result, format = 'console', options = {}) {
  const { render } = await loadReport(format);
  return render(result, options);
}

/** @typedef {import('./engine/plan.js').RunOptions} RunOptions */
/** @typedef {import('./report/summary.js').SummaryRow} SummaryRow */
/** @typedef {import('./engine/runner.js').RunEvent} RunEvent */
/** @typedef {import('./lib/result.js').Result} Result */

/**
 * Runs the point reads over the storages that can run here (or those named), and gives the result
 * document.
 * @param {RunOptions | import('./engine/request.js').RunRequest} [options] workload and its own
 *   options, storages, loads, rounds, warmupOperations, seed, rows, valueSize, timeoutMs,
 *   addresses, home
 * @param {{ signal?: AbortSignal, onEvent?: (event: RunEvent) => void, limits?: LimitsSource,
 *   onPartial?: (result: Result) => unknown,
 *   processes?: import('./engine/contender-process.js').ProcessFactory,
 *   runner?: import('./engine/rounds.js').RoundRunner,
 *   detail?: { live?: boolean, perSecond?: boolean } }} [context] signal stops the run and gives
 *   what was measured until then, state `aborted`; onPartial: called about each second with the
 *   result so far, in which the rounds under way are aborted ones; limits: what the figures are
 *   held against; processes: of the contenders, by default one of its own for each; runner: of
 *   rounds on several load machines; detail: further figures in the events
 * @returns {Promise<Result>} also where operations failed: look at the outcomes
 * @throws {import('./lib/errors.js').DragstripError} E_USAGE: options; E_TARGET: a storage that was
 *   named cannot run; E_REFUSED: a server that is not on loopback
 */
export function run(options = {}, context = {}) {
  const { limits, signal, ...own } = context;
  return runRace(options, { ...own, signal, limits: limitsBy(limits, signal) });
}

/**
 * Measures the server ceiling of each server and the client ceiling of each storage.
 * @param {RunOptions} [options] as of run; loads: those of the client ceilings
 * @param {import('./engine/ceilings.js').LimitContext} [context]
 * @returns {Promise<Result>} a result without benchmarks; a limit that could not be had says why
 * @throws {import('./lib/errors.js').DragstripError} as run
 */
export function limit(options = {}, context = {}) {
  return runLimits(options, context);
}

/**
 * `measure`: before the race, under its own loads. Otherwise a result that has them, and its name.
 * @typedef {{ measure: true, onProgress?: (text: string, share: number) => void }
 *   | { result: Result, file: string }} LimitsSource
 */

/**
 * @param {LimitsSource | undefined} source
 * @param {AbortSignal | undefined} signal
 * @returns {import('./engine/runner.js').RunContext['limits']}
 */
function limitsBy(source, signal) {
  if (source === undefined) return undefined;
  if ('measure' in source) {
    const { onProgress } = source;
    return (plan, storages) => {
      const able = storages.filter(({ unavailable }) => unavailable === null);
      return measureLimits(plan, able, { signal, onProgress });
    };
  }
  const { result: stored, file } = source;
  return ({ dataset }, _storages, { environment }) =>
    limitsFrom(stored, { dataset, environment }, file);
}
