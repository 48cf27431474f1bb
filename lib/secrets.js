/** Removes secrets from texts before they are shown. It neither reads nor stores secrets. */

import { printable } from './printable.js';

/**
 * A server may echo received data, including the password.
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
