/**
 * Client ceilings: every driver against a fake server that replies immediately. Each round has a
 * fresh process per driver, all protocols together, in blocks; the wire loop against each fake
 * server runs in the same blocks, so that compared figures are measured side by side. Bursts run
 * whole.
 */

import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { HEADROOM_MIN } from '../lib/ceilings.js';
import { createRandom } from '../lib/random.js';
import { startFakeServer } from '../limits/fake/process.js';
import { tableDataset } from '../limits/fake/table.js';
import { protocolOf } from '../limits/wire/protocol.js';
import { systemClock } from '../measure/clock.js';
import { figureOver } from '../stats/interval.js';
import { medianOf } from '../stats/metrics.js';
import { checkAvailable } from '../storages/index.js';
import { ceilingContenders, figureOf, roundOf } from './ceiling-seats.js';
import { createProcesses } from './contender-process.js';
import { playRound } from './round.js';
import { blocks, wholeSegment } from './schedule/index.js';

const SEGMENT_NS = 5e6;
/** Blocks of a round; the budget may require more or fewer. */
const BLOCKS_MIN = 3;
const BLOCKS_MAX = 30;
/** Time to start, open and warm up one driver alongside others. */
const START_NS = 0.2e9;
const BLOCKS_STREAM = 0x626c0000;

/** @typedef {import('../lib/ceilings.js').ClientCeiling} ClientCeiling */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {import('./seat.js').Seat} Seat */
/** @typedef {import('../limits/fake/process.js').RunningFakeServer} RunningFakeServer */

/**
 * @typedef {object} CeilingPlan
 * @property {RunPlan['loads']} loads an open loop has no ceiling
 * @property {number} rounds
 * @property {import('../lib/types.js').DatasetOptions} dataset
 * @property {number} seed
 * @property {number} timeoutMs
 * @property {number} [roundsLeast] minimum rounds once the budget is spent; absent: all
 * @property {boolean} [isFixed] operations of the loads are per round; otherwise the duration is
 *   fixed
 *
 * @typedef {object} DriverJob
 * @property {StorageTarget} target
 * @property {string} protocol
 * @property {import('../lib/result.js').Load} load
 * @property {import('./ceiling-seats.js').CeilingRound[]} records
 * @property {number[]} capacities figures of the wire loop against the fake server, in the round of
 *   each record
 * @property {string | null} failure
 */

/**
 * @param {CeilingPlan} plan
 * @param {ReadonlyMap<string, readonly StorageTarget[]>} byProtocol
 * @param {{ budgetNs: number, signal?: AbortSignal,
 *   onProgress?: (text: string, share: number) => void }} context
 * @returns {Promise<ClientCeiling[]>} measurements so far, if the signal aborted it
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
  let blockCount = BLOCKS_MAX;
  try {
    for (const name of byProtocol.keys()) fakes.set(name, await startFakeServer(name, dataset));
    for (let round = 0; round < plan.rounds && !signal?.aborted; round += 1) {
      const able = jobs.filter(({ failure }) => failure === null);
      const drivers = [...new Set(able.map(({ target }) => target))];
      const isLate = round >= roundsLeast && systemClock.now() > endNs;
      if (drivers.length === 0 || isLate) break;
      blockCount = Math.min(blockCount, blocksOf(drivers.length + fakes.size, loads, limits));
      const startNs = systemClock.now();
      const targets = drivers.map((target) => withServer(target, fakes));
      let shown = 0;
      const onPhase = (/** @type {string} */ phase, /** @type {number} */ share) => {
        shown = Math.max(shown, share);
        const text = `client ceilings, round ${round + 1}, ${phase}`;
        onProgress?.(text, (round + shown) / plan.rounds);
      };
      const seatsOf = (/** @type {RunPlan['loads']} */ own) =>
        ceilingContenders(targets, own, { ...plan, dataset }, round);
      const seats = await playCeilings(seatsOf, loads, {
        random: createRandom(orderSeed, BLOCKS_STREAM + round),
        signal,
        onPhase,
        parts: plan.isFixed ? blockCount : null,
        // On a busy machine a block takes longer than planned; the first round shows by how much.
        blocks(leadNs) {
          if (round > 0 || plan.isFixed) return blockCount;
          const leftNs = budgetNs / plan.rounds - (systemClock.now() - startNs);
          const fitting = Math.max(BLOCKS_MIN, Math.floor(leftNs / leadNs));
          blockCount = Math.min(blockCount, fitting);
          return blockCount;
        },
      });
      if (signal?.aborted) break;
      // On a busy machine the first round predicts the time that the others need.
      const most = (blockCount * budgetNs) / plan.rounds / (systemClock.now() - startNs);
      if (round === 0) blockCount = Math.min(blockCount, Math.max(BLOCKS_MIN, Math.floor(most)));
      takeRound(able, drivers, seats);
    }
    return jobs
      .filter(({ records, failure }) => records.length > 0 || failure !== null)
      .map(toClientCeiling);
  } finally {
    await Promise.all([...fakes.values()].map((fake) => fake.stop()));
  }
}

/**
 * @param {RunPlan['loads']} loads
 * @param {ReadonlyMap<string, readonly StorageTarget[]>} byProtocol
 * @returns {Promise<DriverJob[]>} ordered by driver, then load
 */
async function jobsOf(loads, byProtocol) {
  /** @type {DriverJob[]} */
  const jobs = [];
  for (const [protocol, targets] of byProtocol) {
    for (const target of targets) {
      const missing = await checkAvailable(target.definition, target.profile);
      const failure = missing?.reason ?? null;
      for (const load of loads) {
        jobs.push({ target, protocol, load, records: [], capacities: [], failure });
      }
    }
  }
  return jobs;
}

