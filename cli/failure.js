/** Prints a failure as one line: the problem, its place and a hint; no stack trace. */

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
  // Internal errors have a stack, for bug reports.
  stderr.write(`dragstrip: internal error, please report it: ${error?.stack ?? error}\n`);
  return EXIT_STATUS.E_INTERNAL;
}

/**
 * @param {{ message: string, hint?: string | null }} failure
 * @returns {string} one line
 */
export function failureLine({ message, hint }) {
  const line = hint ? `${message}; ${hint}` : message;
  // Not a regular expression, which would need quadratic time for many blanks.
  const parts = line.split('\n').map((part) => part.trim());
  return printable(parts.filter((part) => part !== '').join(' '));
}
