/**
 * The namespace of a workload around all rounds of a run: claimed on each server before measuring,
 * filled with rows if the workload requests it, removed however the run ends. One run at a time
 * owns data on a server of this machine; the next run takes over and removes the remains of a
 * killed one.
 */

import { rmSync } from 'node:fs';
import path from 'node:path';
import { getLoader } from '../data/loaders/index.js';
import { openNamespace } from '../data/namespaces/index.js';
import { formatEndpoint } from '../lib/address.js';
import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { listFolder } from '../lib/folder.js';
import { ownerMayLive, ownerName } from '../lib/process-identity.js';
import { serversOf, withServerLocks } from './server-locks.js';

/** @typedef {import('../lib/result.js').Warning} Warning */
/** @typedef {import('../lib/types.js').Namespace} Namespace */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/**
 * @typedef {object} NamespaceRun
 * @property {import('./plan.js').RunPlan} plan
 * @property {readonly import('./value-sizes.js').OwnRows[]} namespaces namespaces, with their rows
 *   if they have any
 * @property {readonly import('./targets.js').StorageTarget[]} storages
 * @property {string} home
 * @property {AbortSignal} [signal]
 * @property {(event: import('./runner.js').RunEvent) => void} [onEvent]
 */

/**
 * @param {NamespaceRun} run
 * @param {(folder: string) => Promise<void>} work folder: location of the files of embedded
 *   stores
 * @returns {Promise<{ warnings: Warning[] }>} namespaces that could not be removed
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET, E_REFUSED, E_ABORTED: it could not
 *   be claimed, and created data have been removed; errors of `work`
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

/**
 * Only one run at a time owns data on a server of this machine. A loader of rows is waited for.
 * @param {Pick<NamespaceRun, 'plan' | 'storages' | 'home' | 'signal' | 'onEvent'>} run
 * @param {(servers: ServerTarget[]) => Promise<void>} work
 * @returns {Promise<void>}
 */
function aloneOnServers({ plan, storages, home, signal, onEvent }, work) {
  /** @type {Map<string, ServerTarget>} */
  const servers = new Map();
  for (const server of serversOf(storages)) {
    const [first] = Object.values(server.address);
    servers.set(`${kindOf(server)}@${formatEndpoint(first)}`, server);
  }
  const all = [...servers.values()];
  return withServerLocks(all, { home, purpose: plan.command, signal, onEvent }, () => work(all));
}

/**
 * Keeps no connection open while benchmarks run, since the server would have to serve it.
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
 * Ignores the run's signal, so that namespaces are removed after Ctrl-C too. Unclaimed ones lack
 * Dragstrip's mark and stay.
 * @param {ServerTarget} server
 * @param {Namespace} namespace
 * @returns {Promise<number | Warning>} number of rows removed, or a warning why they were not
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
 * A folder for the files of this run; folders of ended runs are removed.
 * @param {string} home
 * @param {string} name name of the namespace
 * @returns {string} not yet created: the stores create it when they fill it
 */
function ownFolder(home, name) {
  const embedded = path.join(home, 'embedded');
  for (const leaf of listFolder(embedded)) {
    const [prefix, ...owner] = leaf.split('.');
    if (prefix !== name || ownerMayLive(owner.join('.'))) continue;
    rmSync(path.join(embedded, leaf), { recursive: true, force: true });
  }
  return path.join(embedded, `${name}.${ownerName()}`);
}

/**
 * @param {Pick<ServerTarget, 'name' | 'listed'>} server
 * @returns {string} server of the loader and of the namespaces
 */
function kindOf({ name, listed }) {
  return listed?.kind ?? name;
}
