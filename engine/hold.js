/**
 * Rows that a run makes for itself: written before anything is measured, in a place of their own,
 * and removed when the run is over, however it ends. One run at a time holds rows on a server of
 * this machine; what a killed one left is taken over and removed by the next.
 */

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { getLoader } from '../data/loaders/index.js';
import { formatEndpoint } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { namesOf } from '../lib/namespace.js';
import { isAlive, ownIdentity } from '../lib/process-identity.js';
import { withLock } from '../servers/lock.js';

/** @typedef {import('./runner.js').RunEvent} RunEvent */
/** @typedef {import('../lib/result.js').Result['warnings'][number]} Warning */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/**
 * @typedef {object} HoldContext
 * @property {import('./plan.js').RunPlan} plan
 * @property {import('../lib/types.js').Namespace} namespace
 * @property {readonly import('./targets.js').StorageTarget[]} storages
 * @property {string} home
 * @property {AbortSignal} [signal]
 * @property {(event: RunEvent) => void} [onEvent]
 */

/**
 * @template T
 * @param {HoldContext} context
 * @param {(folder: string) => Promise<T>} work folder: where embedded stores keep their files
 * @returns {Promise<{ value: T, warnings: Warning[] }>} warnings: rows that could not be removed
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET, E_REFUSED, E_ABORTED: rows could
 *   not be
 *   written, those written were removed again; and what `work` throws
 */
export async function withHeldRows(context, work) {
  return aloneOnServers(context, (servers) => hold(context, servers, work));
}

/**
 * One run at a time has data of its own on a server of this machine.
 * @template T
 * @param {Pick<HoldContext, 'storages' | 'signal' | 'onEvent'>} context
 * @param {(servers: ServerTarget[]) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function aloneOnServers({ storages, signal, onEvent }, work) {
  /** @type {Map<string, ServerTarget>} */
  const servers = new Map();
  for (const { server, unavailable } of storages) {
    if (server !== null && unavailable === null) servers.set(addressOf(server), server);
  }
  const onWait = () => onEvent?.({ type: 'waiting', what: 'another run that holds rows' });
  // In one order for all runs: two of them cannot wait for each other.
  const locked = [...servers.keys()].sort().reduceRight(
    (inner, address) => () => withLock(`/dragstrip/held/${address}`, { signal, onWait }, inner),
    () => work([...servers.values()]),
  );
  return locked();
}

/**
 * @template T
 * @param {HoldContext} context
 * @param {ServerTarget[]} servers
 * @param {(folder: string) => Promise<T>} work
 */
async function hold(context, servers, work) {
  const { plan, onEvent, home } = context;
  const folder = ownFolder(home, context.namespace.name);
  /** @type {ServerTarget[]} */
  const written = [];
  /** @type {Warning[]} */
  const warnings = [];
  try {
    for (const server of servers) {
      written.push(server);
      await write(server, context);
    }
    onEvent?.({ type: 'held', rows: plan.dataset.rows });
    return { value: await work(folder), warnings };
  } finally {
    let removed = 0;
    for (const server of written) {
      const { rows, warning } = await remove(server, context);
      removed = Math.max(removed, rows);
      if (warning !== null) warnings.push(warning);
    }
    rmSync(folder, { recursive: true, force: true });
    const whole = written.length === 0 ? plan.dataset.rows : removed;
    onEvent?.({ type: 'removed', rows: whole, left: warnings });
  }
}

/** @param {ServerTarget} server */
function addressOf({ name, address }) {
  const [first] = Object.values(address);
  return `${name}@${formatEndpoint(first)}`;
}

/**
 * @param {ServerTarget} server
 * @param {HoldContext} context
 */
async function placeOf({ credentialVariables, address }, { namespace, plan }) {
  return {
    address,
    credentials: await readCredentials(credentialVariables),
    places: namesOf(namespace),
    allowTargets: plan.allowTargets,
  };
}

/**
 * @param {ServerTarget} server
 * @param {HoldContext} context
 */
async function write(server, context) {
  const { plan, signal, onEvent } = context;
  const loader = await getLoader(server.name);
  const dataset = createDataset(plan.dataset);
  onEvent?.({ type: 'filling', storage: server.name });
  await loader.seed({ ...(await placeOf(server, context)), dataset, signal });
}

/**
 * Without the run's signal: what was written is removed also after Ctrl-C.
 * @param {ServerTarget} server
 * @param {HoldContext} context
 * @returns {Promise<{ rows: number, warning: Warning | null }>}
 */
async function remove(server, context) {
  const loader = await getLoader(server.name);
  try {
    return { rows: (await loader.remove?.(await placeOf(server, context))) ?? 0, warning: null };
  } catch (error) {
    return {
      rows: 0,
      warning: {
        code: 'ROWS_LEFT',
        message: `the rows of this run could not be removed: ${error.message}`,
        remedy: 'run it once more when the server answers: it takes them over and removes them',
        cell: null,
      },
    };
  }
}

/**
 * A folder for the files of this run alone; those of runs that are no more are removed.
 * @param {string} home
 * @param {string} place
 * @returns {string} not yet made: the stores make it when they fill it
 */
export function ownFolder(home, place) {
  const embedded = path.join(home, 'embedded');
  const { pid, startTicks } = ownIdentity();
  for (const name of listFolder(embedded)) {
    const [prefix, owner, ticks] = name.split('.');
    if (prefix !== place || isAlive({ pid: Number(owner), startTicks: Number(ticks) })) continue;
    rmSync(path.join(embedded, name), { recursive: true, force: true });
  }
  return path.join(embedded, `${place}.${pid}.${startTicks}`);
}

/** @param {string} folder */
function listFolder(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
