/**
 * The registry of storages: names to adapters, loaded on demand, because every driver needs time
 * and memory. Not for opening them.
 */

import path from 'node:path';
import { kindOf } from '../lib/capabilities.js';
import { defineStorage } from '../lib/define.js';
import { usageError } from '../lib/errors.js';
import { nearMiss } from '../lib/near-miss.js';
import { loadOwnFile } from '../lib/own-file.js';
import { findPackage } from '../lib/packages.js';
import { findProfile } from '../lib/tls-profile.js';

/**
 * Drivers whose install script fails; storages/hiredis-build.js compiles it. @type {Record<string,
 * string>}
 */
const WITHOUT_SCRIPTS = Object.freeze({ hiredis: '--ignore-scripts ' });

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

/** Every name, in the order of the original program, then later ones. */
export const STORAGE_NAMES = Object.freeze(Object.keys(REGISTRY));

/**
 * Storages of `all`: those without a handle of the kind are omitted; those without an operation are
 * included, and skipped with the reason.
 * @param {readonly import('../lib/types.js').Capability[]} needs needs of a workload
 * @returns {Promise<string[]>} in the order of STORAGE_NAMES
 */
export async function storageNamesFor(needs) {
  const kind = kindOf(needs);
  const all = await Promise.all(STORAGE_NAMES.map(loadStorage));
  // Storages of other runtimes must be named.
  return STORAGE_NAMES.filter(
    (_name, i) => Object.hasOwn(all[i].open, kind) && all[i].runtime === undefined,
  );
}

/**
 * @param {readonly string[]} names names of STORAGE_NAMES
 * @returns {Promise<string[]>} without the alternatives, which must be named
 */
export async function withoutAlternatives(names) {
  const all = await Promise.all(names.map(loadStorage));
  return names.filter((_name, i) => all[i].alternative !== true);
}

/**
 * @typedef {object} Selection
 * @property {string} text as written: `ioredis:tuned`
 * @property {string} source a name of STORAGE_NAMES, or the absolute path of a file
 * @property {string} profile `default` if omitted
 */

/**
 * @param {string} text `name`, `name:profile`, `./file.js`, `./file.js:profile`, or the absolute
 *   path of a file
 * @param {string} [folder] base of relative paths; default: the working directory
 * @returns {Selection}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown name; profiles are checked
 *   when the storage is loaded
 */
export function parseSelection(text, folder = process.cwd()) {
  const selection = splitSelection(text, folder);
  if (!isPath(selection.source)) requireName(selection.source);
  return selection;
}

/**
 * Like `parseSelection`, for any names.
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
 *   or export `storage`, is a definition of defineStorage
 * @returns {Promise<StorageDefinition>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: unknown, or the file does not load
 *   or has no definition
 */
export async function loadStorage(nameOrPath) {
  if (isPath(nameOrPath)) return loadFile(path.resolve(nameOrPath));
  requireName(nameOrPath);
  return (await REGISTRY[nameOrPath]()).storage;
}

/**
 * @param {import('../lib/types.js').Contender} definition
 * @param {string} name
 * @returns {{ name: string } & import('../lib/types.js').Profile} input of `open`
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: it has no such profile
 */
export function requireProfile(definition, name) {
  const found = findProfile(definition, name);
  if (found !== null) return { name, ...found };
  const names = Object.keys(definition.profiles);
  throw usageError(
    `storage "${definition.name}" has no profile "${name}"${nearMiss(name, names)}`,
    `available profiles: ${names.join(', ')}`,
  );
}

/**
 * Reason why a storage cannot run here, apart from its server.
 * @param {import('../lib/types.js').Contender} definition
 * @param {string} [profile]
 * @param {string} [importer] file of a user's storage
 * @returns {Promise<Unavailable | null>} null: it can run
 */
export async function checkAvailable(definition, profile = 'default', importer = undefined) {
  return missingDriver(definition, importer) ?? (await definition.unavailable?.(profile)) ?? null;
}

/**
 * @param {Pick<import('../lib/types.js').Contender, 'package'>} definition
 * @param {string} [importer] file of a user's storage
 * @returns {Unavailable | null} null: its package is installed
 */
export function missingDriver({ package: name }, importer) {
  if (name === null || findPackage(name, importer) !== null) return null;
  return {
    reason: `its driver, the npm package ${name}, is not installed`,
    hint: `npm install ${WITHOUT_SCRIPTS[name] ?? ''}${name}`,
  };
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
    `available storages: ${STORAGE_NAMES.join(', ')}; or your own file, ./my-driver.js`,
  );
}

/**
 * @param {string} file absolute
 * @returns {Promise<StorageDefinition>}
 */
async function loadFile(file) {
  const hint = 'export default defineStorage({ … }); docs/adding.md has an example';
  return defineStorage(await loadOwnFile('storage', file, hint));
}
