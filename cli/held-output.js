/** Standard output of a command that has to clean up, also when its reader has gone away. */

/** What a reader that has gone away leaves: 128 + SIGPIPE. */
const STATUS_EPIPE = 141;

/**
 * A reader that goes away (`| head`) ends other commands at once; here what was made is removed
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
      // What was written last may still fail, and is nobody's any more.
      if (controller.signal.aborted) stdout.on('error', () => {});
    },
  };
}
