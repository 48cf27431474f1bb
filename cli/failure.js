/** How a failure is shown: one line that says what, where and what helps; no stack trace. */

import { DragstripError, EXIT_STATUS } from '../lib/errors.js';
import { printable } from '../lib/printable.js';

/**
 * @param {any} error
 * @param {NodeJS.WritableStream} stderr
 * @returns {number} exit status
 */
export function reportFailure(error, stderr) {
  if (error instanceof DragstripError) {
    stderr.write(`dragstrip: ${failureLine(error)}\n`);
    return EXIT_STATUS[error.code] ?? EXIT_STATUS.E_INTERNAL;
  }
  // An internal error: the stack helps to report it.
  stderr.write(`dragstrip: internal error, please report it: ${error?.stack ?? error}\n`);
  return EXIT_STATUS.E_INTERNAL;
}

/**
 * @param {{ message: string, hint?: string | null }} failure
 * @returns {string} one line
 */
export function failureLine({ message, hint }) {
  const line = hint ? `${message}; ${hint}` : message;
  // Not by a pattern, which would take quadratic time over many blanks.
  const parts = line.split('\n').map((part) => part.trim());
  return printable(parts.filter((part) => part !== '').join(' '));
}
