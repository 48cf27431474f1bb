/**
 * A run: options in, result out. It resolves what can run, executes every benchmark of every round
 * in its turn, and reports progress by events. It prints and writes nothing; the result grows
 * with each benchmark, so that a listener can store it after each.
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
import { systemClock } from '../measure/clock.js';
import { environmentWarnings, readEnvironment } from '../measure/environment.js';
import { requireProfile } from '../storages/index.js';
import { makeBenchmarks, makeJobs } from './benchmarks.js';
import { diagnosticWarnings } from './diagnostics.js';
import { storagesOfPackages, withDriverVersions } from './driver-versions.js';
import { identifyDrivers } from './drivers/probe.js';
import { withRuntimes } from './drivers/runtimes.js';
import { executeInChild } from './executor.js';
import { fillEmbedded } from './fill-embedded.js';
import { Gates, matchesOf } from './gates.js';
import { measureHarnessOverhead } from './harness-overhead.js';
import { failBenchmark, LostServers, looksLost } from './lost-servers.js';
import { withNamespaces } from './namespaces.js';
import { openLoopWarnings } from './openloop.js';
import { sampleOwnData } from './own-data.js';
import { watchPartial } from './partial.js';
import { withPinning } from './pinning.js';
import { orderOfRound } from './plan.js';
import { isRequest, requestRun } from './request.js';
import { recordDrift, toRound } from './round.js';
import { runSearches } from './search.js';
import { runSlices } from './slices/race.js';
import { resolveServers, resolveTargets } from './targets.js';
import { namespacesOf } from './value-sizes.js';

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./plan.js').RunOptions} RunOptions */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {import('./benchmarks.js').Job} Job */
/** @typedef {import('./executor.js').Executor} Executor */

/**
 * @typedef {{ type: 'planned', result: Result, plan: RunPlan }
 *   | { type: 'filling', storage: string }
 *   | { type: 'waiting', what: string }
 *   | { type: 'held', rows: number }
 *   | { type: 'removed', rows: number, left: import('../lib/result.js').Warning[] }
 *   | { type: 'benchmark-start', benchmark: Benchmark, round: number, rounds: number }
 *   | { type: 'progress', benchmark: Benchmark, phase: string, settled: number }
 *   | { type: 'benchmark-end', benchmark: Benchmark, round: import('../lib/result.js').Round,
 * result: Result, more?: boolean }
 *   | { type: 'comparison', round: number, phase: string, spentNs: number, leftNs: number }
 *   | { type: 'round-end', round: number, spentNs: number, resolves: (number | null)[] }
 *   | { type: 'finished', result: Result }} RunEvent
 */

/**
 * @typedef {object} RunContext
 * @property {AbortSignal} [signal] stops the run; the result so far is returned, state `aborted`
 * @property {(event: RunEvent) => void} [onEvent]
 * @property {(result: Result) => unknown} [onPartial] called about each second while a benchmark
 *   runs, with the result so far and what that one has measured; by slices awaited
 * @property {Executor} [executor] default: a process for each benchmark
 * @property {import('./slices/comparison.js').RoundRunner} [slices] default: rounds of slices on
 *   this machine
 * @property {import('../measure/clock.js').Clock} [clock] for labels; measuring is the executor's
 * @property {() => Promise<import('../lib/result.js').Environment>} [environment]
 * @property {(plan: RunPlan, storages: StorageTarget[], result: Result) =>
 * Promise<import('../lib/ceilings.js').Limits> | import('../lib/ceilings.js').Limits} [limits]
 * measured, or
 *   taken from another result, before the first round
 */

/**
 * @param {RunOptions | import('./request.js').RunRequest} options
 * @param {RunContext} [context]
 * @returns {Promise<Result>}
 * @throws {import('../lib/errors.js').DragstripError} E_USAGE, E_TARGET, E_REFUSED before anything
 *   is measured; later faults are in the result
 */
