/**
 * Executes a run for a command. A signal or a closed output stops it, and servers and data created
 * for it are removed before the command ends. The result is stored after each benchmark; tables and
 * plots come last.
 */

import { run } from '../index.js';
import { systemClock } from '../measure/clock.js';
import { openLiveOutputs } from './live-outputs.js';
import { openPlots } from './plot-file.js';
import { fittedTo, inSession } from './session.js';
import { openStore } from './storage.js';

/** @typedef {import('../index.js').RunOptions} RunOptions */
/** @typedef {RunOptions | import('../engine/request.js').RunRequest} Run */
/** @typedef {import('../index.js').RunEvent} RunEvent */
/** @typedef {import('../lib/result.js').Result} Result */

/**
 * @typedef {import('./session.js').CommandSession & {
 *   limits?: import('../index.js').LimitsSource,
 *   fleet?: { signal: AbortSignal, runner: import('../engine/rounds.js').RoundRunner,
 *     watch: (event: RunEvent) => void } }} Session limits, fleet (several load machines): given by
 *   `begin`
 */

/**
 * @typedef {object} CommandRun the parts of a run that differ per command
 * @property {(session: Session) => Run | Promise<Run>} begin returns the run; if it
 *   starts servers, it adds their end to `stops`
 * @property {(session: Session) => (event: RunEvent) => void} show
 * @property {(result: Result) => Promise<void>} printReport writes the result to standard output
 * @property {(result: Result) => Promise<{ name: string, svg: string }[]>} [draw] plots of --svg
 * @property {(result: Result) => number} exitStatus of a finished run
 * @property {{ json?: string, out?: string, force?: boolean }} [destination] where the result is
 *   stored; absent: as the options say
 * @property {(result: Result, file: string) => Promise<void>} [afterwards] when the result is
 *   stored; absent: its file is printed on standard error
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
        stored.catch(() => {}); // awaited at the end, after the clean-up
      },
    });
    progress.done();
    await printReport(result);
    await stored;
    await live?.flush();
    if (store !== null) await afterwards(result, String(store.file()));
    if (stopped() === null) await plot?.write(result);
    return exitStatus(result);
  });
}

/** Storing what a running benchmark has measured takes at most this share of the time. */
const PARTIAL_SHARE_MAX = 0.02;

/**
 * @param {import('./storage.js').ResultStore} store
 * @returns {(result: Result) => Promise<void> | void} stores it, unless that would take too much of
 *   the machine
 */
function keepPartial(store) {
  let nextNs = 0;
  return (result) => {
    const startNs = systemClock.now();
    if (startNs < nextNs) return;
    const written = store.write(result, { sync: false });
    nextNs = startNs + (systemClock.now() - startNs) / PARTIAL_SHARE_MAX;
    return written.catch(() => {}); // the next one tries anew
  };
}

/**
 * The tables of a result, fitted to the terminal's width and colours.
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

/**
 * @param {Result} result
 * @param {string} name of the workload, whose own plot is the first one
 */
export async function picturesOf(result, name) {
  const { loadPictures } = await import('../report/pictures.js');
  const pictures = (await loadPictures())([result]);
  const own = pictures.find((one) => one.name.startsWith(name));
  return own === undefined ? pictures : [own, ...pictures.filter((one) => one !== own)];
}
