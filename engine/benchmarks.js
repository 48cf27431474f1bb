/**
 * The benchmarks of a run, and the input of each one's process. Pure; what can run here and now is
 * decided in targets.js.
 */

import { baseProfileOf } from '../lib/tls-profile.js';
import { parseSelection, requireProfile } from '../storages/index.js';
import { contendersOf } from './contenders.js';
import { loadLabels } from './loads.js';

/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Load} Load */
/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/types.js').StorageDefinition} StorageDefinition */
/** @typedef {import('../lib/types.js').Unavailable} Unavailable */
/** @typedef {import('../lib/types.js').WorkloadDefinition} WorkloadDefinition */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/**
 * @typedef {object} Job a benchmark that can run, with the input of its process
 * @property {Benchmark} benchmark
 * @property {StorageTarget} target
 * @property {import('./benchmark.js').BenchmarkSpec} spec
 */

/**
 * @param {RunPlan} plan
 * @param {readonly StorageTarget[]} storages
 * @param {readonly ServerTarget[]} [others] further servers that the workload names
 * @param {WorkloadDefinition} [workload] of a plan with variants
 * @returns {Benchmark[]} by variant, then load, then storage
 */
export function makeBenchmarks(plan, storages, others = [], workload = undefined) {
  const own = nameOf(plan, workload);
  const { variants, workloads = [own] } = plan;
  const parse = workload === undefined ? parseSelection : contendersOf(workload).parse;
  if (variants === undefined) {
    const label = loadLabels(plan.loads);
    return plan.loads.flatMap((load) =>
      workloads.flatMap((name) =>
        storages.flatMap((one) => {
          const target = offered(one, plan.workloadOptions, { workload, others });
          return target === null ? [] : makeBenchmark(name, { load, label: label(load) }, target);
        }),
      ),
    );
  }
  return variants.flatMap(({ parameters, loads, storages: listed }) => {
    const having = storages.filter((one) =>
      isListed(
        one,
        listed?.map((text) => parse(text)),
      ),
    );
    const label = loadLabels(loads);
    return loads.flatMap((load) =>
      having.flatMap((one) => {
        const target = offered(one, parameters, { workload, others });
        if (target === null) return [];
        return makeBenchmark(own, { load, label: label(load) }, target, parameters);
      }),
    );
  });
}

/**
 * @param {StorageTarget} target
 * @param {Readonly<Record<string, unknown>>} given parameters of a variant; without variants the
 *   options of the workload
 * @param {{ workload: WorkloadDefinition | undefined, others: readonly ServerTarget[] }} run
 * @returns {StorageTarget | null} with the reason where it does not have this; null: no such
 *   benchmark
 */
function offered(target, given, { workload, others }) {
  const parameters = /** @type {import('../lib/types.js').Parameters} */ (given);
  const definition = /** @type {StorageDefinition} */ (target.definition);
  const offer = workload?.offers?.(definition, parameters, reachOf(target, others)) ?? true;
  if (offer === false) return null;
  const lack = lackOfOther(workload, parameters, others) ?? (offer === true ? null : offer);
  return { ...target, unavailable: target.unavailable ?? lack };
}

/**
 * @param {RunPlan} plan
 * @param {WorkloadDefinition | undefined} workload
 * @returns {string} of a file: what its workload calls itself
 */
function nameOf(plan, workload) {
  const isFile = /[/\\]|\.[cm]?js$/.test(plan.workload);
  return isFile && workload !== undefined ? workload.name : plan.workload;
}

/**
 * @param {StorageTarget} target
 * @param {readonly ServerTarget[]} others
 */
function reachOf({ server }, others) {
  return {
    address: server?.address ?? {},
    others: Object.fromEntries(others.map(({ name, address }) => [name, address])),
  };
}

/**
 * @param {StorageTarget} target
 * @param {readonly import('../storages/index.js').Selection[]} [listed]
 */
function isListed({ source, profile }, listed) {
  return (
    listed?.some(
      (one) =>
        one.source === source && [profile, baseProfileOf(profile), 'all'].includes(one.profile),
    ) ?? true
  );
}

/**
 * @param {WorkloadDefinition | undefined} workload
 * @param {import('../lib/types.js').Parameters} parameters
 * @param {readonly ServerTarget[]} others
 * @returns {Unavailable | null}
 */
