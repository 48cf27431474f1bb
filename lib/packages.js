/**
 * Installed npm packages: whether one is installed, and its version, without loading it. It
 * installs nothing.
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
 * Searches the same folders as Node's own resolution: node_modules next to this file and in each
 * folder above, then from the working directory, for drivers of the user. require.resolve is
 * unsuitable, because `exports` of some packages hide their package.json.
 * @param {string} name npm name, including its scope
 * @param {string} [importer] absolute path of the importing file, whose resolution comes first;
 *   without a match it may wrap a storage of Dragstrip, which provides the package; absent:
 *   Dragstrip
 * @returns {InstalledPackage | null} null if it is not installed
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
 * @returns {InstalledPackage | null} null for a broken installation
 */
function readPackage(folder, name) {
  const manifest = readManifest(folder);
  return manifest === null ? null : { name, version: String(manifest.version), folder };
}

/**
 * @param {string} folder
 * @returns {Record<string, any> | null} its package.json; null: none readable
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
 * @param {string} file absolute path
 * @returns {{ name: string, folder: string } | null} the package that contains it: the nearest
 *   package.json with a name
 */
export function packageOfFile(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const name = readManifest(folder)?.['name'];
    if (typeof name === 'string') return { name, folder };
    if (path.dirname(folder) === folder) return null;
  }
}
