/**
 * The benchmarks of a run, and the input of each benchmark's process. Pure; targets.js decides
 * which benchmarks can run on this machine.
 */

import { formatCount, formatElapsed } from '../lib/format.js';
import { labelOf } from '../lib/label.js';
import { baseProfileOf } from '../lib/tls-profile.js';
import { parseSelection, requireProfile } from '../storages/index.js';
import { contendersOf } from './contenders.js';
import { loadLabels } from './loads.js';
import { asWhole, isInBlocks, OF_TRIAL } from './schedule/choose.js';

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
 * @typedef {object} Job a runnable benchmark
 * @property {Benchmark} benchmark
 * @property {StorageTarget} target
 * @property {string} label label of its storage
 * @property {RunLoad} load
 *
 * @typedef {import('./roles.js').RunLoad} RunLoad
 */

/**
 * @param {RunPlan} plan
 * @param {readonly StorageTarget[]} storages
 * @param {readonly ServerTarget[]} [others] further servers that the workload uses
 * @param {WorkloadDefinition} [workload] workload, if the plan has variants
 * @returns {Benchmark[]} ordered by variant, then load, then storage
 */
export function makeBenchmarks(plan, storages, others = [], workload = undefined) {
  const mainWorkload = nameOf(plan, workload);
  const { variants = [{ parameters: undefined, loads: plan.loads }], workloads = [mainWorkload] } =
    plan;
  const parse = workload === undefined ? parseSelection : contendersOf(workload).parse;
  return variants.flatMap((/** @type {Partial<import('./plan.js').Variant>} */ variant) => {
    const { parameters, loads = [], storages: listed } = variant;
    const selections = listed?.map((text) => parse(text));
    const having = storages.filter((one) => isListed(one, selections));
    const label = loadLabels(loads);
    return loads.flatMap((load) =>
      workloads.flatMap((name) =>
        having.flatMap((one) => {
          const target = offered(one, parameters ?? plan.workloadOptions, { workload, others });
          if (target === null) return [];
          return makeBenchmark(name, { load, label: label(load) }, target, parameters);
        }),
      ),
    );
  });
}

/**
 * @param {StorageTarget} target
 * @param {Readonly<Record<string, unknown>>} given parameters of a variant; without variants, the
 *   options of the workload
 * @param {{ workload: WorkloadDefinition | undefined, others: readonly ServerTarget[] }} run
 * @returns {StorageTarget | null} skipped with a reason if the storage does not support it; null:
 *   no such benchmark
 */
function offered(target, given, { workload, others }) {
  const parameters = /** @type {import('../lib/types.js').Parameters} */ (given);
  const definition = /** @type {StorageDefinition} */ (target.definition);
  const offer = workload?.offers?.(definition, parameters, reachOf(target, others)) ?? true;
  if (offer === false) return null;
  const missing = missingServer(workload, parameters, others) ?? (offer === true ? null : offer);
  return { ...target, unavailable: target.unavailable ?? missing };
}

/**
 * @param {RunPlan} plan
 * @param {WorkloadDefinition | undefined} workload
 * @returns {string} name of a workload, for a file the one that it declares
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
function missingServer(workload, parameters, others) {
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
  const unavailable = storage.unavailable ?? whyOneConnection(storage, load);
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

/** Longer bursts are announced. */
const BURST_NS_MAX = 10e9;

/**
 * @param {readonly Benchmark[]} benchmarks
 * @param {readonly StorageTarget[]} storages
 * @returns {import('../lib/result.js').Warning[]} long bursts, to be announced
 */
export function slowBursts(benchmarks, storages) {
  return benchmarks.flatMap(({ id, storage, profile, load, state }) => {
    const { operations, processes = 1 } = load;
    if (load.kind !== 'burst' || state !== 'planned' || operations === null) return [];
    const target = storages.find(
      (one) => one.definition.name === storage && one.profile === profile,
    );
    const each = Math.ceil(operations / processes);
    const burstNs = target?.definition.burstNs?.(each) ?? 0;
    if (burstNs < BURST_NS_MAX) return [];
    const time = formatElapsed(burstNs / 1e6);
    return {
      code: 'W_SLOW_BURST',
      message:
        `${storage}: a burst of ${formatCount(each)} takes about ${time}, ` +
        'on a busy machine several times that',
      hint: 'use --in-flight 1000, fewer --ops, or --storages without it',
      benchmark: id,
    };
  });
}

/**
 * @param {StorageTarget} storage
 * @param {Load} load
 * @returns {Unavailable | null}
 */
function whyOneConnection({ definition, profile }, { connections = 1 }) {
  if (connections === 1) return null;
  const hint = 'choose storages with a server and without blocking calls for --connections';
  if (definition.server === null) return { reason: 'an embedded store has no connections', hint };
  const { calls } = requireProfile(definition, profile);
  if (calls !== 'sync') return null;
  return { reason: 'its calls block, so it has one request in flight, on one connection', hint };
}

/** @param {[string, string | number | boolean]} parameter */
function toPair([name, value]) {
  return `${name}=${value}`;
}

/**
 * @param {RunPlan} plan
 * @param {readonly StorageTarget[]} storages
 * @param {Result} result
 * @param {WorkloadDefinition} workload
 * @returns {Job[]} jobs of one storage are consecutive, in the order of the storages; jobs of one
 *   load share it
 */
export function makeJobs(plan, storages, result, workload) {
  /** @type {Map<string, RunLoad>} */
  const loads = new Map();
  const mainWorkload = nameOf(plan, workload);
  const isNamed = new Set(result.benchmarks.map((one) => one.workload)).size > 1;
  return storages.flatMap((target) => {
    const { definition, profile } = target;
    const { name } = definition;
    return result.benchmarks
      .filter((one) => one.state !== 'skipped' && one.storage === name && one.profile === profile)
      .map((benchmark) => {
        const source = benchmark.workload === mainWorkload ? plan.workload : benchmark.workload;
        const load = runLoadOf(benchmark, source, plan, workload, isNamed);
        const isShared = workload.needs.includes('set') && definition.fill !== undefined;
        // Two processes writing to the same LMDB file have crashed in practice.
        const reason = 'only one process at a time can write to an embedded store';
        const alone = isShared && isInBlocks(load) ? asWhole(load, reason) : load;
        const known = loads.get(alone.id) ?? alone;
        loads.set(known.id, known);
        const label = labelOf(benchmark);
        known.contenders.push(label);
        return { benchmark, target, label, load: known };
      });
  });
}

/**
 * @param {Benchmark} benchmark
 * @param {string} source name of its workload, or path of a file
 * @param {RunPlan} plan
 * @param {WorkloadDefinition} workload
 * @param {boolean} isNamed
 * @returns {RunLoad}
 */
function runLoadOf({ load, parameters }, source, plan, workload, isNamed) {
  const key = JSON.stringify([load, parameters]);
  const how = plan.how.find((one) => JSON.stringify([one.load, one.parameters]) === key);
  const { schedule, reason, warm, placement } = how ?? OF_TRIAL;
  return {
    id: JSON.stringify([source, load, parameters]),
    load,
    workload: source,
    workloadOptions: { ...plan.workloadOptions, ...(parameters && { parameters }) },
    ...(parameters && { parameters }),
    isNamed,
    schedule,
    reason,
    warm,
    placement,
    contenders: [],
    others: [...(workload.servers?.(parameters ?? {}) ?? [])],
  };
}
