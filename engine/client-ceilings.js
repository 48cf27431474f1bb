/**
 * Client ceilings: every driver against a fake server that answers at once, by slices. In each
 * round a fresh process per driver, all protocols together; the wire loop against each fake server
 * stands in the same blocks, so that what is compared was measured side by side.
 */

import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { HEADROOM_MIN } from '../lib/ceilings.js';
import { labelOf } from '../lib/label.js';
import { OK } from '../lib/outcome.js';
import { startFakeServer } from '../limits/fake/process.js';
import { tableDataset } from '../limits/fake/table.js';
import { systemClock } from '../measure/clock.js';
import { summarizeRounds } from '../stats/summary.js';
import { checkAvailable } from '../storages/index.js';
import { DEFAULT_WORKLOAD } from '../workloads/index.js';
import { runRound } from './slices/round.js';

/** A burst's depth for the wire loop: deeper gives no more. */
const BURST_DEPTH = 4096;
/** Rows under way at most, in the wire loop against a fake server. */
const IN_FLIGHT_BYTES_MAX = 64 * 2 ** 20;
const SLICE_NS = 5e6;
/** Blocks of a round, where the budget leaves room for more or for fewer. */
const BLOCKS_MIN = 3;
const BLOCKS_MAX = 30;
/** To start, open and warm up one driver beside others. */
const START_NS = 0.2e9;
const WARM_NS_MAX = 0.4e9;
const WIRE_STALL_MS = 5000;

/** @typedef {import('../lib/ceilings.js').ClientCeiling} ClientCeiling */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./slices/round.js').Entrant} Entrant */
/** @typedef {import('./slices/round.js').ContenderRound} ContenderRound */
/** @typedef {import('./slices/storage-contender.js').SliceLoad} SliceLoad */
/** @typedef {import('../limits/fake/process.js').RunningFakeServer} RunningFakeServer */

/**
 * @typedef {object} CeilingPlan
 * @property {RunPlan['loads']} loads an open loop has no ceiling
 * @property {number} rounds
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {number} seed
 * @property {number} timeoutMs
 * @property {number} [roundsLeast] so many where the budget is spent by then; absent: all
 * @property {boolean} [isFixed] operations of the loads are per round; else it is the time that
 *   counts
 *
 * @typedef {object} CeilingRecord of a driver under one load in one round
 * @property {number} durationNs
 * @property {readonly number[]} outcomes
 * @property {{ userNs: number, systemNs: number } | null} client
 * @property {{ cpuNs: number } | null} server the fake one
 *
 * @typedef {object} DriverJob
 * @property {StorageTarget} target
 * @property {string} protocol
 * @property {import('../lib/result.js').Load} load
 * @property {CeilingRecord[]} records
 * @property {number[]} capacities the wire loop against the fake server, in the round of each
 *   record
 * @property {string | null} failure
 */

/**
 * @param {CeilingPlan} plan
 * @param {ReadonlyMap<string, readonly StorageTarget[]>} byProtocol
 * @param {{ budgetNs: number, signal?: AbortSignal,
 *   onProgress?: (text: string, share: number) => void }} context
 * @returns {Promise<ClientCeiling[]>} what was measured until then, where the signal stopped it
 */
