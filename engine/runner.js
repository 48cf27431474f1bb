/**
 * A run: options in, result out. It resolves which targets can run, executes every benchmark of
 * every round in order, and reports progress by events. It prints and writes nothing; the result
 * grows with each benchmark, so that a listener can store it after each.
 */

import path from 'node:path';
import { formatEndpoint } from '../lib/address.js';
import { createDataset } from '../lib/dataset.js';
import { usageError } from '../lib/errors.js';
import { findHome } from '../lib/home.js';
import { labelOf } from '../lib/label.js';
import { SCHEMA_NAME, SCHEMA_VERSION } from '../lib/result.js';
import { version } from '../lib/version.js';
import { protocolOf } from '../limits/wire/protocol.js';
import { waitForCalm } from '../measure/calm.js';
import { systemClock } from '../measure/clock.js';
import { environmentWarnings, readEnvironment } from '../measure/environment.js';
import { leastNs } from '../stats/precision.js';
import { requireProfile } from '../storages/index.js';
import { makeBenchmarks, makeJobs, slowBursts } from './benchmarks.js';
import { createProcesses } from './contender-process.js';
import { diagnosticWarnings } from './diagnostics.js';
import { storagesOfPackages, withDriverVersions } from './driver-versions.js';
import { identifyDrivers } from './drivers/probe.js';
import { withRuntimes } from './drivers/runtimes.js';
import { fillEmbedded } from './fill-embedded.js';
import { Gates, matchesOf } from './gates.js';
import { countWarnings } from './implausible.js';
import { LostServers } from './lost-servers.js';
import { withNamespaces } from './namespaces.js';
import { openLoopWarnings } from './openloop.js';
import { isReadOnly, sampleOwnData } from './own-data.js';
import { withPinning } from './placement.js';
import { isRequest, requestRun } from './request.js';
import { Rounds } from './rounds.js';
import { search } from './schedule/index.js';
import { notCounted, ServerCounts } from './server-counts.js';
import { withRows } from './server-locks.js';
import { resolveServers, resolveTargets } from './targets.js';
import { namespacesOf } from './value-sizes.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./plan.js').RunOptions} RunOptions */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {import('./benchmarks.js').Job} Job */

/**
 * @typedef {{ type: 'planned', result: Result, plan: RunPlan }
 *   | { type: 'filling', storage: string }
 *   | { type: 'waiting', what: string }
 *   | { type: 'held', rows: number }
 *   | { type: 'removed', rows: number, left: import('../lib/result.js').Warning[] }
 *   | { type: 'benchmark-start', benchmark: Benchmark, round: number, rounds: number }
 *   | { type: 'progress', benchmark: Benchmark, phase: string, settled: number,
 *     live?: import('./recorded.js').LiveFigures[] }
 *   | { type: 'benchmark-end', benchmark: Benchmark, round: import('../lib/result.js').Round,
 *     result: Result, more?: boolean, segment?: import('./segment.js').Segment }
 *   | { type: 'comparison', round: number, phase: string, spentNs: number, leftNs: number }
 *   | { type: 'round-end', round: number, spentNs: number, resolves: (number | null)[] }
 *   | { type: 'finished', result: Result }} RunEvent
 */

/**
 * @typedef {object} RunContext
 * @property {AbortSignal} [signal] aborts the run; the result so far is returned, state `aborted`
 * @property {(event: RunEvent) => void} [onEvent]
 * @property {(result: Result) => unknown} [onPartial] called and awaited about once per second
 *   while a benchmark runs, with the result so far and the running rounds as aborted ones
 * @property {import('./contender-process.js').ProcessFactory} [processes] default: a separate
 *   process for each contender
 * @property {import('./rounds.js').RoundRunner} [runner] runner for several load machines
 * @property {{ live?: boolean, perSecond?: boolean }} [detail] live: progress includes figures;
 *   perSecond: the segment of `benchmark-end` has a histogram for each second
 * @property {import('../measure/clock.js').Clock} [clock] clock for labels
 * @property {() => Promise<import('../lib/result.js').Environment>} [environment]
 * @property {(plan: RunPlan, storages: StorageTarget[], result: Result) =>
 *   Promise<import('../lib/ceilings.js').Limits> | import('../lib/ceilings.js').Limits} [limits]
 *   ceilings, measured before the first round or copied from another result
 */

/**
 * @param {RunOptions | import('./request.js').RunRequest} options
 * @param {RunContext} [context]
 * @returns {Promise<Result>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET, E_REFUSED before anything
 *   is measured; later failures are in the result
 */
