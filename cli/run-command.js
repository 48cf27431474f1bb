/**
 * Executes a run for a command. A signal or a closed output stops it, and servers and data created
 * for it are removed before the command ends. The result is stored after each benchmark; tables and
 * plots come last.
 */

import { run } from '../index.js';
import { systemClock } from '../measure/clock.js';
import { openLiveOutputs } from './live-outputs.js';
import { openReports } from './outputs.js';
import { openPlots } from './plot-file.js';
import { fittedTo, inSession } from './session.js';
import { openStore } from './storage.js';

/** @typedef {import('../index.js').RunOptions} RunOptions */
/** @typedef {RunOptions | import('../engine/request.js').RunRequest} Run */
/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @typedef {import('./session.js').CommandSession & { limits?: import('../index.js').LimitsSource,
 *   fleet?: { signal: AbortSignal, runner: import('../engine/rounds.js').RoundRunner, watch:
 *   (event: RunEvent) => void } }} Session limits, fleet (several load machines): returned by
 *   `begin`
 */

/**
 * @typedef {object} CommandRun the parts of a run that differ per command
 * @property {(session: Session) => Run | Promise<Run>} begin returns the run; adds a function to
 *   `stops` for servers that it starts
 * @property {(session: Session) => (event: RunEvent) => void} show
 * @property {(result: Result) => Promise<void>} printReport writes the result to standard output
 * @property {(result: Result) => Promise<{ name: string, svg: string }[]>} [draw] plots of --svg
 * @property {(result: Result) => number} exitStatus exit status of a finished run
 * @property {{ json?: string, out?: string, force?: boolean }} [destination] destination of the
 *   result; absent: as in the options
 * @property {(result: Result, file: string) => Promise<void>} [afterwards] called when the result
 *   is stored; absent: its path is printed on standard error
 */

/**
 * @param {import('./session.js').Context} context
 * @param {CommandRun} command
 * @returns {Promise<number>} exit status
 */
export function runCommand(context, command) {
  const { options, stderr } = context;
  const { begin, show, printReport, draw, exitStatus, destination = options } = command;
  const { afterwards = async (_, file) => void stderr.write(`result: ${file}\n`) } = command;
  return inSession(context, async (/** @type {Session} */ session) => {
    const { signal, progress, stops, stopped } = session;
    const store = await openStore(destination);
    const plot = draw === undefined ? null : await openPlots(options.svg, draw);
    const reports = await openReports(options);
    const runOptions = await begin(session);
    const live = await openLiveOutputs(options, stderr);
    if (live !== null) stops.push(live.close);
    const watch = show(session);
    /** @type {Promise<void>} */
    let stored = Promise.resolve();
    const { fleet } = session;
    const result = await run(runOptions, {
      signal: fleet === undefined ? signal : AbortSignal.any([signal, fleet.signal]),
      ...(live && { detail: live.detail }),
      ...(fleet && { runner: fleet.runner }),
      limits: session.limits,
      onPartial: store === null ? undefined : keepPartial(store),
      onEvent(event) {
        fleet?.watch(event);
        live?.watch(event);
        watch(event);
        if (store === null || (event.type !== 'benchmark-end' && event.type !== 'finished')) return;
        if (event.type === 'benchmark-end' && event.more) return;
        stored = store.write(event.result);
        stored.catch(() => {}); // awaited after the clean-up
      },
    });
    progress.done();
    await printReport(result);
    await stored;
    await live?.flush();
    if (store !== null) await afterwards(result, String(store.file()));
    if (stopped() !== null) return exitStatus(result);
    await plot?.write(result);
    await reports.write(result);
    return exitStatus(result);
  });
}

/** Storing partial measurements of a benchmark takes at most this fraction of the time. */
const PARTIAL_SHARE_MAX = 0.02;

/**
 * @param {import('./storage.js').ResultStore} store
 * @returns {(result: Result) => Promise<void> | void} stores the result unless this would load the
 *   machine too much
 */
function keepPartial(store) {
  let nextNs = 0;
  return (result) => {
    const startNs = systemClock.now();
    if (startNs < nextNs) return;
    const written = store.write(result, { sync: false });
    nextNs = startNs + (systemClock.now() - startNs) / PARTIAL_SHARE_MAX;
    return written.catch(() => {}); // the next write tries again
  };
}

/**
 * The tables of a result, for the width and colours of the terminal.
 * @param {Result} result
 * @param {NodeJS.WriteStream} stdout
 * @param {{ explain?: boolean }} [options]
 * @returns {Promise<string>}
 */
export async function tablesFor(result, stdout, { explain = false } = {}) {
  const { loadReport } = await import('../report/index.js');
  const { render } = await loadReport('console');
  return `${render(result, { ...fittedTo(stdout), explain }).trimEnd()}\n`;
}

/** @param {Result} result */
export async function picturesOf(result) {
  const { loadPictures } = await import('../report/pictures.js');
  return (await loadPictures())([result]);
}
