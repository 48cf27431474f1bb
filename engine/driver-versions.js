/**
 * Driver versions other than the installed one (`--against ioredis@5`, `--against ./my-fork`):
 * contenders in the same rounds. driver-hooks.js chooses the package that a process loads;
 * drivers/install.js installs them.
 */

import { usageError } from '../lib/errors.js';
import { nearMiss } from '../lib/near-miss.js';
import { contendersOf } from './contenders.js';
import { installDriver } from './drivers/install.js';
import { sourcesOf } from './drivers/sources.js';

/** @typedef {import('./targets.js').StorageTarget} StorageTarget */

/**
 * Also validates the option before servers are set up or packages installed.
 * @param {readonly string[]} against
 * @param {import('./contenders.js').Choice} workload
 * @param {readonly string[] | null} [chosen] storages named by the user
 * @returns {Promise<string[] | null>} these; otherwise the storages that use a named driver; null:
 *   no such option
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: no storage has such a driver, or a
 *   path of `against` is wrong
 */
export async function storagesOfPackages(against, workload, chosen = null) {
  const sources = against.flatMap((text) => sourcesOf(text));
  if (sources.length === 0) return chosen && [...chosen];
  return storagesOfDrivers(sources, workload, chosen);
}

/**
 * @param {readonly Named[]} drivers
 * @param {import('./contenders.js').Choice} workload
 * @param {readonly string[] | null} [chosen] same as above
 * @returns {Promise<string[]>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE
 */
export async function storagesOfDrivers(drivers, workload, chosen = null) {
  const all = await driversOf(workload, chosen);
  const found = drivers.flatMap((named) => {
    const own = all.filter(({ driver }) => driver === named.name);
    if (own.length === 0) throw noDriver(named, all);
    // A variant such as ioredis-cluster takes part only if the driver has no other storage.
    const usual = own.filter(({ isAlternative }) => !isAlternative);
    return (usual.length > 0 ? usual : own).map(({ storage }) => storage);
  });
  return chosen === null ? [...new Set(found)] : [...chosen];
}

/** @typedef {Pick<import('./drivers/sources.js').DriverSource, 'name' | 'text' | 'kind' |
 *   'option'>} Named */
/** @typedef {{ storage: string, driver: string | null, isAlternative: boolean }} Driver */

/**
 * @param {import('./contenders.js').Choice} workload
 * @param {readonly string[] | null} chosen
 * @returns {Promise<Driver[]>} names of the drivers of each participating storage
 */
async function driversOf(workload, chosen) {
  const { names, load, parse } = contendersOf(workload);
  const isAll = chosen === null || chosen.some((text) => text.trim() === 'all');
  const sources = isAll ? await names() : chosen.map((text) => parse(text).source);
  const drivers = [];
  for (const storage of sources) {
    const { package: driver, alternative = false } = await load(storage);
    drivers.push({ storage, driver, isAlternative: alternative });
  }
  return drivers;
}

/**
 * @param {Named} source
 * @param {readonly Driver[]} drivers
 */
function noDriver({ name, text, kind, option = '--against' }, drivers) {
  const known = drivers.flatMap(({ driver }) => driver ?? []);
  return usageError(
    `${option} ${text}: no storage of this run uses the driver ${name}${nearMiss(name, known)}`,
    kind === 'registry'
      ? 'npx dragstrip doctor shows the drivers; name the storage by --storages'
      : 'name the package that it replaces, for example --against ioredis@./my-fork',
  );
}

/**
 * @param {StorageTarget[]} storages storages of the run
 * @param {{ against: readonly string[], onlyAgainst?: boolean }} plan
 * @param {string} home the state folder
 * @returns {Promise<StorageTarget[]>} the same storages, each followed by its contenders
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: no storage has that driver, or two
 *   contenders are the same; E_TARGET: it cannot be installed
 */
export async function withDriverVersions(storages, { against, onlyAgainst = false }, home) {
  const all = [...storages];
  for (const source of against.flatMap((text) => sourcesOf(text))) {
    // A file of rows written by one version of an embedded store must not be read by another.
    const meant = storages.filter(
      ({ definition }) => definition.package === source.name && definition.fill === undefined,
    );
    if (meant.length === 0) throw noDriver(source, []);
    const { driver, unavailable } = await tryInstall(source, home, onlyAgainst);
    for (const base of meant) {
      const { definition, profile } = base;
      const label = `${definition.name}@${driver.label}`;
      if (all.some((one) => one.definition.name === label && one.profile === profile)) {
        throw usageError(
          `--against ${source.text}: this run already contains ${label} with the same code`,
          'leave one out',
        );
      }
      const contender = Object.freeze({ ...definition, name: label });
      const target = { ...base, definition: contender, version: driver.version, driver };
      target.unavailable ??= unavailable;
      const family = all.findLastIndex((one) => one === base || one.base === definition.name);
      all.splice(family + 1, 0, { ...target, base: definition.name });
    }
  }
  return onlyAgainst ? all.filter(({ base }) => base !== undefined) : all;
}

/**
 * @param {import('./drivers/sources.js').DriverSource} source
 * @param {string} home
 * @param {boolean} isSkipped true if it cannot be installed
 */
async function tryInstall(source, home, isSkipped) {
  const { text, name, spec } = source;
  try {
    return { driver: { ...(await installDriver(source, home)), text }, unavailable: null };
  } catch (error) {
    if (!isSkipped || error.code !== 'E_TARGET') throw error;
    const version = spec.slice(spec.lastIndexOf('@') + 1);
    const driver = { name, package: name, version, label: version, folder: '', text };
    return { driver, unavailable: { reason: error.message, hint: error.hint ?? '' } };
  }
}