export async function runRace(options, context = {}) {
  const { plan, workload } = isRequest(options) ? options : await requestRun(options);
  plan.storages = await storagesOfPackages(plan.against, workload, plan.storages);
  createDataset(plan.dataset); // refuses invalid values before anything is opened
  if (context.limits !== undefined) {
    if (plan.sizes) throw usageError('--limits measures rows of one size', 'leave out --limits');
    if (plan.servers) throw usageError('--limits measures one server per kind', 'leave it out');
  }
  const home = plan.home ?? findHome();
  const namespaces = namespacesOf(plan, workload);
  const ownRows = namespaces.length > 0;
  const installed = await resolveTargets({ ...plan, home, ownRows }, workload);
  const sampled = await sampleOwnData(plan, installed.storages, context.signal);
  const others = await resolveServers(othersOf(plan, workload), { ...plan, home, ownRows: true });
  const versions = await withDriverVersions(installed.storages, plan, home);
  const storages = await withRuntimes(versions, plan, home);
  await identifyDrivers(storages, plan, { workload, home, signal: context.signal });
  const targets = { ...installed, storages, others, workload };
  const result = { ...(await emptyResult(plan, targets, context)), ...sampled };
  const gates = plan.failIf && new Gates(plan.failIf, matchesOf(storages, plan), result);
  const measure = async (
    /** @type {string} */ folder,
    /** @type {number[] | undefined} */ cpus,
  ) => {
    const all = makeJobs(plan, storages, result, workload);
    const jobs = await fillEmbedded(all, { ...context, folder, dataset: plan.dataset });
    // Several load machines follow a timetable without time for requests.
    const counts =
      context.runner === undefined ? new ServerCounts(targets.servers, context.signal) : null;
    const rounds = new Rounds(jobs, plan, {
      ...context,
      counts,
      processes: context.processes ?? createProcesses(),
      result,
      workload,
      others,
      folder,
      lost: new LostServers(result),
      gates,
      cpus,
    });
    try {
      if (plan.findMax === null) await rounds.run();
      else await runSearches(plan.findMax, jobs, rounds, { result, signal: context.signal });
    } finally {
      counts?.end(result);
      const reason = 'several load machines use it at the same time';
      for (const { name } of counts === null ? targets.servers : []) {
        result.warnings.push(notCounted(name, reason));
      }
    }
  };
  const work = async () => {
    if (context.limits !== undefined) {
      result.limits = await context.limits(ofWholeLoads(plan), installed.storages, result);
    }
    requireBudget(plan, result, context.runner);
    context.onEvent?.({ type: 'planned', result, plan });
    await waitForProcessors(plan, context);
    await withPinning(plan, [...targets.servers, ...others], result, async (cpus) => {
      if (namespaces.length === 0) {
        await measure(path.join(home, 'embedded'), cpus);
      } else {
        const run = { plan, namespaces, storages, home, ...context };
        const inFolder = (/** @type {string} */ folder) => measure(folder, cpus);
        result.warnings.push(...(await withNamespaces(run, inFolder)).warnings);
      }
    });
  };
  if (ownRows || isReadOnly(plan)) await work();
  else {
    result.warnings.push(...(await withRows({ plan, home, storages, ...context }, work)));
  }
  result.warnings.push(
    ...openLoopWarnings(result),
    ...diagnosticWarnings(result),
    ...countWarnings(result),
  );
  const { warnings } = (await workload.runHooks?.()) ?? {};
  result.warnings.push(...(warnings?.(result) ?? []));
  gates?.finish();
  result.state = context.signal?.aborted ? 'aborted' : 'complete';
  result.finishedAt = (context.clock ?? systemClock).date();
  for (const benchmark of result.benchmarks) {
    if (benchmark.state === 'planned') benchmark.state = 'aborted';
  }
  context.onEvent?.({ type: 'finished', result });
  return result;
}

/**
 * @param {RunPlan} plan
 * @param {RunContext} context
 */
async function waitForProcessors({ slices }, { signal, onEvent, runner }) {
  if (!slices?.waitNs || runner !== undefined) return;
  const onBusy = (/** @type {number} */ share) => {
    const used = `other programs, which use ${Math.round(100 * share)} % of the processors`;
    onEvent?.({ type: 'waiting', what: `${used} (--anyway starts at once)` });
  };
  await waitForCalm({ mostNs: slices.waitNs, signal, onBusy });
}

/**
 * @param {RunPlan} plan
 * @param {Result} result
 * @param {Pick<import('./rounds.js').RoundRunner, 'leastNs'>} [runner] runner for several load
 *   machines
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE: the budget is too small for a race
 */
