/**
 * The set-up of `race --setup`: servers fetched and started for this run only, their rows, and
 * drivers that must be built. Unavailable parts are reported and left out; the race continues
 * without them.
 */

import { getLoader } from '../data/loaders/index.js';
import { resolveAddress } from '../engine/addresses.js';
import { seedServer } from '../engine/seed.js';
import { createDataset } from '../lib/dataset.js';
import { targetError } from '../lib/errors.js';
import { findHome } from '../lib/home.js';
import { sizeOptions } from '../lib/value-sizes.js';
import { DEFAULT_SERVER_NAMES, startServers } from '../servers/index.js';
import { buildHiredis } from '../storages/hiredis-build.js';
import {
  loadStorage,
  missingDriver,
  parseSelection,
  storageNamesFor,
  withoutAlternatives,
} from '../storages/index.js';
import { failureLine } from './failure.js';

/**
 * @param {import('../index.js').RunOptions & { listed?:
 *   import('../engine/server-axis.js').ListedServer[], named?: readonly string[] }} options options
 *   of the run; listed: servers of --servers; named: storages whose drivers must be installed, by
 *   default all of `storages`
 * @param {{ signal: AbortSignal, progress: import('./progress.js').Progress }} context
 * @returns {Promise<{ stop: () => Promise<void> }>} stop ends the servers started here
 */
export async function setUp(options, { signal, progress }) {
  const home = options.home ?? findHome();
  await requireDrivers(options.named ?? options.storages ?? []);
  const chosen = options.storages ?? (await withoutAlternatives(await storageNamesFor(['get'])));
  const kinds = await serversToStart(chosen, options.listed);
  const names = [...kinds.keys()];
  const { failures, stop } = await startServers(names, {
    home,
    owned: true,
    tls: options.tls !== undefined && options.tls !== 'off',
    signal,
    onEvent: ({ server, step, text }) => {
      if (step === 'fetching') progress.update(`${server}: ${text}`);
      else if (step !== 'found') progress.done(`${server} ${step}: ${text}`);
    },
  });
  try {
    for (const { name, error } of failures) {
      progress.done(`${name} is left out: ${failureLine(error)}`);
    }
    const ready = names.filter((name) => !failures.some((failure) => failure.name === name));
    for (const name of ready) {
      if (signal.aborted) break;
      try {
        const loader = await getLoader(kinds.get(name) ?? name);
        await fill(name, options, { loader, signal, progress, home });
      } catch (error) {
        if (error.code !== 'E_TARGET') throw error;
        progress.done(`${name} is left out: ${failureLine(error)}`);
      }
    }
    if (!signal.aborted && (await needsHiredis(chosen))) await buildDrivers(home, progress);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/**
 * @param {import('../engine/plan.js').RunPlan} plan
 * @returns {readonly string[]} storages that use installed drivers, unlike those of --against
 */
export function namedOf({ against, storages }) {
  return against.length === 0 ? (storages ?? []) : [];
}

/**
 * @param {readonly string[]} named
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: a driver is not installed
 */
export async function requireDrivers(named) {
  for (const text of named.filter((name) => name !== 'all')) {
    const { source } = parseSelection(text);
    const missing = missingDriver(await loadStorage(source), source);
    if (missing !== null) throw targetError(`${text}: ${missing.reason}`, missing.hint);
  }
}

/** @param {readonly string[]} selections */
export async function needsHiredis(selections) {
  if (selections.includes('all')) return true;
  const all = await Promise.all(selections.map((text) => loadStorage(parseSelection(text).source)));
  return all.some(({ package: name }) => name === 'hiredis');
}

/**
 * @param {string[]} selections
 * @param {readonly import('../engine/server-axis.js').ListedServer[]} [listed] servers of --servers
 * @returns {Promise<Map<string, string>>} names of their servers, each with the server whose loader
 *   fills it; of the listed ones only those without an address
 */
export async function serversToStart(selections, listed = []) {
  if (listed.length > 0) {
    const own = listed.filter(({ address }) => address === null);
    return new Map(own.map(({ product, kind }) => [product, kind]));
  }
  if (selections.includes('all')) return new Map(DEFAULT_SERVER_NAMES.map((name) => [name, name]));
  const names = new Map();
  for (const text of selections) {
    const { server } = await loadStorage(parseSelection(text).source);
    if (server !== null) names.set(server, server);
  }
  return names;
}

/**
 * @param {string} name
 * @param {import('../index.js').RunOptions} options
 * @param {{ loader: Awaited<ReturnType<typeof getLoader>>, signal: AbortSignal,
 *   progress: import('./progress.js').Progress, home: string }} context
 */
async function fill(name, { rows, valueSize, seed, allowTargets }, context) {
  const { loader, signal, progress, home } = context;
  if (Array.isArray(valueSize)) return; // the run writes its rows itself
  const size = valueSize === undefined ? {} : sizeOptions(valueSize);
  const dataset = createDataset(dropUndefined({ rows, ...size, seed }));
  const { address, credentials } = await resolveAddress(name, { flags: {}, home });
  const report = await seedServer(loader, name, {
    home,
    address,
    credentials,
    dataset,
    allowTargets,
    signal,
    onProgress: (done) => progress.update(`filling ${name}`, done / dataset.rows),
  });
  progress.done(`${name} filled: ${report.rows.toLocaleString('en-US')} rows`);
}

/**
 * @param {string} home
 * @param {import('./progress.js').Progress} progress
 */
async function buildDrivers(home, progress) {
  progress.update('building hiredis');
  const { built, reason } = await buildHiredis({ home });
  if (!built) progress.done(`hiredis is left out: ${reason}`);
}

/**
 * @template {Record<string, unknown>} T
 * @param {T} fields
 * @returns {Partial<T>}
 */
export function dropUndefined(fields) {
  return /** @type {Partial<T>} */ (
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  );
}
