/** Loads a file of the user: a storage, a workload, a codec or a configuration. */

import { statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { usageError } from './errors.js';

/** Node's errors for an ES module declared as CommonJS by its package.json (`npm init -y`). */
const NOT_A_MODULE = /Cannot use import statement outside a module|Unexpected token 'export'/;

/**
 * @param {'storage' | 'workload' | 'codec' | 'config'} kind kind of file, also the name of its
 *   export
 * @param {string} file absolute path
 * @param {string} hint hint about writing one
 * @returns {Promise<any>} its export with that name, or the default export
 * @throws {import('./errors.js').DragstripError} E_USAGE: no such export, or it does not load
 */
export async function loadOwnFile(kind, file, hint) {
  const label = `${kind} ${shownPath(file)}`;
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw usageError(`${label}: no such file`);
  if (stats.isDirectory()) throw usageError(`${label}: it is a folder`, 'name a file in it');
  const module = await importFile(label, file);
  const definition = module[kind] ?? module.default;
  if (definition !== undefined) return definition;
  throw usageError(`${label} exports no ${kind}`, hint);
}

/**
 * @param {string} file absolute path
 * @returns {string} relative to this folder if that is shorter
 */
function shownPath(file) {
  const own = path.relative(process.cwd(), file);
  if (own.length >= file.length) return file;
  return own.startsWith('.') ? own : `./${own}`;
}

/** @param {string} label @param {string} file */
async function importFile(label, file) {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    const line = String(error?.message ?? error).split('\n')[0];
    const place = error instanceof SyntaxError ? await placeOfSyntaxError(file) : '';
    throw usageError(
      `${label} does not load: ${place}${line}`,
      NOT_A_MODULE.test(line)
        ? 'name it .mjs, or write "type": "module" into its package.json'
        : undefined,
    );
  }
}

/**
 * Errors of `import` lack it; Node prints it only if the error is not caught.
 * @param {string} file @returns {Promise<string>} `my-driver.js:3: `; also of an import
 */
async function placeOfSyntaxError(file) {
  const { execa } = await import('execa');
  const script = `import ${JSON.stringify(pathToFileURL(file).href)}`;
  const args = ['--input-type=module', '-e', script];
  const { stderr } = await execa(process.execPath, args, { reject: false });
  const [, place] = /^(?:file:\/\/)?\S*\/(\S+:\d+)$/m.exec(String(stderr)) ?? [];
  return place === undefined ? '' : `${place}: `;
}
