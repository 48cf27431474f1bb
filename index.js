/**
 * The programming interface, equivalent to the command line. It prints nothing, writes no file, and
 * does not end the process.
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

export * from './define.js';
export { seedServers as seed } from './engine/seed.js';
export { parseResult } from './lib/parse-result.js';
export { resultJsonSchema } from './lib/result.js';
export { compareResults } from './report/analysis/comparison.js';
export { historyOf as history } from './report/analysis/history.js';
export { summarize } from './report/summary.js';

/** Real servers without root, as in `dragstrip servers`. */
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
 * @throws {import('./lib/errors.js').DragstripError} E_USAGE: unknown format
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
 * Runs the point reads over the available storages (or the named ones), and returns the result
 * document.
 * @param {RunOptions | import('./engine/request.js').RunRequest} [options] workload and its own
 *   options, storages, loads, rounds, warmupOperations, seed, rows, valueSize, timeoutMs,
 *   addresses, home
 * @param {{ signal?: AbortSignal, onEvent?: (event: RunEvent) => void, limits?: LimitsSource,
 *   onPartial?: (result: Result) => unknown, processes?:
 *   import('./engine/contender-process.js').ProcessFactory, runner?:
 *   import('./engine/rounds.js').RoundRunner, detail?: { live?: boolean, perSecond?: boolean } }}
 *   [context] signal aborts the run and returns the measurements so far, state `aborted`;
 *   onPartial: called about once per second with the result so far, in which the running rounds are
 *   aborted ones; limits: ceilings to compare with; processes: of the contenders, by default a
 *   separate one for each; runner: of rounds on several load machines; detail: further figures in
 *   the events
 * @returns {Promise<Result>} resolves even if operations failed; check the outcomes
 * @throws {import('./lib/errors.js').DragstripError} E_USAGE: options; E_TARGET: a named storage
 *   cannot run; E_REFUSED: a server that is not on loopback
 */
export function run(options = {}, context = {}) {
  const { limits, signal, ...own } = context;
  return runRace(options, { ...own, signal, limits: limitsBy(limits, signal) });
}

/**
 * Measures the server ceiling of each server and the client ceiling of each storage.
 * @param {RunOptions} [options] same as for run; loads: those of the client ceilings
 * @param {import('./engine/ceilings.js').LimitContext} [context]
 * @returns {Promise<Result>} a result without benchmarks; a ceiling that could not be measured has
 *   a reason
 * @throws {import('./lib/errors.js').DragstripError} same as run
 */
export function limit(options = {}, context = {}) {
  return runLimits(options, context);
}

/**
 * `measure`: before the race, under its own loads, in about a minute or `budgetMs`. Otherwise a
 * result that has them, and its name.
 * @typedef {{ measure: true, budgetMs?: number,
 *   onProgress?: (text: string, share: number) => void }
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
    const { onProgress, budgetMs } = source;
    return (plan, storages) => {
      const able = storages.filter(({ unavailable }) => unavailable === null);
      return measureLimits(plan, able, { signal, onProgress, budgetMs });
    };
  }
  const { result: stored, file } = source;
  return ({ dataset }, _storages, { environment }) =>
    limitsFrom(stored, { dataset, environment }, file);
}
