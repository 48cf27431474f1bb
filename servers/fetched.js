/**
 * Record of fetched packages: versions, and a digest of each file, compared before each start.
 * Detects damaged, changed, added and removed files. Not a signature, because a program that can
 * write to the state folder can also write the record.
 */

import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { refusedError } from '../lib/errors.js';

const RECORD = 'fetched.json';
/** Number of files read concurrently, in Node's threads. */
const AT_ONCE = 4;

/** @typedef {Record<string, string>} Digests by path: SHA-256, or the target of a link */

/**
 * @param {string} root a folder of fetched files
 * @param {readonly string[]} packages with their versions
 */
export async function recordFetched(root, packages) {
  const record = { packages, files: await digestsOf(root) };
  await writeFile(join(root, RECORD), `${JSON.stringify(record, null, 1)}\n`);
}

/**
 * @param {string} root as for recordFetched; a folder without a record, from early versions, is
 *   used unchecked
 * @param {string} name name of the server
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED: a file differs
 */
export async function requireFetched(root, name) {
  const record = join(root, RECORD);
  if (!existsSync(record)) return;
  const files = filesIn(await readFile(record, 'utf8'));
  const digests = await digestsOf(root);
  const changed = Object.keys({ ...files, ...digests }).filter(
    (path) => files[path] !== digests[path],
  );
  if (changed.length === 0) return;
  const more = changed.length === 1 ? '' : ` (and ${changed.length - 1} more)`;
  throw refusedError(
    `${name}: ${join(root, changed[0])}${more} was changed after the download`,
    `remove ${root}, then run \`npx dragstrip servers fetch ${name}\``,
  );
}

/**
 * @param {string} text text of a record
 * @returns {Digests} empty if it is damaged, so that no file matches
 */
function filesIn(text) {
  try {
    return { ...JSON.parse(text).files };
  } catch {
    return {};
  }
}

/** @param {string} root @returns {Promise<Digests>} */
async function digestsOf(root) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const all = entries.filter((entry) => !entry.isDirectory());
  /** @type {Digests} */
  const digests = {};
  const work = Array.from({ length: AT_ONCE }, async () => {
    for (let entry = all.pop(); entry !== undefined; entry = all.pop()) {
      const path = join(entry.parentPath, entry.name);
      if (relative(root, path) === RECORD) continue;
      digests[relative(root, path)] = entry.isSymbolicLink()
        ? `link to ${await readlink(path)}`
        : Buffer.from(await crypto.subtle.digest('SHA-256', await readFile(path))).toString('hex');
    }
  });
  await Promise.all(work);
  return Object.fromEntries(Object.entries(digests).sort(([a], [b]) => (a < b ? -1 : 1)));
}
