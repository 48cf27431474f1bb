/** Ctrl-C and SIGTERM: the first asks the work to stop and keeps what there is, the second ends. */

const STATUS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/**
 * @param {NodeJS.WritableStream} stderr
 * @param {{ before?: () => void }} [options] before: what is drawn makes room for the message
 * @returns {{ signal: AbortSignal, status: () => number | null, dispose: () => void }} status: the
 *   exit status of the signal that came, or null
 */
export function onSignals(stderr, { before = () => {} } = {}) {
  const controller = new AbortController();
  /** @type {number | null} */
  let status = null;
  /** @param {NodeJS.Signals} name */
  const listener = (name) => {
    if (status !== null) process.exit(STATUS[/** @type {keyof typeof STATUS} */ (name)]);
    status = STATUS[/** @type {keyof typeof STATUS} */ (name)];
    before();
    stderr.write('\nstopping; results so far are kept (press Ctrl-C again to exit immediately)\n');
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
