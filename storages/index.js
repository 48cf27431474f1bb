/**
 * The registry of storages: names to adapters, loaded when they are needed, because every driver
 * costs time and memory to load. Not for opening them.
 */

import path from 'node:path';
import { kindOf } from '../lib/capabilities.js';
import { defineStorage } from '../lib/define.js';
import { usageError } from '../lib/errors.js';
import { nearMiss } from '../lib/near-miss.js';
import { loadOwnFile } from '../lib/own-file.js';
import { findPackage } from '../lib/packages.js';
import { findProfile } from '../lib/tls-profile.js';

/** @typedef {import('../lib/types.js').StorageDefinition} StorageDefinition */
/** @typedef {import('../lib/types.js').Unavailable} Unavailable */

/** @type {Record<string, () => Promise<{ storage: StorageDefinition }>>} */
const REGISTRY = {
  redis: () => import('./redis.js'),
  ioredis: () => import('./ioredis.js'),
  hiredis: () => import('./hiredis.js'),
  'node-handlersocket': () => import('./node-handlersocket.js'),
  'manual-hs': () => import('./manual-hs.js'),
  tarantool: () => import('./tarantool.js'),
  mysql2: () => import('./mysql2.js'),
  mariadb: () => import('./mariadb.js'),
  mysql: () => import('./mysql.js'),
  iovalkey: () => import('./iovalkey.js'),
  'valkey-glide': () => import('./valkey-glide.js'),
  memory: () => import('./memory.js'),
  lmdb: () => import('./lmdb.js'),
  sqlite: () => import('./sqlite.js'),
  cassandra: () => import('./cassandra.js'),
  'bun-redis': () => import('./bun-redis.js'),
  'ioredis-cluster': () => import('./ioredis-cluster.js'),
  'redis-cluster': () => import('./redis-cluster.js'),
  'iovalkey-cluster': () => import('./iovalkey-cluster.js'),
  'valkey-glide-cluster': () => import('./valkey-glide-cluster.js'),
};

/** Every name, in the order of the original program's lines, then ours. */
export const STORAGE_NAMES = Object.freeze(Object.keys(REGISTRY));

/**
 * What `all` stands for: a storage with no handle of the kind is not in it, one that lacks an
 * operation is, and is skipped with that reason.
 * @param {readonly import('../lib/types.js').Capability[]} needs of a workload
 * @returns {Promise<string[]>} in the order of STORAGE_NAMES
 */
export async function storageNamesFor(needs) {
  const kind = kindOf(needs);
  const all = await Promise.all(STORAGE_NAMES.map(loadStorage));
  // What exists only in another runtime is raced where it is named.
  return STORAGE_NAMES.filter(
    (_name, i) => Object.hasOwn(all[i].open, kind) && all[i].runtime === undefined,
  );
}

/**
 * @param {readonly string[]} names of STORAGE_NAMES
 * @returns {Promise<string[]>} without the alternatives, which run only where they are named
 */
export async function withoutAlternatives(names) {
  const all = await Promise.all(names.map(loadStorage));
  return names.filter((_name, i) => all[i].alternative !== true);
}

/**
 * @typedef {object} Selection
 * @property {string} text as it was written: `ioredis:tuned`
 * @property {string} source a name of STORAGE_NAMES, or the absolute path of a file
 * @property {string} profile `default` where none was written
 */

/**
 * @param {string} text `name`, `name:profile`, `./file.js`, `./file.js:profile`, or the absolute
 *   path of a file
 * @param {string} [folder] that a relative path starts from; default: the working directory
 * @returns {Selection}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where the name is unknown; whether
 *   the profile exists shows when the storage is loaded
 */
export function parseSelection(text, folder = process.cwd()) {
  const selection = splitSelection(text, folder);
  if (!isPath(selection.source)) requireName(selection.source);
  return selection;
}

/**
 * The same for any names.
 * @param {string} text
 * @param {string} [folder]
 * @returns {Selection}
 */
export function splitSelection(text, folder = process.cwd()) {
  const trimmed = text.trim();
  const colon = trimmed.lastIndexOf(':');
  const isProfile = colon > 0 && /^[a-z][a-z0-9-]*$/.test(trimmed.slice(colon + 1));
  const written = isProfile ? trimmed.slice(0, colon) : trimmed;
  const profile = isProfile ? trimmed.slice(colon + 1) : 'default';
  const source = isPath(written) ? path.resolve(folder, written) : written;
  return { text: trimmed, source, profile };
}

/**
 * @param {string} nameOrPath a name of STORAGE_NAMES, or the path of a file whose default export,
 *   or export `storage`, is what defineStorage gives
 * @returns {Promise<StorageDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where there is none, or a file does
 *   not load or does not hold one
 */
export async function loadStorage(nameOrPath) {
  if (isPath(nameOrPath)) return loadFile(path.resolve(nameOrPath));
  requireName(nameOrPath);
  return (await REGISTRY[nameOrPath]()).storage;
}

/**
 * @param {import('../lib/types.js').Contender} definition
 * @param {string} name
 * @returns {{ name: string } & import('../lib/types.js').Profile} as open takes it
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE where it has no such profile
 */
export function requireProfile(definition, name) {
  const found = findProfile(definition, name);
  if (found !== null) return { name, ...found };
  const names = Object.keys(definition.profiles);
  throw usageError(
    `storage "${definition.name}" has no profile "${name}"${nearMiss(name, names)}`,
    `its profiles: ${names.join(', ')}`,
  );
}

/**
 * Why a storage cannot run here, as far as that shows without its server.
 * @param {import('../lib/types.js').Contender} definition
 * @param {string} [profile]
 * @param {string} [importer] file of a storage of the user's
 * @returns {Promise<Unavailable | null>} null: it can
 */
export async function checkAvailable(definition, profile = 'default', importer = undefined) {
  if (definition.package !== null && findPackage(definition.package, importer) === null) {
    return {
      reason: `its driver, the npm package ${definition.package}, is not installed`,
      hint: 'npm install',
    };
  }
  return (await definition.unavailable?.(profile)) ?? null;
}

/** @param {string} text */
function isPath(text) {
  return /^\.{0,2}[/\\]/.test(text) || path.isAbsolute(text) || /\.[cm]?js$/.test(text);
}

/** @param {string} name */
function requireName(name) {
  if (Object.hasOwn(REGISTRY, name)) return;
  throw usageError(
    `unknown storage "${name}"${nearMiss(name, STORAGE_NAMES)}`,
    `the storages: ${STORAGE_NAMES.join(', ')}; or a file of your own, ./my-driver.js`,
  );
}

/**
 * @param {string} file absolute
 * @returns {Promise<StorageDefinition>}
 */
async function loadFile(file) {
  const hint = 'export default defineStorage({ … }); docs/adding-a-storage.md has an example';
  return defineStorage(await loadOwnFile('storage', file, hint));
}
