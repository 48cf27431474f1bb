/**
 * Opens a storage for a workload: its handles, the workload bound to them with all keys drawn, and
 * rows read and verified before timing starts.
 */

import { readCredentials } from '../lib/credentials.js';
import { createDataset } from '../lib/dataset.js';
import { namesOf } from '../lib/namespace.js';
import { OK, OUTCOMES } from '../lib/outcome.js';
import { promised } from '../lib/promised.js';
import { requireProfile } from '../storages/index.js';
import { loadWorkload } from '../workloads/index.js';
import { contendersOf, openContender } from './contenders.js';
import { withTimeout } from './guard.js';
import { ownDataOf } from './own-data.js';
import { openPool, poolSize, poolWorkload } from './pool.js';
import { operationsOf, shareWorkload } from './share.js';
import { rowsOf } from './value-sizes.js';

/** Rows read and verified in full before the clock starts. */
export const CHECK_ROWS = 64;
/** Time limit for emptying and counting tables. */
const HOOK_TIMEOUT_MS = 120_000;

/**
 * Describes how to open a load of a storage: names and options, never functions.
 * @typedef {object} BenchmarkSpec
 * @property {string} storage name of a contender, or path of a file
 * @property {string} profile
 * @property {string} workload
 * @property {Record<string, unknown>} workloadOptions
 * @property {import('../lib/result.js').Load} load
 * @property {number} [operations] number of keys to draw; absent: one per operation of the load
 * @property {import('./share.js').Share} [share] share of the load that this process executes
 * @property {import('../lib/types.js').Slot} [slot] number of its variant among those that run side
 *   by side
 * @property {import('../lib/types.js').Address} address
 * @property {OtherServer[]} [others] further servers that the workload uses
 * @property {Record<string, string> | null} credentialVariables environment variables that hold the
 *   credentials
 * @property {number[]} serverPids
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {import('./own-data.js').OwnKeys} [own] keys of the user that replace the dataset
 * @property {string} folder
 * @property {number} seed
 * @property {number} [round] index of the round
 * @property {number} stallNs
 */

/**
 * @typedef {object} OtherServer
 * @property {string} name
 * @property {import('../lib/types.js').Address} address
 * @property {Record<string, string> | null} [credentialVariables]
 * @property {number[]} pids
 *
 * @typedef {object} BenchmarkContext
 * @property {import('../measure/usage.js').Instruments} instruments
 * @property {AbortSignal} [signal]
 * @property {AbortSignal} [crash] reason: an uncaught error of the driver
 */

/**
 * @typedef {object} OpenedStorage
 * @property {readonly import('../lib/types.js').Handle[]} handles one handle, or those of a pool;
 *   closing the first one closes all
 * @property {import('../lib/types.js').CallStyle} calls
 * @property {import('../lib/types.js').Dataset} dataset
 * @property {import('../lib/types.js').Contender} contender
 * @property {import('../lib/types.js').Origin} origin
 * @property {() => Promise<import('../lib/types.js').Handle>} open opens another handle
 * @property {import('./reconnecting.js').OutageWatch} [outage] watch of outages, with --on-outage
 *   continue
 */

/**
 * @param {BenchmarkSpec} spec
 * @returns {Promise<OpenedStorage>}
 */
export async function openStorage(spec) {
  const workload = await loadWorkload(spec.workload);
  const rows = rowsOf(spec);
  const { needs, namespace = rows.namespace, route, openWith } = workload;
  const definition = await contendersOf(workload).load(spec.storage);
  const profile = requireProfile(definition, spec.profile);
  const dataset = createDataset(rows.dataset);
  const parameters = parametersOf(spec);
  const others = Object.fromEntries((spec.others ?? []).map((one) => [one.name, one.address]));
  const address = route?.(parameters, spec.address, others) ?? spec.address;
  const context = {
    address,
    ...(await loginsOf(spec, address)),
    profile,
    dataset,
    folder: spec.folder,
    writes: needs.includes('set'),
    names: { ...namesOf(namespace), ...spec.own?.names },
    parameters,
    timeoutMs: spec.stallNs / 1e6,
    ...openWith?.(parameters, dataset),
  };
  const calls = profile.calls ?? 'promise';
  const open = async () => {
    const logins = await loginsOf(spec, address); // different ones after a restart
    return openContender(workload, definition, { ...context, ...logins });
  };
  const handles = await openPool(poolSize(spec, calls), open);
  const { credentials, logins, names } = context;
  const who = { storage: spec.storage, profile: spec.profile };
  const origin = { ...who, address, credentials, logins, parameters, names };
  return { handles, calls, dataset, contender: definition, origin, open };
}

