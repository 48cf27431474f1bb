/** Loads a file of the user's own: a storage, a workload or a codec. */

import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { usageError } from './errors.js';

/** What Node says of an ES module that its package.json makes CommonJS (`npm init -y`). */
const NOT_A_MODULE = /Cannot use import statement outside a module|Unexpected token 'export'/;

/**
 * @param {'storage' | 'workload' | 'codec'} kind also the name of its export
 * @param {string} file absolute
 * @param {string} hint how to write one
 * @returns {Promise<any>} what it exports by that name, or by default
 * @throws {import('./errors.js').DragstripError} E_USAGE where there is none, or it does not load
 */
export async function loadOwnFile(kind, file, hint) {
  if (!existsSync(file)) throw usageError(`${kind} ${file}: no such file`);
  const module = await importFile(kind, file);
  const definition = module[kind] ?? module.default;
  if (definition !== undefined) return definition;
  throw usageError(`${kind} ${file} exports no ${kind}`, hint);
}

/** @param {string} kind @param {string} file */
async function importFile(kind, file) {
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
