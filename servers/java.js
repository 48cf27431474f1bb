/** Finds Java 17 for Cassandra, its latest supported version: JAVA_HOME, then PATH. */

import { join } from 'node:path';
import { runCommand } from './command.js';
import { findProgram, namedFolders } from './programs.js';

const WANTED = '17';

/** @type {Map<string, Promise<string | null>>} path of a java to its version */
const versions = new Map();

/** @returns {Promise<string | null>} path of a Java 17 */
export async function findJava() {
  for (const folder of listFolders()) {
    const java = await findProgram('java', [folder]);
    if (java === null) continue;
    if (!versions.has(java)) versions.set(java, readVersion(java));
    if ((await versions.get(java))?.split('.')[0] === WANTED) return java;
  }
  return null;
}

/** @returns {Promise<string>} the version found instead, for a message */
export async function describeJava() {
  const found = (await Promise.all(versions.values())).filter((version) => version !== null);
  return found.length === 0 ? 'none found' : `found ${[...new Set(found)].join(', ')}`;
}

function listFolders() {
  const home = process.env['JAVA_HOME'] ?? '';
  return [...(home === '' ? [] : [join(home, 'bin')]), ...namedFolders()];
}

/** @param {string} java */
async function readVersion(java) {
  const { output } = await runCommand(java, ['-version'], { timeoutMs: 10_000 });
  return /version "(\d[^"]*)"/.exec(output)?.[1] ?? null;
}
