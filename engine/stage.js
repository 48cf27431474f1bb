/**
 * Data that a workload makes and removes itself, on servers and in a folder of this run: made once
 * before all rounds, removed when the run is over, however it ends.
 */

import { rmSync } from 'node:fs';
import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { aloneOnServers, ownFolder } from './hold.js';

/**
 * @typedef {object} StageRun
 * @property {import('./plan.js').RunPlan} plan
 * @property {import('../lib/types.js').WorkloadDefinition} workload
 * @property {readonly import('./targets.js').StorageTarget[]} storages
 * @property {readonly import('../lib/result.js').Cell[]} cells
 * @property {string} home
 * @property {AbortSignal} [signal]
 * @property {(event: import('./runner.js').RunEvent) => void} [onEvent]
 */

/**
 * @param {StageRun} run
 * @param {(folder: string) => Promise<void>} work folder: of embedded stores
 * @returns {Promise<{ warnings: import('../lib/result.js').Warning[] }>} what could not be removed
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET, E_REFUSED: it could not be made;
 *   and
 *   what `work` throws
 */
export async function withStage(run, work) {
  const { workload, home } = run;
  const folder = ownFolder(home, workload.name);
  /** @type {import('../lib/result.js').Warning[]} */
  const warnings = [];
  await aloneOnServers(run, async (servers) => {
    try {
      const strike = await workload.stage?.(await stageContext(run, servers, folder));
      try {
        await work(folder);
      } finally {
        await strike?.().catch((error) => warnings.push(leftBehind(error)));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return { warnings };
}

/**
 * @param {StageRun} run
 * @param {readonly import('./targets.js').ServerTarget[]} servers
 * @param {string} folder
 * @returns {Promise<import('../lib/types.js').StageContext>}
 */
async function stageContext({ plan, cells, home, signal }, servers, folder) {
  const able = cells.filter(({ state }) => state !== 'skipped');
  const variants = new Map(
    able.map(({ parameters = {} }) => [JSON.stringify(parameters), parameters]),
  );
  return {
    servers: await Promise.all(
      servers.map(async (server) => ({
        name: server.name,
        address: server.address,
        credentials: await readCredentials(server.credentialVariables),
      })),
    ),
    variants: [...variants.values()],
    options: plan.workloadOptions,
    dataset: createDataset(plan.dataset),
    signal,
    allowTargets: plan.allowTargets,
    home,
    folder,
  };
}

/**
 * @param {Error} error
 * @returns {import('../lib/result.js').Warning}
 */
function leftBehind(error) {
  return {
    code: 'ROWS_LEFT',
    message: `the data of this run could not be removed: ${error.message}`,
    remedy: 'run it once more when the server answers: it takes them over and removes them',
    cell: null,
  };
}
