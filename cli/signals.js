/** Ctrl-C and SIGTERM: the first asks the work to stop and keeps what there is, the second ends. */

const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

const KEPT = 'results so far are kept';

/**
 * @param {NodeJS.WritableStream} stderr
 * @param {{ before?: () => void, meaning?: string }} [options] before: what is drawn makes room for
 *   the message; meaning: what stopping means here
 * @returns {{ signal: AbortSignal, status: () => number | null, dispose: () => void }} status: the
 *   exit status of the signal that came, or null
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
