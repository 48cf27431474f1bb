/**
 * The programming interface: everything that the command line does can be done from a program. It
 * prints nothing, writes no file, and does not end the process.
 *
 *     import { run } from 'dragstrip';
 *     const result = await run({ storages: ['ioredis'], loads: [{ kind: 'window', inFlight: 64 }] });
 */

import { runRace } from './run/runner.js';

export { createDataset } from './dataset.js';
export {
  defineLoader,
  defineReport,
  defineServer,
  defineStorage,
  defineWorkload,
} from './define.js';
export { DragstripError } from './errors.js';
export { parseResult, resultJsonSchema } from './result.js';
export { version } from './version.js';

/** @typedef {import('./run/plan.js').RunOptions} RunOptions */
/** @typedef {import('./run/runner.js').RunEvent} RunEvent */
/** @typedef {import('./result.js').Result} Result */

/**
 * Runs the point reads over the storages that can run here (or those named), and gives the result
 * document.
 * @param {RunOptions} [options] storages, loads, rounds, warmupOperations, seed, rows, valueSize,
 *   timeoutMs, addresses, home
 * @param {{ signal?: AbortSignal, onEvent?: (event: RunEvent) => void }} [context] signal stops
 *   the run and gives what was measured until then, state `aborted`
 * @returns {Promise<Result>} also where operations failed: look at the outcomes
 * @throws {import('./errors.js').DragstripError} E_USAGE: options; E_TARGET: a storage that was
 *   named cannot run; E_REFUSED: a server that is not on loopback
 */
export function run(options = {}, context = {}) {
  const { signal, onEvent } = context;
  return runRace(options, { signal, onEvent });
}
