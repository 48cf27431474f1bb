/**
 * Installed npm packages: whether one is there, and its version, without loading it. Not for
 * installing any.
 */

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = path.dirname(fileURLToPath(import.meta.url));

/**
 * Looks where Node's own resolution looks: node_modules beside this file and in each folder above.
 * Then from the working directory, for drivers of the user's own.
 * require.resolve would not do, because `exports` of some packages hide their package.json.
 * @param {string} name npm name, with its scope
 * @returns {{ name: string, version: string, folder: string } | null} null where it is not there
 */
export function findPackage(name) {
  return findFrom(HERE, name) ?? findFrom(process.cwd(), name);
}

/**
 * @param {string} start
 * @param {string} name
 */
function findFrom(start, name) {
  for (let folder = start; ; folder = path.dirname(folder)) {
    const candidate = path.join(folder, 'node_modules', name);
    const manifest = path.join(candidate, 'package.json');
    if (existsSync(manifest)) {
      try {
        const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
        return { name, version: String(version), folder: candidate };
      } catch {
        return null; // a broken installation is none
      }
    }
    if (path.dirname(folder) === folder) return null;
  }
}
