/**
 * Texts of others, such as a server's error message or a string of a stored result, made safe for a
 * terminal: it would execute the escape sequences in them. Not for texts with colours of our own.
 */

/** C0 without tab and line feed, DEL, and C1. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * @param {string} text
 * @returns {string} the same with control characters written out, as `\x1b`
 */
export function printable(text) {
  return text.replace(
    CONTROLS,
    (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
