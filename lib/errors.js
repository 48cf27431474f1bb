/**
 * The error class of the project. A message states what is wrong and where; the hint names an
 * option or command that helps. The command line converts the code into an exit status; libraries
 * never exit.
 */

/**
 * Stable codes and the exit status of each.
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

/** An error for the user: one line, a hint, a stable code. */
export class DragstripError extends Error {
  /**
   * @param {keyof typeof EXIT_STATUS & string} code one of EXIT_STATUS
   * @param {string} message the problem and its location
   * @param {{ hint?: string, cause?: unknown }} [options] hint: the option or command that helps
   */
  constructor(code, message, options = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DragstripError';
    this.code = code;
    this.hint = options.hint;
  }
}

/**
 * @param {string} message
 * @param {string} [hint]
 * @returns {DragstripError} invalid input: exit 2
 */
export function usageError(message, hint) {
  return new DragstripError('E_USAGE', message, { hint });
}

/**
 * @param {string} message
 * @param {string} [hint]
 * @param {unknown} [cause]
 * @returns {DragstripError} an unavailable server, driver or store: exit 4
 */
export function targetError(message, hint, cause) {
  return new DragstripError('E_TARGET', message, { hint, cause });
}

/**
 * @param {string} message
 * @param {string} [hint]
 * @returns {DragstripError} refused for safety: exit 3
 */
export function refusedError(message, hint) {
  return new DragstripError('E_REFUSED', message, { hint });
}

/** @type {Readonly<Record<string, string>>} */
const READ_ERRORS = Object.freeze({
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not a folder',
  ENOENT: 'no such file or folder',
  EACCES: 'no permission',
});

/**
 * @param {any} error error about a file or folder named by the user
 * @returns {string} `cannot be read (it is a folder)`
 */
export function unreadable(error) {
  return `cannot be read (${READ_ERRORS[error.code] ?? error.code ?? error.message})`;
}

/**
 * @param {string} message
 * @returns {Error} wrong data; the round or codec has failed
 */
export function dataError(message) {
  return Object.assign(new Error(message), { code: 'E_DATA' });
}
