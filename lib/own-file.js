/** Loads a file of the user's own: a storage, or a workload. */

import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { usageError } from './errors.js';

/** What Node says of an ES module that its package.json makes CommonJS (`npm init -y`). */
const NOT_A_MODULE = /Cannot use import statement outside a module|Unexpected token 'export'/;

/**
 * @param {string} kind `storage`, `workload`
 * @param {string} file absolute
 * @returns {Promise<any>} its exports
 * @throws {import('./errors.js').DragstripError} E_USAGE where there is none, or it does not load
 */
export async function loadOwnFile(kind, file) {
  if (!existsSync(file)) throw usageError(`${kind} ${file}: no such file`);
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    const line = String(error?.message ?? error).split('\n')[0];
    throw usageError(
      `${kind} ${file} does not load: ${line}`,
      NOT_A_MODULE.test(line)
        ? 'name it .mjs, or write "type": "module" into its package.json'
        : undefined,
    );
  }
}
