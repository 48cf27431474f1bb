/**
 * Ctrl-C and SIGTERM: the first stops the work and keeps its results, the second ends the process.
 */

const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

const KEPT = 'results so far are kept';

/**
 * @param {NodeJS.WritableStream} stderr
 * @param {{ before?: () => void, meaning?: string }} [options] before: called before the message,
 *   to clear the display; meaning: effect of stopping, for the message
 * @returns {{ signal: AbortSignal, status: () => number | null, dispose: () => void }} status: the
 *   exit status of the signal, or null
 */
export function onSignals(stderr, { before = () => {}, meaning = KEPT } = {}) {
  const controller = new AbortController();
  /** @type {number | null} */
  let status = null;
  /** @param {NodeJS.Signals} name */
  const listener = (name) => {
    if (status !== null) process.exit(STATUS[/** @type {keyof typeof STATUS} */ (name)]);
    status = STATUS[/** @type {keyof typeof STATUS} */ (name)];
    before();
    stderr.write(`\nstopping; ${meaning} (press Ctrl-C again to exit immediately)\n`);
    controller.abort();
  };
  const names = /** @type {NodeJS.Signals[]} */ (Object.keys(STATUS));
  for (const name of names) process.on(name, listener);
  return {
    signal: controller.signal,
    status: () => status,
    dispose: () => {
      for (const name of names) process.off(name, listener);
    },
  };
}