function requireBudget({ slices }, { benchmarks }, runner = { leastNs }) {
  if (!slices?.hasBudget) return;
  const planned = benchmarks.filter(({ state }) => state === 'planned').map(labelOf);
  const loads = [...new Set(planned)].map((name) => planned.filter((one) => one === name).length);
  const least = Math.ceil(runner.leastNs(loads, slices.rounds) / 1e9);
  if (slices.budgetNs >= least * 1e9) return;
  const what = `${planned.length} benchmarks take at least ${least} s`;
  const hint = `use --budget ${least}s or more, or fewer storages, loads or rounds`;
  throw usageError(`--budget ${slices.budgetNs / 1e9}s: ${what}`, hint);
}

/** Rounds and operations of the ceilings of a run in slices, which has no amount itself. */
const CEILINGS = Object.freeze({ rounds: 5, sync: 5000, many: 50_000 });

/** @param {RunPlan} plan */
function ofWholeLoads(plan) {
  if (plan.slices === undefined) return plan;
  const loads = plan.loads.map((load) => ({
    ...load,
    operations: load.kind === 'sync' ? CEILINGS.sync : CEILINGS.many,
  }));
  return { ...plan, loads, rounds: CEILINGS.rounds };
}

/**
 * @param {RunPlan} plan
 * @param {import('../lib/types.js').WorkloadDefinition} workload
 * @returns {string[]} further servers that its variants use
 */
function othersOf({ variants = [] }, workload) {
  return [...new Set(variants.flatMap(({ parameters }) => workload.servers?.(parameters) ?? []))];
}

/**
 * @param {import('./loads.js').SearchPlan} plan
 * @param {readonly Job[]} jobs
 * @param {Rounds} rounds
 * @param {{ result: Result, signal?: AbortSignal }} context
 */
async function runSearches(plan, jobs, rounds, { result, signal }) {
  result.searches = [];
  for (const job of jobs) {
    if (signal?.aborted) return;
    const trials = search(plan, job, result);
    let next = trials.next();
    while (!next.done) {
      const trial = next.value;
      const round = trial.benchmark.rounds.length;
      next = trials.next(await rounds.playTrial(trial, round));
    }
  }
}

/**
 * @param {RunPlan} plan
 * @param {Awaited<ReturnType<typeof resolveTargets>> & { others?: ServerTarget[],
 *   workload?: import('../lib/types.js').WorkloadDefinition }} targets
 * @param {RunContext} context
 * @returns {Promise<Result>}
 */
export async function emptyResult(plan, { storages, servers, others = [], workload }, context) {
  const clock = context.clock ?? systemClock;
  const environment = await (context.environment ?? readEnvironment)();
  const startedAt = clock.date();
  const { home: _home, how: _how, ...options } = plan;
  const benchmarks = makeBenchmarks(plan, storages, others, workload);
  return {
    schema: SCHEMA_NAME,
    schemaVersion: SCHEMA_VERSION,
    dragstrip: version,
    id: `${startedAt.replace(/[-:]/g, '').replace(/\.\d+/, '')}-${plan.command}`,
    command: plan.command,
    state: 'running',
    startedAt,
    finishedAt: null,
    options: {
      ...options,
      storages:
        plan.storages ??
        storages.map(({ definition: { name }, profile }) => labelOf({ storage: name, profile })),
    },
    dataset: plan.dataset,
    environment,
    servers: [...servers, ...others].map(
      ({ name, version: release, address, source, settings }) => ({
        name,
        version: release,
        address: Object.fromEntries(
          Object.entries(address).map(([key, endpoint]) => [key, formatEndpoint(endpoint)]),
        ),
        source,
        settings,
      }),
    ),
    storages: storages.map(describeStorage),
    benchmarks,
    harnessOverhead: [],
    warnings: [
      ...(plan.skipped ?? []).map(({ load, reason }) => ({
        code: 'W_LOAD_SKIPPED',
        message: `${load} is skipped: ${reason}`,
        hint: null,
        benchmark: null,
      })),
      ...slowBursts(benchmarks, storages),
      ...environmentWarnings(environment),
    ],
  };
}

/** @param {StorageTarget} target */
function describeStorage(target) {
  const { definition, profile, version: release, base, identity, runtime } = target;
  const { name, summary, package: driver } = definition;
  const server = target.server?.name ?? definition.server;
  const { calls = 'promise', options, tls } = requireProfile(definition, profile);
  const protocol = tls ? null : protocolOf(definition); // ceilings are of plain connections
  const about = { name, profile, summary, package: driver, version: release, server, protocol };
  const driverOf = { ...(base !== undefined && { base }), ...(identity && { driver: identity }) };
  const under = runtime && { runtime: `${runtime.kind} ${runtime.version}` };
  return { ...about, ...driverOf, ...under, calls, options: { ...options, ...(tls && { tls }) } };
}