export async function measureClientCeilings(plan, byProtocol, { budgetNs, signal, onProgress }) {
  const loads = plan.loads.filter(({ kind }) => kind !== 'rate');
  const jobs = await jobsOf(loads, byProtocol);
  const dataset = tableDataset(plan.dataset);
  /** @type {Map<string, RunningFakeServer>} */
  const fakes = new Map();
  const orderSeed = randomInt(2 ** 32);
  const limits = { budgetNs, rounds: plan.rounds };
  const { roundsLeast = plan.rounds } = plan;
  const endNs = systemClock.now() + budgetNs;
  let blocks = BLOCKS_MAX;
  try {
    for (const name of byProtocol.keys()) fakes.set(name, await startFakeServer(name, dataset));
    for (let round = 0; round < plan.rounds && !signal?.aborted; round += 1) {
      const drivers = driversOf(jobs);
      const isLate = round >= roundsLeast && systemClock.now() > endNs;
      if (drivers.length === 0 || isLate) break;
      blocks = Math.min(blocks, blocksOf(drivers.length + fakes.size, loads, limits));
      const startNs = systemClock.now();
      const sliced = loads.map((load) => toSliceLoad(load, blocks, plan));
      const context = { plan, dataset, fakes, sliced, round };
      const entrants = [
        ...drivers.map((job) => driverEntrant(job, context)),
        ...[...fakes].map(([name, fake]) => wireEntrant(name, fake, context)),
      ];
      // On a busy machine a block takes longer than planned: the first round shows it.
      const fitBlocks = (/** @type {number} */ leadNs) => {
        const leftNs = budgetNs / plan.rounds - (systemClock.now() - startNs);
        return (blocks = Math.min(blocks, Math.max(BLOCKS_MIN, Math.floor(leftNs / leadNs))));
      };
      const done = await runRound(entrants, sliced, {
        ...{ round, blocks, orderSeed, sliceNs: SLICE_NS, leadBlocks: 1, signal },
        warmNsMax: WARM_NS_MAX,
        ...(round === 0 && !plan.isFixed && { fitBlocks }),
        onPhase: (phase, share) =>
          onProgress?.(
            `client ceilings, round ${round + 1}, ${phase}`,
            (round + share) / plan.rounds,
          ),
      });
      if (signal?.aborted) break;
      // On a busy machine the others are shorter than the first: that one says what they take.
      const most = (blocks * budgetNs) / plan.rounds / (systemClock.now() - startNs);
      if (round === 0) blocks = Math.min(blocks, Math.max(BLOCKS_MIN, Math.floor(most)));
      takeRound(jobs, loads, { drivers, protocols: [...fakes.keys()], done });
    }
    return jobs
      .filter(({ records, failure }) => records.length > 0 || failure !== null)
      .map((job) => toClientCeiling(job.protocol, job));
  } finally {
    await Promise.all([...fakes.values()].map((fake) => fake.stop()));
  }
}

/**
 * @param {RunPlan['loads']} loads
 * @param {ReadonlyMap<string, readonly StorageTarget[]>} byProtocol
 * @returns {Promise<DriverJob[]>} by driver, then load
 */
async function jobsOf(loads, byProtocol) {
  /** @type {DriverJob[]} */
  const jobs = [];
  for (const [protocol, targets] of byProtocol) {
    for (const target of targets) {
      const lack = await checkAvailable(target.definition, target.profile);
      const failure = lack?.reason ?? null;
      for (const load of loads) {
        jobs.push({ target, protocol, load, records: [], capacities: [], failure });
      }
    }
  }
  return jobs;
}

/** @param {readonly DriverJob[]} jobs @returns {DriverJob[]} one of each driver that can run */
function driversOf(jobs) {
  const seen = new Map(
    jobs.filter(({ failure }) => failure === null).map((job) => [job.target, job]),
  );
  return [...seen.values()];
}

/**
 * @param {number} entrants
 * @param {RunPlan['loads']} loads
 * @param {{ budgetNs: number, rounds: number }} limits
 */
function blocksOf(entrants, loads, { budgetNs, rounds }) {
  const startNs = entrants * START_NS * Math.max(1, 4 / availableParallelism());
  const blockNs = entrants * loads.length * (SLICE_NS + 1e6);
  const fitting = Math.floor((budgetNs / rounds - startNs) / blockNs);
  return Math.min(BLOCKS_MAX, Math.max(BLOCKS_MIN, fitting));
}

/**
 * @param {import('../lib/result.js').Load} load
 * @param {number} blocks
 * @param {CeilingPlan} plan
 * @returns {SliceLoad}
 */
function toSliceLoad({ kind, inFlight, operations }, blocks, { isFixed }) {
  if (kind === 'burst') return { kind, inFlight: operations ?? BURST_DEPTH, whole: true };
  const own = { kind: /** @type {'sync' | 'window'} */ (kind), inFlight: inFlight ?? 1 };
  if (!isFixed || operations === null) return own;
  return { ...own, sliceOperations: Math.ceil(operations / blocks) };
}

