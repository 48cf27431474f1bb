/**
 * The limits around a race: the wire of each server that the storages talk to, and each driver
 * against a fake server. A ceiling that cannot be measured is an entry with its reason, not an
 * error: the others are measured all the same.
 */

import { HEADROOM_MIN } from '../lib/ceilings.js';
import { createDataset } from '../lib/dataset.js';
import { DragstripError } from '../lib/errors.js';
import { findHome } from '../lib/home.js';
import { OK } from '../lib/outcome.js';
import { startFakeServer } from '../limits/fake/process.js';
import { tableDataset } from '../limits/fake/table.js';
import { loadProtocol, protocolOf } from '../limits/wire/protocol.js';
import { measurePoint, sweepWire } from '../limits/wire/sweep.js';
import { systemClock } from '../measure/clock.js';
import { summarizeRounds } from '../stats/summary.js';
import { checkAvailable } from '../storages/index.js';
import { DEFAULT_WORKLOAD } from '../workloads/index.js';
import { executeInChild } from './executor.js';
import { orderOfRound, planRun } from './plan.js';
import { emptyResult } from './runner.js';
import { resolveTargets } from './targets.js';

/** A burst's depth for the wire loop: deeper gives no more. */
const BURST_DEPTH = 4096;
/** Rows under way at most, in the wire loop against a fake server. */
const IN_FLIGHT_BYTES_MAX = 64 * 2 ** 20;

/** @typedef {import('../lib/ceilings.js').Limits} Limits */
/** @typedef {import('../lib/ceilings.js').ServerCeiling} ServerCeiling */
/** @typedef {import('../lib/ceilings.js').ClientCeiling} ClientCeiling */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */

/**
 * @typedef {object} LimitContext
 * @property {number} [measureMs] of a round of the wire loop; default 400
 * @property {AbortSignal} [signal]
 * @property {(text: string, share: number) => void} [onProgress]
 * @property {(limit: ServerCeiling | ClientCeiling) => void} [onLimit]
 * @property {Pick<import('../limits/wire/sweep.js').SweepOptions, 'connections' | 'depths'>}
 *   [sweep]
 *   another range than the default one
 */

/** Under which the drivers are measured: the window of the race, a deep one, and the race's two. */
const LOADS = Object.freeze([
  { kind: /** @type {const} */ ('sync'), operations: 5000 },
  { kind: /** @type {const} */ ('window'), inFlight: 100 },
  { kind: /** @type {const} */ ('window'), inFlight: 1000 },
  { kind: /** @type {const} */ ('burst') },
]);

/**
 * `dragstrip limit`: a result without benchmarks, whose limits are what was measured.
 * @param {import('./plan.js').RunOptions} options as of a run; loads: of the client ceilings
 * @param {LimitContext} [context]
 * @returns {Promise<import('../lib/result.js').Result>}
 * @throws {DragstripError} E_USAGE, E_TARGET (a storage that was named cannot run), E_REFUSED
 */
export async function runLimits(options, context = {}) {
  const plan = planRun({ command: 'limit', loads: [...LOADS], rounds: 5, ...options });
  createDataset(plan.dataset); // refuses what is out of range before anything is opened
  const home = plan.home ?? findHome();
  const targets = await resolveTargets({ ...plan, home }, { needs: ['get'] });
  const storages = targets.storages.filter(({ server }) => server !== null);
  const result = await emptyResult(plan, { ...targets, storages }, {});
  result.benchmarks = [];
  result.limits = await measureLimits(plan, storages, context);
  result.state = context.signal?.aborted ? 'aborted' : 'complete';
  result.finishedAt = systemClock.date();
  return result;
}

/**
 * @param {Pick<RunPlan, 'loads' | 'rounds' | 'dataset' | 'seed' | 'timeoutMs' |
 *   'warmupOperations'>} plan loads: of the client ceilings; an open loop has none
 * @param {readonly StorageTarget[]} storages
 * @param {LimitContext} [context]
 * @returns {Promise<Limits>} what was measured until then, where the signal stopped it
 */
export async function measureLimits(plan, storages, context = {}) {
  /** @type {Limits} */
  const limits = { source: null, wire: [], driver: [] };
  /** @type {Map<string, StorageTarget[]>} */
  const byProtocol = new Map();
  for (const target of storages) {
    const name = protocolOf(target.definition);
    if (name === null || target.server === null) continue;
    byProtocol.set(name, [...(byProtocol.get(name) ?? []), target]);
  }
  const all = byProtocol.size * 2;
  let done = 0;
  const inPart = (/** @type {string} */ what) => ({
    ...context,
    onProgress: (/** @type {string} */ text, /** @type {number} */ share) =>
      context.onProgress?.(`${what}: ${text}`, (done + share) / all),
  });
  for (const [name, targets] of byProtocol) {
    if (context.signal?.aborted) break;
    const limit = await serverCeiling(plan, name, targets, inPart(`server ceiling of ${name}`));
    done += 1;
    if (limit === null) continue;
    limits.wire.push(limit);
    context.onLimit?.(limit);
  }
  for (const [name, targets] of byProtocol) {
    if (context.signal?.aborted) break;
    const found = await clientCeilings(plan, name, targets, inPart(`client ceilings, ${name}`));
    done += 1;
    limits.driver.push(...found);
    for (const limit of found) context.onLimit?.(limit);
  }
  return limits;
}