/**
 * An endpoint of another server, such as a proxy, is opened with that server's credentials.
 * @param {BenchmarkSpec} spec
 * @param {import('../lib/types.js').Address} address address to open
 */
async function loginsOf({ credentialVariables, others = [] }, address) {
  /** @type {Record<string, import('../lib/types.js').Credentials>} */
  const logins = {};
  for (const [name, endpoint] of Object.entries(address)) {
    const owner = others.find((other) => Object.values(other.address).includes(endpoint));
    if (owner !== undefined)
      logins[name] = await readCredentials(owner.credentialVariables ?? null);
  }
  return { credentials: await readCredentials(credentialVariables), logins };
}

/** @param {BenchmarkSpec} spec */
function parametersOf({ workloadOptions }) {
  return /** @type {import('../lib/types.js').Parameters} */ (workloadOptions['parameters'] ?? {});
}

/**
 * @typedef {object} Bound
 * @property {import('../lib/types.js').BoundWorkload} measured
 * @property {(operations: number) => import('../lib/types.js').BoundWorkload} warmup creates
 *   another one, for a warm-up of this many operations
 * @property {import('../lib/types.js').BoundWorkload | null} check null: nothing is read before
 * @property {import('./reconnecting.js').OutageWatch} [outage]
 */

/**
 * Draws all keys, before any clock starts. Warm-up and check have separate streams of keys.
 * @param {BenchmarkSpec} spec
 * @param {OpenedStorage} opened
 * @param {import('../measure/clock.js').Clock} clock
 * @returns {Promise<Bound>}
 */
export async function bindWorkload(spec, opened, clock) {
  const { handles, dataset, calls, contender, origin, outage } = opened;
  const { prepare, check = prepare } = await loadWorkload(spec.workload);
  const { seed, round, slot, workloadOptions: options } = spec;
  const ops = spec.operations ?? operationsOf(spec.load);
  const ownData = ownDataOf(spec, origin);
  const share = spec.share?.index;
  const all = { dataset, options, clock, contender, origin, round, slot, share, ...ownData };
  const onEach = (/** @type {ReturnType<typeof prepare>} */ bind) =>
    poolWorkload(
      handles.map((one) => bind(one, calls)),
      calls,
    );
  const measured = onEach(prepare({ ...all, seed, ops, phase: 'measure' }));
  return {
    outage,
    measured: spec.share === undefined ? measured : shareWorkload(measured, spec.share),
    warmup: (operations) =>
      onEach(prepare({ ...all, seed: seed + 1, ops: operations, phase: 'warmup' })),
    check:
      check === false
        ? null
        : check({ ...all, seed: seed + 2, ops: CHECK_ROWS, phase: 'check' })(handles[0], calls),
  };
}

/**
 * Reads rows one after another and compares them in full, to detect missing or wrong rows before
 * anything is measured.
 * @param {Bound} bound
 * @param {OpenedStorage} opened
 * @param {number} rows
 */
export async function checkRows({ check }, { calls }, rows) {
  if (check === null) return;
  for (let index = 0; index < rows; index += 1) {
    const reply = await promised(check.calls ?? calls, (done) => check.op(index, done));
    const outcome = check.verify(index, reply, true);
    if (outcome === OK) continue;
    const error = new Error(
      `wrong data: read ${index + 1} of the check is a ${OUTCOMES[outcome]}; ` +
        'the rows differ from this dataset',
    );
    throw Object.assign(error, { code: 'E_DATA' });
  }
}

/**
 * Runs a hook of a workload around its operations, with a time limit.
 * @param {Promise<import('../lib/types.js').WorkloadMetrics | undefined | void> | undefined} work
 * @param {string} name
 * @param {BenchmarkContext} context
 * @returns {Promise<import('../lib/types.js').WorkloadMetrics | undefined>}
 */
export async function runHook(work, name, context) {
  if (work === undefined) return undefined;
  return (await withTimeout(work, context, HOOK_TIMEOUT_MS, name)) ?? undefined;
}

/**
 * @param {Pick<import('./contender.js').Task, 'workload'>} task
 * @param {{ address: object }} storage
 * @returns {Promise<boolean>} whether each operation needs a reply of its server
 */
export async function mustWait({ workload }, { address }) {
  const { serverOperations = 0 } = await loadWorkload(workload);
  return serverOperations > 0 && Object.keys(address).length > 0;
}