export async function runRace(options, context = {}) {
  const { plan, workload } = isRequest(options) ? options : await requestRun(options);
  plan.storages = await storagesOfPackages(plan.against, workload, plan.storages);
  createDataset(plan.dataset); // refuses what is out of range before anything is opened
  const home = plan.home ?? findHome();
  const namespaces = namespacesOf(plan, workload);
  const ownRows = namespaces.length > 0;
  const installed = await resolveTargets({ ...plan, home, ownRows }, workload);
  const own = await sampleOwnData(plan, installed.storages, context.signal);
  const others = await resolveServers(othersOf(plan, workload), { ...plan, home, ownRows: true });
  const versions = await withDriverVersions(installed.storages, plan, home);
  const storages = await withRuntimes(versions, plan, home);
  await identifyDrivers(storages, plan, { workload, home, signal: context.signal });
  const targets = { ...installed, storages, others, workload };
  const executor = context.executor ?? executeInChild;
  const result = { ...(await emptyResult(plan, targets, context)), ...own };
  if (context.limits !== undefined) {
    if (plan.sizes) throw usageError('--limits measures rows of one size', 'leave out --limits');
    if (plan.servers) throw usageError('--limits measures one server of a kind', 'leave it out');
    result.limits = await context.limits(ofWholeLoads(plan), installed.storages, result);
  }
  const gates = plan.failIf && new Gates(plan.failIf, matchesOf(storages, plan), result);
  context.onEvent?.({ type: 'planned', result, plan });
  const about = { writes: workload.needs.includes('set'), workload };
  const lost = new LostServers(result);
  /** @type {Turn} */
  const turn = { rounds: plan.rounds, result, executor, context, lost, others, gates, ...about };
  const measure = (/** @type {string} */ folder) =>
    runJobs(makeJobs(plan, targets, result, { folder, workload }), plan, turn);
  await withPinning(plan, [...targets.servers, ...others], result, async (cpus) => {
    turn.cpus = cpus;
    turn.executor = (spec, how) => executor({ ...spec, cpus }, how);
    if (namespaces.length === 0) {
      await measure(path.join(home, 'embedded'));
    } else {
      const run = { plan, namespaces, storages, home, ...context };
      result.warnings.push(...(await withNamespaces(run, measure)).warnings);
    }
  });
  result.warnings.push(...openLoopWarnings(result), ...diagnosticWarnings(result));
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

/** Rounds and operations of ceilings beside a run by slices, which has no amount itself. */
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
 * @returns {string[]} further servers that its variants need
 */
function othersOf({ variants = [] }, workload) {
  return [...new Set(variants.flatMap(({ parameters }) => workload.servers?.(parameters) ?? []))];
}

/** @typedef {{ rounds: number, result: Result, executor: Executor, context: RunContext,
 *   cpus?: number[], lost: LostServers, others: ServerTarget[], writes?: boolean,
 *   gates?: Gates, workload?: import('./slices/race.js').SliceContext['workload'] }} Turn cpus: of
 *   the client, with --pin; others: servers beside those of the storages */

/**
 * @param {Job[]} all
 * @param {RunPlan} plan
 * @param {Turn} turn
 */
async function runJobs(all, plan, turn) {
  const { result, executor, context } = turn;
  const jobs = await fillEmbedded(all, context);
  if (plan.slices !== undefined) {
    const { signal, onEvent, onPartial } = context;
    const run = { ...plan, slices: plan.slices };
    const runWhole = (
      /** @type {Job} */ job,
      /** @type {number} */ round,
      /** @type {number} */ at,
    ) => runJob(job, { ...turn, round, position: at });
    await runSlices(jobs, run, {
      result,
      signal,
      onEvent,
      onPartial,
      cpus: turn.cpus,
      runWhole,
      ...{ writes: turn.writes, others: turn.others, workload: turn.workload },
      runner: context.slices,
      isDecided: turn.gates && (() => turn.gates?.look() ?? false),
    });
    if (!signal?.aborted) await failLostContenders(jobs, turn.lost);
    return;
  }
  result.harnessOverhead = await measureHarnessOverhead(plan, executor, context.signal);
  if (plan.findMax === null) {
    await runRounds(jobs, plan, turn);
    return;
  }
  const run = (/** @type {Job} */ job, /** @type {number} */ round) =>
    runJob(job, { ...turn, round, position: 0 });
  await runSearches(plan.findMax, jobs, { result, run, signal: context.signal });
}

/**
 * Contenders of slices that failed were dropped after their round: why may be that their server is
 * gone.
 * @param {Job[]} jobs
 * @param {LostServers} lost
 */
async function failLostContenders(jobs, lost) {
  for (const { benchmark, target } of jobs) {
    const last = benchmark.rounds.at(-1);
    if (last === undefined || !looksLost(last)) continue;
    const failure = await lost.check([target.server]);
    if (failure === null) continue;
    Object.assign(last, { state: 'failed', failure });
    failBenchmark(benchmark, failure);
  }
}

/**
 * @param {Job[]} jobs
 * @param {RunPlan} plan
 * @param {Turn} turn
 */
async function runRounds(jobs, { rounds, seed }, turn) {
  for (let round = 0; round < rounds; round += 1) {
    for (const [position, index] of orderOfRound(jobs.length, round, rounds, seed).entries()) {
      if (turn.context.signal?.aborted) return;
      await runJob(jobs[index], { ...turn, round, position });
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
  const { home = findHome(), ...options } = plan;
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
          Object.entries(address).map(([key, endpoint]) => [key, shownEndpoint(endpoint, home)]),
        ),
        source,
        settings,
      }),
    ),
    storages: storages.map(describeStorage),
    benchmarks: makeBenchmarks(plan, storages, others, workload),
    harnessOverhead: [],
    warnings: environmentWarnings(environment),
  };
}

