/**
 * Installed npm packages: whether one is there, and its version, without loading it. Not for
 * installing any.
 */

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));

/**
 * @typedef {object} InstalledPackage
 * @property {string} name
 * @property {string} version
 * @property {string} folder
 */

/**
 * Looks where Node's own resolution looks: node_modules beside this file and in each folder above.
 * Then from the working directory, for drivers of the user's own.
 * require.resolve would not do, because `exports` of some packages hide their package.json.
 * @param {string} name npm name, with its scope
 * @param {string} [importer] absolute path of the file that imports it: what that file gets comes
 *   first; one that gets none may wrap a storage of Dragstrip, which brings it; absent: Dragstrip
 * @returns {InstalledPackage | null} null where it is not there
 */
export function findPackage(name, importer) {
  const own =
    importer !== undefined && existsSync(importer)
      ? findFrom(path.dirname(realpathSync(importer)), name)
      : null;
  return own ?? findFrom(HERE, name) ?? findFrom(process.cwd(), name);
}

/**
 * @param {string} start
 * @param {string} name
 */
function findFrom(start, name) {
  for (let folder = start; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules', name);
    if (existsSync(path.join(candidate, 'package.json'))) return readPackage(candidate, name);
    if (path.dirname(folder) === folder) return null;
  }
}

/**
 * @param {string} folder
 * @param {string} name
 * @returns {InstalledPackage | null} null: a broken installation is none
 */
function readPackage(folder, name) {
  const manifest = readManifest(folder);
  return manifest === null ? null : { name, version: String(manifest.version), folder };
}

/**
 * @param {string} folder
 * @returns {Record<string, any> | null} its package.json; null: none that can be read
 */
export function readManifest(folder) {
  try {
    const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    return typeof manifest === 'object' ? manifest : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} file absolute
 * @returns {{ name: string, folder: string } | null} the package that it belongs to: the nearest
 *   package.json with a name
 */
export function packageOfFile(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const name = readManifest(folder)?.['name'];
    if (typeof name === 'string') return { name, folder };
    if (path.dirname(folder) === folder) return null;
  }
}