/**
 * @param {Pick<RunPlan, 'rounds' | 'dataset' | 'timeoutMs'>} plan
 * @param {string} name
 * @param {readonly StorageTarget[]} targets
 * @param {LimitContext} context
 * @returns {Promise<ServerCeiling | null>} null: stopped
 */
async function serverCeiling(plan, name, targets, context) {
  const protocol = await loadProtocol(name);
  const server = /** @type {ServerTarget} */ (targets[0].server);
  const endpoint = server.address[protocol.endpoint];
  const unavailable = server.unavailable?.reason ?? null;
  /** @type {ServerCeiling} */
  const limit = {
    protocol: /** @type {ServerCeiling['protocol']} */ (name),
    server: server.name,
    version: server.version,
    transport: endpoint?.path === undefined ? 'tcp' : 'unix',
    opsPerSecond: null,
    interval: null,
    n: 0,
    depth: null,
    connections: null,
    clientCpuNs: null,
    serverCpuNs: null,
    rounds: [],
    points: [],
    reason: endpoint === undefined ? `no address of its endpoint "${protocol.endpoint}"` : null,
  };
  limit.reason ??= unavailable;
  if (limit.reason !== null) return limit;
  const target = {
    protocol: name,
    endpoint,
    credentialVariables: server.credentialVariables,
    dataset: plan.dataset,
    stallMs: plan.timeoutMs,
    serverPids: server.pids,
  };
  try {
    const figure = await sweepWire(target, {
      ...context.sweep,
      rounds: plan.rounds,
      measureNs: measureNsOf(context),
      signal: context.signal,
      onProgress: context.onProgress,
    });
    return { ...limit, ...figure };
  } catch (error) {
    if (context.signal?.aborted) return null;
    if (!(error instanceof DragstripError)) throw error;
    return { ...limit, reason: error.message };
  }
}

/** @param {LimitContext} context */
function measureNsOf({ measureMs = 400 }) {
  return measureMs * 1e6;
}

/**
 * @typedef {object} DriverJob
 * @property {StorageTarget} target
 * @property {import('../lib/result.js').Load} load
 * @property {import('./benchmark.js').BenchmarkRecord[]} records
 * @property {number[]} capacities the wire loop against the fake server, in the round of each
 *   record
 * @property {string | null} failure
 */

/**
 * All drivers of one protocol, against one fake server.
 * @param {Pick<RunPlan, 'loads' | 'rounds' | 'dataset' | 'seed' | 'timeoutMs' |
 *   'warmupOperations'>} plan
 * @param {string} name
 * @param {readonly StorageTarget[]} targets
 * @param {LimitContext} context
 * @returns {Promise<ClientCeiling[]>}
 */
async function clientCeilings(plan, name, targets, context) {
  const { signal, onProgress } = context;
  const loads = plan.loads.filter(({ kind }) => kind !== 'rate');
  /** @type {DriverJob[]} */
  const jobs = [];
  for (const target of targets) {
    const lack = await checkAvailable(target.definition, target.profile);
    for (const load of loads) {
      jobs.push({ target, load, records: [], capacities: [], failure: lack?.reason ?? null });
    }
  }
  const dataset = tableDataset(plan.dataset);
  const fakeServer = await startFakeServer(name, dataset);
  try {
    for (let round = 0; round < plan.rounds; round += 1) {
      // In every round anew: only what was measured side by side can be compared.
      const capacity = await fakeServerCapacity(name, fakeServer, dataset, loads, context);
      const order = orderOfRound(jobs.length, round, plan.rounds, plan.seed);
      for (const [position, index] of order.entries()) {
        const job = jobs[index];
        if (signal?.aborted || job.failure !== null) continue;
        const { definition, profile } = job.target;
        const share = (round + position / jobs.length) / plan.rounds;
        onProgress?.(`${definition.name}:${profile}, ${job.load.kind}`, share);
        const before = job.records.length;
        await runDriver(plan, job, { fakeServer, dataset, round, signal });
        if (job.records.length > before) job.capacities.push(capacity.get(job.load) ?? 0);
      }
    }
    return jobs
      .filter(({ records, failure }) => records.length > 0 || failure !== null)
      .map((job) => toClientCeiling(name, job));
  } finally {
    await fakeServer.stop();
  }
}

