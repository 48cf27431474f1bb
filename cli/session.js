/**
 * A session of a long-running command: progress, an abort signal, clean-up. Ctrl-C and a closed
 * output stop it, after the clean-up.
 */

import { holdOutput } from './held-output.js';
import { createProgress } from './progress.js';
import { onSignals } from './signals.js';

/** @typedef {Pick<import('./main.js').CommandContext, 'options' | 'stdout' | 'stderr'>} Context */

/**
 * @typedef {object} CommandSession
 * @property {AbortSignal} signal aborted by Ctrl-C or a closed output
 * @property {import('./progress.js').Progress} progress
 * @property {(() => Promise<void>)[]} stops called at the end, in reverse order
 * @property {() => number | null} stopped exit status after the signal
 * @property {(options: Parameters<typeof import('./setup.js').setUp>[0]) => Promise<void>} setUp
 *   with --setup
 */

/**
 * @param {Context} context
 * @param {(session: CommandSession) => Promise<number>} work
 * @param {{ progressTo?: NodeJS.WriteStream, meaning?: string }} [how] progressTo: absent: standard
 *   error; meaning: effect of stopping, for the message
 * @returns {Promise<number>} exit status of the signal, if any, or of the work
 */
export async function inSession({ options, stdout, stderr }, work, how = {}) {
  const progress = createProgress(how.progressTo ?? stderr, { quiet: options.quiet });
  const signals = onSignals(stderr, { before: progress.done, meaning: how.meaning });
  const output = holdOutput(stdout);
  const signal = AbortSignal.any([signals.signal, output.signal]);
  const stopped = () => output.status() ?? signals.status();
  /** @type {CommandSession['stops']} */
  const stops = [];
  /** @type {CommandSession['setUp']} */
  const setUp = async (runOptions) => {
    if (!options.setup) return;
    const setup = await import('./setup.js');
    stops.push((await setup.setUp(runOptions, { signal, progress })).stop);
  };
  try {
    const status = await work({ signal, progress, stops, stopped, setUp });
    return stopped() ?? status;
  } catch (error) {
    const status = stopped();
    if (status === null || error.code === 'E_STORE') throw error;
    return status;
  } finally {
    progress.done();
    for (const stop of stops.reverse()) await stop();
    signals.dispose();
    output.dispose();
  }
}

/**
 * @param {NodeJS.WriteStream} stdout
 * @returns {{ width: number | undefined, color: boolean }} format of a report for it
 */
export function fittedTo(stdout) {
  const color = stdout.isTTY === true && stdout.hasColors();
  return { width: stdout.columns || undefined, color };
}
