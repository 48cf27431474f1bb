/**
 * The one error class of the project. A message says what is wrong and where; the remedy says which
 * option or command helps. The command line turns the code into an exit status; libraries never
 * exit.
 */

/**
 * Stable codes, and the exit status that the command line gives for each (DESIGN: exit status).
 * @type {Readonly<Record<string, number>>}
 */
export const EXIT_STATUS = Object.freeze({
  E_USAGE: 2,
  E_REFUSED: 3,
  E_TARGET: 4,
  E_INVALID: 5,
  E_REGRESSION: 6,
  E_STORE: 7,
  E_INTERNAL: 70,
  E_ABORTED: 130,
});

/** An error that is meant for the user: one clear line, a remedy, a stable code. */
export class DragstripError extends Error {
  /**
   * @param {keyof typeof EXIT_STATUS & string} code one of EXIT_STATUS
   * @param {string} message what is wrong, and where
   * @param {{ remedy?: string, cause?: unknown }} [options] remedy: the option or command that
   *   helps
   */
  constructor(code, message, options = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DragstripError';
    this.code = code;
    this.remedy = options.remedy;
  }
}

/**
 * @param {string} message
 * @param {string} [remedy]
 * @returns {DragstripError} bad input: exit 2
 */
export function usageError(message, remedy) {
  return new DragstripError('E_USAGE', message, { remedy });
}

/**
 * @param {string} message
 * @param {string} [remedy]
 * @param {unknown} [cause]
 * @returns {DragstripError} a server, driver or store that cannot be used: exit 4
 */
export function targetError(message, remedy, cause) {
  return new DragstripError('E_TARGET', message, { remedy, cause });
}

/**
 * @param {string} message
 * @param {string} [remedy]
 * @returns {DragstripError} refused for safety: exit 3
 */
export function refusedError(message, remedy) {
  return new DragstripError('E_REFUSED', message, { remedy });
}
