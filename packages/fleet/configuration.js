/**
 * Configuration that must be equal on all machines of a run: Dragstrip with its source files, Node,
 * drivers, profiles, and environment variables of the process.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPackage } from '../../lib/packages.js';
import { version } from '../../lib/version.js';
import { loadStorage, parseSelection } from '../../storages/index.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folders with modules of benchmark processes. */
const SOURCES = [
  ...['codecs', 'data', 'engine', 'lib', 'limits', 'load', 'measure', 'packages', 'protocols'],
  ...['servers', 'stats', 'storages', 'workloads'],
];
/** Environment variables that change the speed of a Node process. */
const VARIABLES = ['NODE_OPTIONS', 'UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX'];

/**
 * @typedef {object} Identity
 * @property {string} dragstrip
 * @property {string} node
 * @property {string} arch
 * @property {Record<string, string>} drivers version by package
 * @property {string} configuration SHA-256 of the source files, the profiles and the environment
 */

/**
 * @param {readonly string[]} storages names as on the command line
 * @returns {Promise<Identity>} configuration of this machine
 */
export async function identityOf(storages) {
  /** @type {Record<string, string>} */
  const drivers = {};
  /** @type {Record<string, unknown>} */
  const profiles = {};
  for (const text of storages) {
    const { source } = parseSelection(text);
    const definition = await loadStorage(source);
    profiles[source] = definition.profiles;
    if (definition.package === null) continue;
    drivers[definition.package] = findPackage(definition.package)?.version ?? 'not installed';
  }
  const environment = VARIABLES.map((name) => [name, process.env[name] ?? '']);
  const configuration = createHash('sha256')
    .update(JSON.stringify({ profiles, environment, source: sourceDigest() }))
    .digest('hex');
  const { arch, version: node } = process;
  return { dragstrip: version, node, arch, drivers, configuration };
}

/** Digest of the files at the start of the process. @type {string | undefined} */
let digest;

/**
 * Reads some hundred files, which blocks the event loop, so an agent does it before it has a lease.
 * @returns {string}
 */
export function sourceDigest() {
  digest ??= readDigest();
  return digest;
}

function readDigest() {
  const hash = createHash('sha256');
  for (const folder of SOURCES) {
    const files = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => /^(?!.*\btest\/).*\.js$/.test(name)).sort()) {
      hash.update(`${folder}/${file}\0`).update(readFileSync(path.join(ROOT, folder, file)));
    }
  }
  return hash.digest('hex');
}

/**
 * @param {Identity} wanted
 * @param {Identity} actual
 * @returns {string[]} descriptions of the differences; empty: equal
 */
export function differencesOf(wanted, actual) {
  const partsOf = (/** @type {Identity} */ { dragstrip, node, arch, drivers }) =>
    Object.entries({ Dragstrip: dragstrip, Node: node, architecture: arch, ...drivers });
  const actualParts = new Map(partsOf(actual));
  const differences = partsOf(wanted).flatMap(([what, expected]) => {
    const other = actualParts.get(what) ?? 'not installed';
    return other === expected ? [] : `${what} ${other} instead of ${expected}`;
  });
  if (differences.length === 0 && wanted.configuration !== actual.configuration) {
    const [a, b] = [wanted, actual].map(({ configuration }) => configuration.slice(0, 12));
    const parts = 'source files, profiles or environment (NODE_OPTIONS and the like)';
    differences.push(`configuration ${b} instead of ${a}: ${parts}`);
  }
  return differences;
}
