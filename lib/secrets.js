/** Secrets in texts: taken out before anybody sees them. Not for reading or keeping any. */

import { printable } from './printable.js';

/**
 * A server may repeat what it was sent, the password too.
 * @param {string} text
 * @param {import('./types.js').Credentials} credentials
 * @returns {string} the same with each secret replaced by three stars, safe for a terminal
 */
export function hideSecrets(text, { password, secret, writeSecret }) {
  let shown = text;
  for (const hidden of [password, secret, writeSecret]) {
    if (hidden) shown = shown.replaceAll(hidden, '***');
  }
  return printable(shown);
}