/**
 * @param {number} entrants
 * @param {RunPlan['loads']} loads
 * @param {{ budgetNs: number, rounds: number }} limits
 */
function blocksOf(entrants, loads, { budgetNs, rounds }) {
  const startNs = entrants * START_NS * Math.max(1, 4 / availableParallelism());
  const blockNs = entrants * loads.length * (SEGMENT_NS + 1e6);
  const fitting = Math.floor((budgetNs / rounds - startNs) / blockNs);
  return Math.min(BLOCKS_MAX, Math.max(BLOCKS_MIN, fitting));
}

/**
 * Runs loads other than bursts in blocks; then each burst whole, one contender after another.
 * @param {(loads: RunPlan['loads']) => import('./roles.js').Contender[]} seatsOf
 * @param {RunPlan['loads']} loads
 * @param {{ random: () => number, signal?: AbortSignal, blocks: (leadNs: number) => number, parts:
 *   number | null, onPhase: (phase: string, share: number) => void }} how parts: segments that
 *   share the operations of a load, if these are fixed
 * @returns {Promise<Seat[]>} figures of each load in the order of the drivers, then of the wire
 *   loops
 */
async function playCeilings(seatsOf, loads, { random, signal, blocks: count, parts, onPhase }) {
  const closed = loads.filter(({ kind }) => kind !== 'burst');
  const inBlocks = seatsOf(closed);
  const bursts = loads.flatMap((load) =>
    load.kind === 'burst' ? seatsOf([load]).map((seat) => ({ seat, load })) : [],
  );
  const { seats } = await playRound({
    seats: [...inBlocks, ...bursts.map(({ seat }) => seat)],
    *schedule(seen) {
      const plan = {
        seats: inBlocks,
        loads: closed.map((load) => ({ ...load, place: '' })),
        random,
        segmentNs: SEGMENT_NS,
        leadBlocks: 1,
        blocks: count,
        amounts:
          parts === null
            ? undefined
            : closed.map(({ operations }) => ({
                operations: Math.ceil((operations ?? 0) / parts),
                durationNs: null,
                brief: true,
              })),
      };
      if (closed.length > 0) yield* blocks(plan, seen);
      for (const [i, { load }] of bursts.entries()) {
        const { operations, durationNs } = load;
        yield* wholeSegment(inBlocks.length + i, { operations, durationNs }, seen);
      }
    },
    processes: createProcesses(),
    signal,
    onPhase,
  });
  return seats;
}

/**
 * @param {StorageTarget} target
 * @param {ReadonlyMap<string | null, RunningFakeServer>} fakes
 * @returns {StorageTarget} the same driver against the fake server
 */
function withServer(target, fakes) {
  const fake = /** @type {RunningFakeServer} */ (fakes.get(protocolOf(target.definition)));
  const { own: _own, ...server } = /** @type {ServerTarget} */ (target.server);
  const { endpoint: main } = fake;
  // One server for every endpoint; it replies in the protocol of the endpoint.
  const address = { main, read: main, write: main, sql: main };
  return { ...target, server: { ...server, address, credentialVariables: null, pids: [fake.pid] } };
}

/**
 * @param {readonly DriverJob[]} jobs they receive the records of the round, or the reason why
 *   there is none
 * @param {readonly StorageTarget[]} drivers
 * @param {readonly Seat[]} seats seats of playCeilings
 */
function takeRound(jobs, drivers, seats) {
  for (const job of jobs) {
    const own = seats.filter(({ about }) => about.spec.tasks.some((one) => one?.load === job.load));
    const at = own[0].about.spec.tasks.findIndex((task) => task?.load === job.load);
    const wire = own.find(({ about }) => about.spec.wire?.protocol === job.protocol);
    const pair = [own[drivers.indexOf(job.target)], /** @type {Seat} */ (wire)];
    job.failure = pair.flatMap((seat) => seat.failureOf(at)?.message ?? [])[0] ?? null;
    const [record, capacity] = pair.map((seat) => roundOf(seat, at));
    if (job.failure !== null || record === null || capacity === null) continue;
    job.records.push(record);
    job.capacities.push(capacity.opsPerSecond);
  }
}

/**
 * @param {DriverJob} job
 * @returns {ClientCeiling}
 */
export function toClientCeiling({ target, protocol, load, records, capacities, failure }) {
  const { kind, inFlight, operations } = load;
  const { opsPerSecond, interval, serverCpuNs, ...figure } = figureOf(records);
  // The median of the ratios per round: in a slow round, both sides were slow.
  const headroom = medianOf(capacities.map((most, i) => most / figure.rounds[i]));
  const short = headroom !== null && headroom < HEADROOM_MIN;
  const isFigure = failure === null && !short && opsPerSecond !== null;
  return {
    storage: target.definition.name,
    profile: target.profile,
    protocol,
    load: {
      kind: /** @type {ClientCeiling['load']['kind']} */ (kind),
      inFlight,
      operations,
    },
    ...figure,
    opsPerSecond: isFigure ? opsPerSecond : null,
    interval: isFigure ? interval : null,
    fakeServerCpuNs: serverCpuNs,
    fakeServerOpsPerSecond: figureOver(capacities)?.value ?? null,
    headroom,
    reason:
      failure ??
      (short
        ? `the fake server is only ${headroom.toFixed(1)} times as fast as the driver, not ` +
          `${HEADROOM_MIN}: it may be the bottleneck itself`
        : null),
  };
}
