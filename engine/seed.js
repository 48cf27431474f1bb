/** Filling servers with the dataset: for `dragstrip seed`, and for programs. */

import { getLoader, loaderNames } from '../data/loaders/index.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { hideSecrets } from '../lib/secrets.js';
import { readValueSize, sizeOptions } from '../lib/value-sizes.js';
import { withLock } from '../servers/lock.js';
import { resolveAddresses } from './addresses.js';
import { lockOf } from './namespaces.js';

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

/** @typedef {{ server: string } & import('../lib/types.js').SeedReport} ServerReport */

/**
 * @typedef {object} SeedEvents
 * @property {(server: string, rows: number, all: number) => void} [onProgress]
 * @property {(server: string) => void} [onWait] another command fills that server
 * @property {(report: ServerReport, dataset: import('../lib/types.js').Dataset) => void} [onReport]
 */

/**
 * @param {SeedOptions} [options]
 * @param {SeedEvents} [events]
 * @returns {Promise<ServerReport[]>} what was written, or was there, counted and sampled
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET; E_REFUSED: data that
 *   Dragstrip has not written
 */
export async function seedServers(options = {}, events = {}) {
  const { servers = loaderNames, rows, valueSize, seed, addresses = {}, signal } = options;
  const { allowTargets = [], home = findHome() } = options;
  const size = {
    ...(rows && { rows }),
    ...(valueSize && sizeOptions(readValueSize(valueSize, 'valueSize'))),
  };
  const dataset = createDataset({ ...size, ...(seed !== undefined && { seed }) });
  const loaders = await Promise.all(servers.map((name) => getLoader(name)));
  const names = loaders.map(({ server }) => server);
  const found = await resolveAddresses(names, { flags: addresses, home });
  /** @type {ServerReport[]} */
  const reports = [];
  for (const [i, { name, server, seed: fill }] of loaders.entries()) {
    const { address, credentials } = found[i];
    const onProgress = (/** @type {number} */ done) =>
      events.onProgress?.(name, done, dataset.rows);
    const about = { address, credentials, dataset, allowTargets: [...allowTargets], signal };
    const onWait = () => events.onWait?.(name);
    try {
      const lock = lockOf({ name: server, address });
      const seeded = await withLock(lock, { signal, onWait }, () => fill({ ...about, onProgress }));
      reports.push({ server: name, ...seeded });
    } catch (error) {
      error.message = hideSecrets(error.message, credentials);
      throw error;
    }
    events.onReport?.(reports[i], dataset);
  }
  return reports;
}