function lackOfOther(workload, parameters, others) {
  const names = workload?.servers?.(parameters) ?? [];
  const lacking = others.find(({ name, unavailable }) => names.includes(name) && unavailable);
  return lacking?.unavailable ?? null;
}

/**
 * @param {string} workload
 * @param {{ load: Load, label: string }} labelled
 * @param {StorageTarget} storage
 * @param {import('../lib/types.js').Parameters} [parameters]
 * @returns {Benchmark}
 */
function makeBenchmark(workload, labelled, storage, parameters) {
  const { definition, profile } = storage;
  const { load, label } = labelled;
  const unavailable = storage.unavailable ?? lackOfConnections(storage, load);
  const variant =
    parameters === undefined ? '' : `[${Object.entries(parameters).map(toPair).join(',')}]`;
  return {
    id: `${definition.name}:${profile}/${workload}${variant}/${label}`,
    storage: definition.name,
    profile,
    workload,
    ...(parameters && { parameters }),
    load,
    state: unavailable === null ? 'planned' : 'skipped',
    reason: unavailable?.reason ?? null,
    hint: unavailable?.hint ?? null,
    rounds: [],
  };
}

/**
 * @param {StorageTarget} storage
 * @param {Load} load
 * @returns {Unavailable | null}
 */
function lackOfConnections({ definition, profile }, { connections = 1 }) {
  if (connections === 1) return null;
  const hint = 'choose storages with a server and without blocking calls for --connections';
  if (definition.server === null) return { reason: 'an embedded store has no connections', hint };
  const { calls } = requireProfile(definition, profile);
  if (calls !== 'sync') return null;
  return { reason: 'its calls block: there is one request in flight, on one connection', hint };
}

/** @param {[string, string | number | boolean]} parameter */
function toPair([name, value]) {
  return `${name}=${value}`;
}

/**
 * @param {RunPlan} plan
 * @param {{ storages: readonly StorageTarget[], others?: readonly ServerTarget[] }} targets
 * @param {Result} result
 * @param {{ folder: string, workload?: WorkloadDefinition }} context folder: of embedded stores
 * @returns {Job[]} the jobs of one storage follow each other, in the order of the storages
 */
export function makeJobs(plan, { storages, others = [] }, result, { folder, workload }) {
  return storages.flatMap((target) =>
    result.benchmarks
      .filter(
        ({ storage, profile, state }) =>
          state !== 'skipped' && storage === target.definition.name && profile === target.profile,
      )
      .map((benchmark) => {
        const names = workload?.servers?.(benchmark.parameters ?? {}) ?? [];
        const near = others.filter(({ name }) => names.includes(name));
        return {
          benchmark,
          target,
          spec: specOf(benchmark, target, plan, { folder, others: near, workload }),
        };
      }),
  );
}

/**
 * @param {Benchmark} benchmark
 * @param {StorageTarget} target
 * @param {RunPlan} plan
 * @param {{ folder: string, others: readonly ServerTarget[], workload?: WorkloadDefinition }}
 *   context
 * @returns {import('./benchmark.js').BenchmarkSpec}
 */
function specOf(
  benchmark,
  { source, profile, server, driver, runtime },
  plan,
  { folder, others, workload },
) {
  const { parameters } = benchmark;
  return {
    storage: source,
    profile,
    workload: benchmark.workload === nameOf(plan, workload) ? plan.workload : benchmark.workload,
    workloadOptions: { ...plan.workloadOptions, ...(parameters && { parameters }) },
    load: benchmark.load,
    address: server?.address ?? {},
    ...(others.length > 0 && {
      others: others.map(({ name, address, pids }) => ({ name, address, pids })),
    }),
    credentialVariables: server?.credentialVariables ?? null,
    serverPids: server?.pids ?? [],
    dataset: plan.dataset,
    ...(server?.own && { own: server.own }),
    folder,
    seed: plan.seed,
    warmupOperations: plan.warmupOperations,
    stallNs: plan.timeoutMs * 1e6 + burstNs(benchmark.load),
    ...(driver && { driver }),
    ...(runtime && { runtime }),
  };
}

/** Per request of a burst: the slowest drivers issue 40,000 a second, and reply after the last. */
const BURST_REQUEST_NS = 50_000;

/**
 * @param {Load} load
 * @returns {number} longer than the time limit that it may take until the first reply
 */
function burstNs({ kind, operations }) {
  return kind === 'burst' ? (operations ?? 0) * BURST_REQUEST_NS : 0;
}
