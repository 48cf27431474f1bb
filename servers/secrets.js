/**
 * The secrets of a server that Dragstrip starts: random per start, one private file per secret.
 * Records, messages and environments contain the path of a file, never its content.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {import('../lib/types.js').Credentials} Credentials */

/** User name on servers that have users. */
export const OWN_USER = 'dragstrip';

/** @returns {string} 192 random bits in hexadecimal, which need no escaping in any file format */
export function randomSecret() {
  return randomBytes(24).toString('hex');
}

/**
 * @param {string} folder folder of the server, private
 * @param {Credentials} secrets
 * @returns {Record<string, string>} path per field, as lib/credentials.js reads it
 */
export function writeSecrets(folder, secrets) {
  const entries = Object.entries(secrets);
  if (entries.length === 0) return {};
  const inside = join(folder, 'secrets');
  rmSync(inside, { recursive: true, force: true });
  mkdirSync(inside, { mode: 0o700 });
  return Object.fromEntries(
    entries.map(([field, secret]) => {
      const path = join(inside, field);
      writePrivate(path, secret);
      return [field, path];
    }),
  );
}

/**
 * Replaces a file by one that only this user can read; the old one is removed with its permissions.
 * @param {string} path
 * @param {string} text
 */
export function writePrivate(path, text) {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
}
