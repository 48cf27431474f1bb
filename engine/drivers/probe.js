/**
 * Probes each contender once before the race, in its own process: which code it loads, and whether
 * it opens. Covers storages from the user's files and driver versions of --against.
 */

import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { targetError } from '../../lib/errors.js';
import { describeEnd, startChild } from '../../lib/node-child.js';
import { findPackage } from '../../lib/packages.js';
import { identify } from './identity.js';

/** @typedef {import('../targets.js').StorageTarget} StorageTarget */
/** @typedef {import('../../lib/types.js').WorkloadDefinition} WorkloadDefinition */

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const LIMIT_MS = 30_000;

/**
 * @param {StorageTarget[]} targets they receive their identity
 * @param {import('../plan.js').RunPlan} plan
 * @param {{ workload: WorkloadDefinition, home: string, signal?: AbortSignal }} context
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: a driver of --against does not
 *   open; other storages fail in their benchmarks
 */
export async function identifyDrivers(targets, plan, context) {
  await Promise.all(
    targets
      .filter(({ unavailable }) => unavailable === null)
      .filter(({ definition, runtime }) => definition.package !== null || runtime !== undefined)
      .map((target) => identifyDriver(target, plan, context)),
  );
}

/**
 * @param {StorageTarget} target
 * @param {import('../plan.js').RunPlan} plan
 * @param {{ workload: WorkloadDefinition, home: string, signal?: AbortSignal }} context
 */
async function identifyDriver(target, plan, { workload, home, signal }) {
  const { definition, driver, source, runtime } = target;
  const name = String(definition.package);
  const isOwn = driver === undefined && runtime === undefined && !path.isAbsolute(source);
  const { failure, folder } = isOwn
    ? { failure: null, folder: findPackage(name)?.folder ?? null }
    : await probe(target, plan, { workload, home, signal });
  const shownFrom = [path.dirname(home), process.cwd()];
  const message = shortened(failure ?? '', shownFrom);
  if (runtime !== undefined && failure !== null && !signal?.aborted) {
    const { kind, version } = runtime;
    const reason = `it does not open under ${kind} ${version}: ${message}`;
    target.unavailable = { reason, hint: 'leave out this runtime, or this storage' };
    return;
  }
  if (driver !== undefined && failure !== null && !signal?.aborted) {
    if (plan.onlyAgainst) {
      target.unavailable = { reason: `it does not open: ${message}`, hint: '' };
      return;
    }
    const isMissing = /cannot find (module|package)/i.test(failure);
    throw targetError(
      `--against ${driver.text}: ${definition.name} does not open: ${message}`,
      isMissing ? 'its npm package lacks a file: build it first' : undefined,
    );
  }
  if (folder === null) return;
  if (driver !== undefined) await requireDriver(target, folder);
  target.identity = await identify(folder, { from: driver?.from, shownFrom });
  target.version = target.identity.version ?? target.version;
}

/**
 * @param {string} message message of an error
 * @param {readonly string[]} bases
 * @returns {string} its first line, with paths relative to these folders
 */
function shortened(message, bases) {
  const [line] = message.split('\n');
  return bases
    .filter((base) => path.dirname(base) !== base)
    .map((base) => `${base}${path.sep}`)
    .reduce(
      (text, base) => text.replaceAll(pathToFileURL(base).href, '').replaceAll(base, ''),
      line,
    );
}

/**
 * @param {StorageTarget} target
 * @param {string} folder folder of the package that its process has loaded
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: it loaded another copy
 */
async function requireDriver({ definition, driver }, folder) {
  const { folder: installed = '', package: name = '', text = '' } = driver ?? {};
  const expected = await realpath(path.join(installed, 'node_modules', name));
  if ((await realpath(folder)) === expected) return;
  throw targetError(
    `--against ${text}: ${definition.name} would load another copy of ${name}, not this one`,
    `its adapter must import '${driver?.name}' by that name`,
  );
}

/**
 * @param {StorageTarget} target
 * @param {import('../plan.js').RunPlan} plan
 * @param {{ workload: WorkloadDefinition, home: string, signal?: AbortSignal }} context
 * @returns {Promise<{ failure: string | null, folder: string | null }>}
 */
async function probe(target, plan, context) {
  const { definition, source, profile, server, driver, runtime } = target;
  const { workload, home, signal } = context;
  const child = startChild(CHILD, { signal, runtime });
  /** @type {{ failure: string | null, folder: string | null } | null} */
  let answer = null;
  child.on('message', (/** @type {any} */ message) => {
    answer = { folder: null, ...message };
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  // Tables and spaces of a workload are created later.
  const opens = workload.namespace === undefined && workload.contenders === undefined;
  const spec = {
    storage: source,
    profile,
    workload: plan.workload,
    workloadOptions: plan.workloadOptions,
    load: { kind: 'sync', inFlight: 1, operations: 1, durationNs: null },
    address: server?.address ?? {},
    credentialVariables: server?.credentialVariables ?? null,
    serverPids: [],
    dataset: plan.dataset,
    folder: path.join(home, 'embedded'),
    seed: plan.seed,
    stallNs: plan.timeoutMs * 1e6,
    driver,
  };
  const message = { spec, name: definition.package, opens: opens && definition.fill === undefined };
  if (child.connected) child.send(message, () => {});
  const ended = await child.ended;
  clearTimeout(limit);
  return answer ?? { failure: `its process ${describeEnd(ended)}`, folder: null };
}
