/**
 * Makes foreign texts safe for a terminal, such as a server's error message or a string of a stored
 * result: a terminal would execute escape sequences in them. Not for texts with Dragstrip's own
 * colours.
 */

/**
 * Control characters except tab and line feed, and characters that reorder or hide text
 * (bidirectional).
 */
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * @param {string} text
 * @returns {string} the same with these escaped, as `\x1b` and `\u{202e}`
 */
export function printable(text) {
  return text.replace(UNSAFE, (character) => {
    const code = /** @type {number} */ (character.codePointAt(0)).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`;
  });
}
