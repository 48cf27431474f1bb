/**
 * What every command that works for a while has: a place for its progress, a signal, an end. Ctrl-C
 * and a reader that has gone away stop it; what it made is removed before it ends.
 */

import { holdOutput } from './held-output.js';
import { createProgress } from './progress.js';
import { onSignals } from './signals.js';

/** @typedef {Pick<import('./main.js').CommandContext, 'options' | 'stdout' | 'stderr'>} Context */

/**
 * @typedef {object} CommandSession
 * @property {AbortSignal} signal of Ctrl-C, or of an output that is closed
 * @property {import('./progress.js').Progress} progress
 * @property {(() => Promise<void>)[]} stops called at the end, the last one first
 * @property {() => number | null} stopped exit status, once the signal came
 * @property {(options: Parameters<typeof import('./setup.js').setUp>[0]) => Promise<void>} setUp
 *   with --setup
 */

/**
 * @param {Context} context
 * @param {(session: CommandSession) => Promise<number>} work
 * @param {{ progressTo?: NodeJS.WriteStream, meaning?: string }} [how] progressTo: absent: standard
 *   error; meaning: what stopping means here
 * @returns {Promise<number>} exit status: of the signal that came, or of the work
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
 * @returns {{ width: number | undefined, color: boolean }} how a report is fitted to it
 */
export function fittedTo(stdout) {
  const color = stdout.isTTY === true && stdout.hasColors();
  return { width: stdout.columns || undefined, color };
}
