/** Filling servers with the dataset: for `dragstrip seed`, and for programs. */

import { getLoader, loaderNames } from '../data/loaders/index.js';
import { createDataset } from '../lib/dataset.js';
import { findHome } from '../lib/home.js';
import { requireLoopback } from '../lib/safety.js';
import { hideSecrets } from '../lib/secrets.js';
import { readValueSize, sizeOptions } from '../lib/value-sizes.js';
import { resolveAddresses } from './addresses.js';
import { withServerLocks } from './server-locks.js';

/**
 * @typedef {object} SeedOptions
 * @property {readonly string[]} [servers] `redis`, `mysql`, `tarantool`; default: all
 * @property {number} [rows]
 * @property {number | string} [valueSize] characters per value, or a distribution
 * @property {number} [seed]
 * @property {Record<string, string>} [addresses] addresses by option name
 * @property {readonly string[]} [allowTargets] allowed servers on other machines, `host:port`
 * @property {string} [home] the state folder
 * @property {AbortSignal} [signal]
 */

/** @typedef {{ server: string } & import('../lib/types.js').SeedReport} ServerReport */

/**
 * @typedef {object} SeedEvents
 * @property {(server: string, rows: number, all: number) => void} [onProgress]
 * @property {(server: string) => void} [onWait] called while another command fills that server
 * @property {(report: ServerReport, dataset: import('../lib/types.js').Dataset) => void} [onReport]
 */

/**
 * @param {SeedOptions} [options]
 * @param {SeedEvents} [events]
 * @returns {Promise<ServerReport[]>} rows written or already present, counted and sampled
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET; E_REFUSED: data that
 *   Dragstrip did not write
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
  const resolved = await resolveAddresses(names, { flags: addresses, home });
  /** @type {ServerReport[]} */
  const reports = [];
  for (const [i, loader] of loaders.entries()) {
    const { name, server } = loader;
    const { address, assumed, credentials } = resolved[i];
    const onProgress = (/** @type {number} */ done) =>
      events.onProgress?.(name, done, dataset.rows);
    const about = { address, credentials, dataset, allowTargets: [...allowTargets], signal };
    const onWait = () => events.onWait?.(name);
    try {
      const how = { ...about, assumed, home, onProgress, onWait };
      const seeded = await seedServer(loader, server, how);
      reports.push({ server: name, ...seeded });
    } catch (error) {
      error.message = hideSecrets(error.message, credentials);
      throw error;
    }
    events.onReport?.(reports[i], dataset);
  }
  return reports;
}

/**
 * Existing rows are left unchanged, even while others read them. They are replaced only while no
 * run uses the server.
 * @param {import('../lib/types.js').LoaderDefinition} loader
 * @param {string} name name of the server
 * @param {import('../lib/types.js').SeedContext & { home: string, assumed?: string[],
 *   onWait?: () => void }} context
 * @returns {Promise<import('../lib/types.js').SeedReport>}
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET; E_REFUSED: also while a run uses
 *   the server
 */
export async function seedServer(loader, name, { home, assumed, onWait, ...context }) {
  const { allowTargets, signal } = context;
  // As runs name it. The loader refuses a server that must not be written to.
  const places = Object.entries(context.address).map(async ([which, endpoint]) => [
    which,
    await requireLoopback(endpoint, allowTargets).catch(() => endpoint),
  ]);
  const servers = [{ name, address: Object.fromEntries(await Promise.all(places)), assumed }];
  const lock = { home, signal, onEvent: onWait };
  const there = await withServerLocks(servers, { ...lock, shared: true }, () =>
    loader.verify(context),
  );
  return there ?? withServerLocks(servers, lock, () => loader.seed(context));
}
