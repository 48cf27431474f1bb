/**
 * The namespace of a workload around all rounds of a run: claimed on each server before anything is
 * measured, filled with rows where the workload says so, removed however the run ends. One run at a
 * time owns data on a server of this machine; what a killed run left is taken over and removed by
 * the next.
 */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { getLoader } from '../data/loaders/index.js';
import { openNamespace } from '../data/namespaces/index.js';
import { formatEndpoint } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { refusedError } from '../lib/errors.js';
import { listFolder } from '../lib/folder.js';
import { isAlive, ownIdentity } from '../lib/process-identity.js';
import { machineLock, withLock } from '../servers/lock.js';

/** @typedef {import('../lib/result.js').Warning} Warning */
/** @typedef {import('../lib/types.js').Namespace} Namespace */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/**
 * @typedef {object} NamespaceRun
 * @property {import('./plan.js').RunPlan} plan
 * @property {readonly import('./value-sizes.js').OwnRows[]} namespaces with the rows of those that
 *   have some
 * @property {readonly import('./targets.js').StorageTarget[]} storages
 * @property {string} home
 * @property {AbortSignal} [signal]
 * @property {(event: import('./runner.js').RunEvent) => void} [onEvent]
 */

/**
 * @param {NamespaceRun} run
 * @param {(folder: string) => Promise<void>} work folder: where embedded stores keep their files
 * @returns {Promise<{ warnings: Warning[] }>} what could not be removed
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET, E_REFUSED, E_ABORTED: it could not
 *   be claimed, what was created was removed again; and what `work` throws
 */
export async function withNamespaces(run, work) {
  const { namespaces, onEvent, home } = run;
  const rows = namespaces.reduce(
    (sum, one) => sum + (one.namespace.rows ? one.dataset.rows : 0),
    0,
  );
  /** @type {Warning[]} */
  const warnings = [];
  await aloneOnServers(run, async (servers) => {
    const folder = ownFolder(home, namespaces[0].namespace.name);
    /** @type {{ server: ServerTarget, namespace: Namespace }[]} */
    const begun = [];
    try {
      for (const server of servers) {
        for (const one of namespaces) {
          begun.push({ server, namespace: one.namespace });
          await claim(server, one, run);
        }
      }
      if (rows > 0) onEvent?.({ type: 'held', rows });
      await work(folder);
    } finally {
      /** @type {Map<ServerTarget, number>} */
      const removed = new Map();
      for (const { server, namespace } of begun) {
        const released = await release(server, namespace);
        if (typeof released !== 'number') warnings.push(released);
        else removed.set(server, (removed.get(server) ?? 0) + released);
      }
      rmSync(folder, { recursive: true, force: true });
      const most = begun.length === 0 ? rows : Math.max(0, ...removed.values());
      if (rows > 0) onEvent?.({ type: 'removed', rows: most, left: warnings });
    }
  });
  return { warnings };
}

/** What the lock of a server says of its holder. */
const RUN = 'run';

/**
 * Only one run at a time owns data on a server of this machine. A loader of rows is waited for;
 * another run is not: it may take long, and both would measure each other.
 * @param {Pick<NamespaceRun, 'storages' | 'signal' | 'onEvent'>} run
 * @param {(servers: ServerTarget[]) => Promise<void>} work
 * @returns {Promise<void>}
 */
async function aloneOnServers({ storages, signal, onEvent }, work) {
  /** @type {Map<string, ServerTarget>} */
  const servers = new Map();
  for (const { server, unavailable } of storages) {
    if (server !== null && unavailable === null) servers.set(lockOf(server), server);
  }
  const onWait = () => onEvent?.({ type: 'waiting', what: 'another command that fills a server' });
  // In one order for all runs: two of them cannot wait for each other.
  const locked = [...servers.keys()].sort().reduceRight(
    (inner, lock) => () => {
      const refuse = refusalOf(/** @type {ServerTarget} */ (servers.get(lock)));
      return withLock(lock, { signal, onWait, refuse, purpose: RUN }, inner);
    },
    () => work([...servers.values()]),
  );
  return locked();
}

/**
 * @param {ServerTarget} server
 * @returns {(holder: import('../servers/lock.js').Holder) => void}
 * @throws {import('../lib/errors.js').DragstripError} E_REFUSED if it is a run
 */
function refusalOf({ name, address }) {
  return ({ purpose, pid }) => {
    if (purpose !== RUN) return;
    const [first] = Object.values(address);
    throw refusedError(
      `${name} ${formatEndpoint(first)}: another run is using it: process ${pid} of this machine`,
      'wait until it has ended, or use another server',
    );
  };
}

/**
 * @param {Pick<ServerTarget, 'name' | 'address' | 'listed'>} server
 * @returns {string} the lock of who writes to it, for withLock
 */
export function lockOf(server) {
  const [first] = Object.values(server.address);
  return machineLock(`${kindOf(server)}@${formatEndpoint(first)}`);
}

/**
 * No connection is kept while benchmarks run: it would be one more for the server to serve.
 * @param {ServerTarget} server
 * @param {NamespaceRun['namespaces'][number]} what
 * @param {NamespaceRun} run
 */
async function claim(server, { namespace, dataset }, run) {
  const { address, credentialVariables } = server;
  const name = kindOf(server);
  const { plan, signal, onEvent } = run;
  const context = { address, credentials: await readCredentials(credentialVariables), signal };
  const handle = await openNamespace(name, namespace, context);
  try {
    if (!namespace.rows) await handle.claim();
    else {
      await handle.check();
      if (namespace.grows) await handle.release();
    }
  } finally {
    await handle.close();
  }
  if (!namespace.rows) return;
  onEvent?.({ type: 'filling', storage: name });
  const { seed } = await getLoader(name);
  const { allowTargets } = plan;
  await seed({ ...context, namespace, allowTargets, dataset: createDataset(dataset) });
}

/**
 * Without the run's signal: what was created is removed also after Ctrl-C. What was never claimed
 * has no mark of Dragstrip, and stays.
 * @param {ServerTarget} server
 * @param {Namespace} namespace
 * @returns {Promise<number | Warning>} rows removed; or a warning saying why they were not
 */
async function release(server, namespace) {
  const { address, credentialVariables } = server;
  try {
    const credentials = await readCredentials(credentialVariables);
    const handle = await openNamespace(kindOf(server), namespace, { address, credentials });
    try {
      return await handle.release();
    } finally {
      await handle.close();
    }
  } catch (error) {
    return {
      code: 'ROWS_LEFT',
      message: `the data of this run could not be removed: ${error.message}`,
      hint: 'run the same command again when the server is reachable; it removes the leftover data',
      benchmark: null,
    };
  }
}

/**
 * A folder for the files of this run alone; those of runs that have ended are removed.
 * @param {string} home
 * @param {string} name of the namespace
 * @returns {string} not yet made: the stores make it when they fill it
 */
function ownFolder(home, name) {
  const embedded = path.join(home, 'embedded');
  const { pid, startTicks } = ownIdentity();
  for (const leaf of listFolder(embedded)) {
    const [prefix, owner, ticks] = leaf.split('.');
    if (prefix !== name || isAlive({ pid: Number(owner), startTicks: Number(ticks) })) continue;
    rmSync(path.join(embedded, leaf), { recursive: true, force: true });
  }
  return path.join(embedded, `${name}.${pid}.${startTicks}`);
}

/**
 * @param {Pick<ServerTarget, 'name' | 'listed'>} server
 * @returns {string} whose loader and namespaces it has
 */
function kindOf({ name, listed }) {
  return listed?.kind ?? name;
}
