/** Standard output of a command that has to clean up even after its reader has closed it. */

/** Exit status after the reader has closed the output: 128 + SIGPIPE. */
const STATUS_EPIPE = 141;

/**
 * Other commands end at once when the reader closes the output (`| head`); here the clean-up comes
 * first.
 * @param {NodeJS.WriteStream} stdout
 * @returns {{ signal: AbortSignal, status: () => number | null, dispose: () => void }}
 */
export function holdOutput(stdout) {
  const controller = new AbortController();
  const guards = stdout.listeners('error');
  /** @param {NodeJS.ErrnoException} error */
  const listener = (error) => controller.abort(error);
  stdout.removeAllListeners('error');
  stdout.on('error', listener);
  return {
    signal: controller.signal,
    status() {
      if (!controller.signal.aborted) return null;
      return controller.signal.reason.code === 'EPIPE' ? STATUS_EPIPE : 7;
    },
    dispose() {
      stdout.off('error', listener);
      for (const guard of guards) stdout.on('error', /** @type {any} */ (guard));
      // The last writes may still fail; their errors are ignored.
      if (controller.signal.aborted) stdout.on('error', () => {});
    },
  };
}