/** @typedef {{ plan: CeilingPlan, dataset: import('../lib/types.js').DatasetOptions,
 *   fakes: ReadonlyMap<string, RunningFakeServer>, sliced: SliceLoad[], round: number }} Turn */

/**
 * @param {DriverJob} job
 * @param {Turn} turn
 * @returns {Entrant}
 */
function driverEntrant({ target, protocol, load }, { plan, dataset, fakes, sliced, round }) {
  const { endpoint, pid } = /** @type {RunningFakeServer} */ (fakes.get(protocol));
  return {
    name: labelOf({ storage: target.definition.name, profile: target.profile }),
    every: 1,
    serverPids: [pid],
    spec: {
      kind: 'storage',
      loads: sliced,
      benchmark: {
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
        warmupOperations: 1,
        stallNs: plan.timeoutMs * 1e6,
      },
    },
  };
}

/**
 * @param {string} protocol
 * @param {RunningFakeServer} fake
 * @param {Turn} turn
 * @returns {Entrant}
 */
function wireEntrant(protocol, { endpoint }, { dataset, sliced }) {
  const depthMax = Math.max(1, Math.floor(IN_FLIGHT_BYTES_MAX / dataset.valueSize));
  return {
    name: protocol,
    every: 1,
    serverPids: [],
    spec: {
      kind: 'wire',
      loads: sliced.map((load) => ({
        ...load,
        inFlight: Math.min(load.inFlight, BURST_DEPTH, depthMax),
      })),
      benchmark: /** @type {any} */ ({}),
      wire: {
        ...{ protocol, endpoint, connections: 1, depths: [], warmNs: 0, measureNs: SLICE_NS },
        ...{ credentialVariables: null, dataset, stallMs: WIRE_STALL_MS, serverPids: [] },
      },
    },
  };
}

/**
 * @param {readonly DriverJob[]} jobs get the records of the round, or why there is none
 * @param {RunPlan['loads']} loads
 * @param {{ drivers: readonly DriverJob[], protocols: readonly string[],
 *   done: readonly ContenderRound[] }} round done: of the drivers, then of the wires
 */
function takeRound(jobs, loads, { drivers, protocols, done }) {
  for (const [i, { target, protocol }] of drivers.entries()) {
    const wire = done[drivers.length + protocols.indexOf(protocol)];
    const own = jobs.filter((job) => job.target === target);
    for (const job of own) {
      const load = loads.indexOf(job.load);
      const [speed, capacity] = [done[i], wire].map((one) => nsPerOperation(one, load));
      job.failure = failureOf(done[i], load) ?? wire.failure?.message ?? null;
      if (job.failure !== null || speed === null || capacity === null) continue;
      const { outcomes, cpu = null } = done[i].series[load];
      const server = done[i].servers?.[load] ?? null;
      job.records.push({ durationNs: speed * outcomes[OK], outcomes, client: cpu, server });
      job.capacities.push(1e9 / capacity);
    }
  }
}

/**
 * @param {ContenderRound} done
 * @param {number} load
 * @returns {string | null}
 */
function failureOf({ failure, series }, load) {
  if (failure !== null) return failure.message;
  const { outcomes, scheduled } = series[load];
  const wrong = scheduled - outcomes[OK];
  return wrong === 0 ? null : `${wrong} of ${scheduled} replies were wrong`;
}

/**
 * @param {ContenderRound} done
 * @param {number} load
 * @returns {number | null} over all slices; null: there is none
 */
function nsPerOperation({ slices }, load) {
  let [spanNs, operations] = [0, 0];
  for (const slice of slices[load]) {
    spanNs += slice?.spanNs ?? 0;
    operations += slice?.spanOperations ?? 0;
  }
  return operations === 0 ? null : spanNs / operations;
}

/**
 * @param {string} protocol
 * @param {Omit<DriverJob, 'protocol'>} job
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
 * @param {readonly CeilingRecord[]} records
 * @param {(record: CeilingRecord) => number | null} valueIn
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
