/** Filling servers with the dataset, as `dragstrip seed` does: for programs. */

import { getLoader, loaderNames } from '../data/loaders/index.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { hideSecrets } from '../lib/secrets.js';
import { readValueSize, sizeOptions } from '../lib/value-sizes.js';
import { requireTlsUse, resolveAddress } from './addresses.js';

/**
 * @typedef {object} SeedOptions
 * @property {readonly string[]} [servers] `redis`, `mysql`, `tarantool`; default: all
 * @property {number} [rows]
 * @property {number | string} [valueSize] characters per value, or a distribution
 * @property {number} [seed]
 * @property {Record<string, string>} [addresses] by the name of their option
 * @property {readonly string[]} [allowTargets] servers on other machines, `host:port`
 * @property {string} [home] the state folder
 * @property {AbortSignal} [signal]
 */

/**
 * @param {SeedOptions} [options]
 * @returns {Promise<({ server: string } & import('../lib/types.js').SeedReport)[]>} what was
 *   written, or was there, counted and sampled
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET; E_REFUSED: data that
 *   Dragstrip has not written
 */
export async function seedServers({ servers = loaderNames, signal, ...options } = {}) {
  const { rows, valueSize, seed, addresses = {}, allowTargets, home = findHome() } = options;
  const size = {
    ...(rows && { rows }),
    ...(valueSize && sizeOptions(readValueSize(valueSize, 'valueSize'))),
  };
  const dataset = createDataset({ ...size, ...(seed !== undefined && { seed }) });
  const loaders = await Promise.all(servers.map((name) => getLoader(name)));
  const found = await Promise.all(
    loaders.map((loader) => resolveAddress(loader.server, { flags: addresses, home })),
  );
  requireTlsUse(
    addresses,
    found.map(({ address }) => address),
  );
  const reports = [];
  for (const [i, loader] of loaders.entries()) {
    const { address, credentials } = found[i];
    try {
      const about = { address, credentials, dataset, allowTargets: [...(allowTargets ?? [])] };
      reports.push({ server: loader.name, ...(await loader.seed({ ...about, signal })) });
    } catch (error) {
      error.message = hideSecrets(error.message, credentials);
      throw error;
    }
  }
  return reports;
}
