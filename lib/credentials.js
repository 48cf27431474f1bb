/**
 * Credentials of a server, from the environment or from a file that the environment names
 * (NAME_FILE): never from argv, and they appear in no output. Those of a server that Dragstrip
 * started are in private files. A benchmark's process reads them itself, so that messages do not
 * contain them.
 */

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { locate } from './address.js';
import { unreadable, usageError } from './errors.js';

/** Prefix for the name of a variable that holds a server URL with a user or a password. */
export const OF_URL = 'url:';
/** Longer files are not passwords. */
const BYTES_MAX = 65_536;

/**
 * @param {Record<string, string> | null} sources per field the name of an environment variable, as
 *   in a server definition (with `url:` before it: a field of the URL in it), or the absolute path
 *   of a private file, as in a server's record; null if the server has no credentials
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<import('./types.js').Credentials>}
 * @throws {import('./errors.js').DragstripError} E_USAGE: a named file is unreadable, or readable
 *   by everyone
 */
export async function readCredentials(sources, env = process.env) {
  /** @type {Record<string, string>} */
  const credentials = {};
  for (const [field, source] of Object.entries(sources ?? {})) {
    const value = isAbsolute(source)
      ? readSecretFile(source, `the ${field} of a server started by Dragstrip`, 0o077)
      : source.startsWith(OF_URL)
        ? readUrl(source.slice(OF_URL.length), field, env)
        : readNamed(source, env);
    if (value !== undefined) credentials[field] = value;
  }
  return credentials;
}

/**
 * @param {string} variable
 * @param {string} field
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
function readUrl(variable, field, env) {
  const text = readNamed(variable, env);
  if (text === undefined) return undefined; // on a load machine with another environment
  const located = locate(text.split(/,(?=unix:)/)[0], variable, { anyDatabase: true });
  return field === 'user' ? located.user : located.password;
}

/**
 * @param {string} variable
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined} its value, or the content of the file that NAME_FILE names
 * @throws {import('./errors.js').DragstripError} E_USAGE: unreadable, or readable by everyone
 */
export function readNamed(variable, env) {
  const file = env[`${variable}_FILE`];
  if (file === undefined || file === '') return env[variable];
  return readSecretFile(file, `${variable}_FILE`, 0o007);
}

/**
 * @param {string} file
 * @param {string} what name for the message
 * @param {number} forbidden forbidden permission bits
 * @returns {string}
 * @throws {import('./errors.js').DragstripError} E_USAGE: unreadable, or readable by everyone
 */
export function readSecretFile(file, what, forbidden) {
  let descriptor;
  try {
    descriptor = openSync(file, 'r');
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw usageError(`${what}: ${file} is a folder`, 'name a file in it');
    const { mode, size } = stats;
    if (process.platform !== 'win32' && (mode & forbidden) !== 0) {
      throw usageError(
        `${what}: ${file} is accessible to other users (mode ${(mode & 0o777).toString(8)})`,
        `run \`chmod 600 ${file}\`, and change the secret if others may have read it`,
      );
    }
    if (size > BYTES_MAX) throw usageError(`${what}: ${file} is too large for a secret`);
    return readFileSync(descriptor, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    if (error.code === 'E_USAGE') throw error;
    throw usageError(`${what}: ${file} ${unreadable(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
