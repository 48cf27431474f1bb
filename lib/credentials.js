/**
 * Credentials of a server, from the environment or from a file that the environment names
 * (NAME_FILE): never from argv, and they appear in no output. A benchmark's process reads them
 * itself, so that they do not travel in messages either.
 */

import { readFile } from 'node:fs/promises';
import { usageError } from './errors.js';

/**
 * @param {Record<string, string> | null} variables environment variable per field, as in a server
 *   definition; null where the server asks for no credentials
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<import('./types.js').Credentials>}
 * @throws {import('./errors.js').DragstripError} E_USAGE where a named file cannot be read
 */
export async function readCredentials(variables, env = process.env) {
  /** @type {Record<string, string>} */
  const credentials = {};
  for (const [field, variable] of Object.entries(variables ?? {})) {
    const value = await readSecret(variable, env);
    if (value !== undefined) credentials[field] = value;
  }
  return credentials;
}

/**
 * @param {string} variable
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>}
 */
async function readSecret(variable, env) {
  const file = env[`${variable}_FILE`];
  if (file === undefined || file === '') return env[variable];
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw usageError(`${variable}_FILE: ${file} cannot be read (${error.code})`);
  }
}