/**
 * The wire loop against the fake server, as many in flight as each load has.
 * @param {string} protocol
 * @param {import('../limits/fake/process.js').RunningFakeServer} fakeServer
 * @param {import('../lib/types.js').DatasetOptions} dataset
 * @param {readonly import('../lib/result.js').Load[]} loads
 * @param {LimitContext} context
 * @returns {Promise<Map<import('../lib/result.js').Load, number>>} replies per second
 */
async function fakeServerCapacity(protocol, fakeServer, dataset, loads, context) {
  const target = {
    protocol,
    endpoint: fakeServer.endpoint,
    credentialVariables: null,
    dataset,
    stallMs: 5000,
    serverPids: [fakeServer.pid],
  };
  const depthMax = Math.max(1, Math.floor(IN_FLIGHT_BYTES_MAX / dataset.valueSize));
  /** @type {Map<import('../lib/result.js').Load, number>} */
  const capacity = new Map();
  for (const load of loads) {
    const depth = Math.min(load.inFlight ?? BURST_DEPTH, BURST_DEPTH, depthMax);
    if (context.signal?.aborted) break;
    try {
      const options = { measureNs: measureNsOf(context) / 2, signal: context.signal };
      const point = await measurePoint(target, { connections: 1, depth }, options);
      capacity.set(load, point.opsPerSecond);
    } catch (error) {
      if (!context.signal?.aborted) throw error;
    }
  }
  return capacity;
}

/**
 * @param {Pick<RunPlan, 'seed' | 'timeoutMs' | 'warmupOperations'>} plan
 * @param {DriverJob} job gets the record, or why there is none
 * @param {{ fakeServer: import('../limits/fake/process.js').RunningFakeServer,
 *   dataset: import('../lib/types.js').DatasetOptions, round: number, signal?: AbortSignal }} turn
 */
async function runDriver(plan, job, { fakeServer, dataset, round, signal }) {
  const { target, load } = job;
  const { endpoint, pid } = fakeServer;
  const { record, failure } = await executeInChild(
    {
      storage: target.source,
      profile: target.profile,
      workload: DEFAULT_WORKLOAD,
      workloadOptions: {},
      load,
      // One server for every endpoint: it answers as that of the protocol.
      address: { main: endpoint, read: endpoint, write: endpoint, sql: endpoint },
      credentialVariables: null,
      serverPids: [pid],
      dataset,
      folder: '',
      seed: plan.seed + round * 16,
      warmupOperations: plan.warmupOperations,
      stallNs: plan.timeoutMs * 1e6,
    },
    { signal },
  );
  if (signal?.aborted) return;
  if (record === null || record.state !== 'measured') {
    const { message } = record?.failure ?? failure ?? { message: 'no result' };
    job.failure = message;
  } else if (record.outcomes[OK] !== record.scheduled) {
    const wrong = record.scheduled - record.outcomes[OK];
    job.failure = `${wrong} of ${record.scheduled} replies were wrong`;
  } else job.records.push(record);
}

/**
 * @param {string} protocol
 * @param {DriverJob} job
 * @returns {ClientCeiling}
 */
export function toClientCeiling(protocol, { target, load, records, capacities, failure }) {
  const { kind, inFlight, operations } = load;
  const rounds = records.map(({ durationNs, outcomes }) => (outcomes[OK] / durationNs) * 1e9);
  const { median, interval, n } = summarizeRounds(rounds);
  const { low, high, relativeHalfWidth, confidence } = interval;
  // The median of the rounds' own ratios: a round in which the machine was slow was so for both.
  const headroom = summarizeRounds(rounds.map((own, i) => capacities[i] / own)).median;
  const short = headroom !== null && headroom < HEADROOM_MIN;
  const isFigure = failure === null && !short && median !== null;
  return {
    storage: target.definition.name,
    profile: target.profile,
    protocol,
    load: {
      kind: /** @type {ClientCeiling['load']['kind']} */ (kind),
      inFlight,
      operations,
    },
    opsPerSecond: isFigure ? median : null,
    interval: isFigure ? { low, high, relativeHalfWidth, confidence } : null,
    n,
    clientCpuNs: perOperation(records, ({ client }) =>
      client === null ? null : client.userNs + client.systemNs,
    ),
    fakeServerCpuNs: perOperation(records, ({ server }) => server?.cpuNs ?? null),
    fakeServerOpsPerSecond: summarizeRounds(capacities).median,
    headroom,
    rounds,
    reason:
      failure ??
      (short
        ? `the fake server is only ${headroom.toFixed(1)} times as fast as the driver, not ` +
          `${HEADROOM_MIN}: it may be the bottleneck itself`
        : null),
  };
}

/**
 * @param {readonly import('./benchmark.js').BenchmarkRecord[]} records
 * @param {(record: import('./benchmark.js').BenchmarkRecord) => number | null} valueIn
 */
function perOperation(records, valueIn) {
  let [sum, ok] = [0, 0];
  for (const record of records) {
    const value = valueIn(record);
    if (value === null) return null;
    sum += value;
    ok += record.outcomes[OK];
  }
  return ok === 0 ? null : sum / ok;
}
