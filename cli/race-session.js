/**
 * Preparation of a race: the destination of its page, several load machines, ceilings, and with
 * --setup temporary servers and rows.
 */

import { parseEndpoint } from '../lib/address.js';
import { limitsFrom } from '../lib/ceilings.js';
import { usageError } from '../lib/errors.js';
import { limitsSource } from './commands/limit.js';
import { coordinatorOf, requireShareable, requireShared } from './fleet-options.js';
import { addressesOf } from './options.js';
import { requirePage } from './result-page.js';

/** @typedef {import('./run-command.js').Session} Session */
/** @typedef {import('../engine/request.js').RunRequest} RunRequest */

/**
 * @param {RunRequest} request its storages are replaced by those of the compared packages
 * @param {Record<string, any>} options options of the command line
 * @param {Session} session
 */
export async function prepareRace({ plan, workload, options: planOptions }, options, session) {
  refuseForOwnData(plan, options);
  refuseForOwnRows(workload, options);
  // The page must also be writable before anything is fetched or measured.
  if (options['html'] !== false && options['json'] !== undefined) await requirePage(options);
  if (options['agents'] !== undefined) {
    requireShareable(plan, options);
    await joinFleet({ ...options, storages: planOptions['storages'] }, session);
  }
  session.limits = await limitsSource(options['limits'], session.progress);
  if (session.limits !== undefined && 'result' in session.limits) {
    const { result, file } = session.limits;
    // Ceilings of other rows are refused before looking for a server; ceilings of another machine
    // later.
    limitsFrom(result, { dataset: plan.dataset, environment: result.environment }, file);
  }
  if (!options['setup']) return;
  const { namedOf, setUp } = await import('./setup.js');
  const named = namedOf(plan);
  const { storagesOfPackages } = await import('../engine/driver-versions.js');
  plan.storages = await storagesOfPackages(plan.against, workload, plan.storages);
  const { dataset, allowTargets, home, tls } = plan;
  const { sizes: valueSize = dataset.valueSizes ?? dataset.valueSize } = plan;
  const rows = { rows: dataset.rows, valueSize, seed: dataset.seed };
  const setUpOptions = { storages: plan.storages ?? undefined, ...rows, allowTargets, home, tls };
  const listed = plan.servers;
  session.stops.push((await setUp({ ...setUpOptions, listed, named }, session)).stop);
}

/**
 * @param {import('../engine/plan.js').RunPlan} plan
 * @param {Record<string, any>} options
 */
function refuseForOwnData({ workloadOptions }, options) {
  if (workloadOptions['readOnly'] !== true) return;
  for (const name of ['setup', 'limits', 'agents']) {
    if (options[name] === undefined) continue;
    throw usageError(`--read-only and --${name} cannot be combined`, 'leave out one');
  }
}

/**
 * @param {import('../lib/types.js').WorkloadDefinition} workload
 * @param {Record<string, any>} options
 */
function refuseForOwnRows({ name: workload, namespace }, options) {
  if (namespace === undefined) return;
  for (const [name, reason] of Object.entries({
    limits: 'ceilings measure reads of the dataset',
    agents: 'each process knows only the rows that it inserts itself',
  })) {
    if (options[name] === undefined) continue;
    throw usageError(
      `--${name} and the workload ${workload}, which has separate rows: ${reason}`,
      `leave out --${name}, or use only get and set in --mix`,
    );
  }
}

/**
 * The race starts only if all load machines are available.
 * @param {Record<string, any>} options
 * @param {Session} session
 */
async function joinFleet(options, session) {
  const { progress, signal } = session;
  const storages = await requireShared(options);
  const coordinator = await coordinatorOf(options);
  const { openFleet } = await import('../packages/fleet/controller.js');
  const { recordFleet } = await import('../packages/fleet/fleet-record.js');
  const { requireOther } = await import('../packages/fleet/allowed-targets.js');
  const { runnerOf } = await import('../packages/fleet/fleet-rounds.js');
  const named = Object.entries(addressesOf(options))
    .filter(([flag]) => !flag.startsWith('tls-'))
    .map(([, text]) => parseEndpoint(text.split(',')[0]));
  requireOther(named, coordinator.endpoint);
  const fleet = await openFleet({
    coordinator,
    storages,
    signal,
    agents: options['agents'],
    onLoss: options['onAgentLoss'],
    waitMs: options['agentWait'],
    onWaiting: (ready, count) => progress.update(`${ready} of ${count} agents are ready`),
  });
  session.stops.push(() => fleet.close());
  session.fleet = {
    signal: fleet.signal,
    runner: runnerOf(fleet),
    watch: recordFleet(fleet),
  };
}