/**
 * A result is passed around: of a socket in our own folder it does not tell where that folder is.
 * @param {import('../lib/types.js').Endpoint} endpoint
 * @param {string} home
 */
function shownEndpoint(endpoint, home) {
  const inside = endpoint.path === undefined ? '..' : path.relative(home, endpoint.path);
  if (inside.startsWith('..')) return formatEndpoint(endpoint);
  return `unix:${path.join(path.basename(home), inside)}`;
}

/** @param {StorageTarget} target */
function describeStorage(target) {
  const { definition, profile, version: release, base, identity, runtime } = target;
  const { name, summary, package: driver } = definition;
  const server = target.server?.name ?? definition.server;
  const { calls = 'promise', options, tls } = requireProfile(definition, profile);
  const protocol = tls ? null : protocolOf(definition); // ceilings are those of plain connections
  const about = { name, profile, summary, package: driver, version: release, server, protocol };
  const driverOf = { ...(base !== undefined && { base }), ...(identity && { driver: identity }) };
  const under = runtime && { runtime: `${runtime.kind} ${runtime.version}` };
  return { ...about, ...driverOf, ...under, calls, options: { ...options, ...(tls && { tls }) } };
}

/**
 * @param {Job} job
 * @param {Turn & { round: number, position: number }} turn
 * @returns {Promise<import('../lib/result.js').Round>} the one that was appended to its benchmark
 */
async function runJob({ benchmark, spec, target }, turn) {
  const { round, position, rounds, result, executor, context, lost } = turn;
  const names = spec.others?.map(({ name }) => name) ?? [];
  const servers = [target.server, ...turn.others.filter(({ name }) => names.includes(name))];
  const gone = lost.failureOf(servers);
  if (gone !== null) return failLost(benchmark, gone, { round, position });
  context.onEvent?.({ type: 'benchmark-start', benchmark, round, rounds });
  const partial = watchPartial(context.onPartial, result, benchmark, { round, position });
  const execution = await executor(
    { ...spec, seed: spec.seed + round * 16 },
    {
      signal: context.signal,
      onProgress: ({ phase, settled }) =>
        context.onEvent?.({ type: 'progress', benchmark, phase, settled }),
      onRecord: partial.onRecord,
    },
  );
  partial.end();
  const measured = await toRound(execution, { round, position });
  recordDrift(measured, result);
  benchmark.rounds.push(measured);
  const failure =
    looksLost(measured) && !context.signal?.aborted ? await lost.check(servers) : null;
  if (failure !== null) {
    Object.assign(measured, { state: 'failed', failure });
    failBenchmark(benchmark, failure);
  } else if (measured.state === 'failed') {
    benchmark.state = 'failed';
    benchmark.reason = measured.failure?.message ?? null;
  } else if (benchmark.state !== 'failed') {
    benchmark.state = measured.state;
  }
  context.onEvent?.({ type: 'benchmark-end', benchmark, round: measured, result });
  return measured;
}

/**
 * A benchmark whose server is gone: not executed. It shows the reason once, not per round.
 * @param {Benchmark} benchmark
 * @param {import('./lost-servers.js').Failure} failure
 * @param {{ round: number, position: number }} place
 * @returns {Promise<import('../lib/result.js').Round>}
 */
async function failLost(benchmark, failure, place) {
  const round = await toRound({ record: null, failure, processNs: null }, place);
  if (benchmark.rounds.length === 0) benchmark.rounds.push(round);
  failBenchmark(benchmark, failure);
  return round;
}
