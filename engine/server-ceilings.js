/**
 * The server ceiling of a server: a brief scan over depths and numbers of connections, then its
 * best points measured again, each round in a fresh process and in mirrored order. The figure comes
 * from the rounds, since the maximum of many brief measurements is biased upwards.
 */

import { loadProtocol } from '../limits/wire/protocol.js';
import { ceilingContenders, figureOf, roundOf } from './ceiling-seats.js';
import { createProcesses } from './contender-process.js';
import { playRound } from './round.js';
import { wholeSegment } from './schedule/index.js';
import { depthMax } from './wire-contender.js';

const CONNECTIONS = Object.freeze([1, 2, 3, 4]);
/** Steps of four find the best depth, since the curve is flat around it. */
const DEPTHS = Object.freeze([1, 4, 16, 64, 256, 1024, 4096]);
/** Number of best points that are measured again. */
const FINALISTS = 3;
/** A small budget shortens the scan, which ends within half of it. */
const LOOK_NS_MAX = 100e6;
const LOOK_NS_MIN = 10e6;
const ROUND_NS = 150e6;

/** @typedef {import('../lib/ceilings.js').ServerCeiling} ServerCeiling */
/** @typedef {import('./client-ceilings.js').CeilingPlan} CeilingPlan */
/** @typedef {import('./targets.js').StorageTarget} StorageTarget */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {import('./round.js').RoundOptions<Partial<ServerCeiling>>} Options */
/** @typedef {import('./seat.js').SeatSpec} SeatSpec */
/** @typedef {import('./ceiling-seats.js').CeilingRound} CeilingRound */
/** @typedef {ServerCeiling['points'][number]} Point */

/**
 * @typedef {object} SweepContext
 * @property {number} budgetNs approximate budget of all; on a busy machine, on which starting
 *   processes takes most of it, only the best point is measured again, and in fewer rounds
 * @property {AbortSignal} [signal]
 * @property {(text: string, share: number) => void} [onProgress]
 * @property {import('./contender-process.js').ProcessFactory} [processes]
 */

/**
 * @param {CeilingPlan} plan
 * @param {string} name name of the protocol
 * @param {StorageTarget} target a driver of the server
 * @param {SweepContext} context
 * @returns {Promise<ServerCeiling | null>} null: aborted
 */
export async function measureServerCeiling(plan, name, target, context) {
  const protocol = await loadProtocol(name);
  const server = /** @type {ServerTarget} */ (target.server);
  const endpoint = server.address[protocol.endpoint];
  const missing =
    endpoint === undefined ? `no address of its endpoint "${protocol.endpoint}"` : null;
  /** @type {ServerCeiling} */
  const ceiling = {
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
    reason: missing ?? server.unavailable?.reason ?? null,
  };
  if (ceiling.reason !== null) return ceiling;
  const { signal, processes = createProcesses() } = context;
  /** @type {SeatSpec[]} */
  const seats = [];
  const schedule = (/** @type {Parameters<Options['schedule']>[0]} */ seen) =>
    sweep(plan, { ...context, target, seats }, seen);
  const { value } = await playRound({ seats, schedule, processes, signal });
  return value === undefined ? null : { ...ceiling, ...value };
}

/**
 * @param {CeilingPlan} plan
 * @param {SweepContext & { target: StorageTarget, seats: SeatSpec[] }} context seats: receives one
 *   for each process
 * @param {Parameters<Options['schedule']>[0]} seen
 * @returns {ReturnType<Options['schedule']>}
 */
function* sweep(plan, { budgetNs, onProgress, target, seats }, seen) {
  const { rounds, roundsLeast = rounds, dataset } = plan;
  const startNs = seen.nowNs();
  const lookNs = Math.min(LOOK_NS_MAX, budgetNs / 2 / CONNECTIONS.length / DEPTHS.length);
  const amount = { operations: null, durationNs: Math.max(LOOK_NS_MIN, Math.round(lookNs)) };
  const spentNs = () => seen.nowNs() - startNs;
  const failureOf = (/** @type {number} */ seat) => ({
    reason: seen.seatAt(seat).failure?.message ?? 'no replies during the measurement',
  });
  /** @type {Point[]} */
  const points = [];
  for (const [index, connections] of CONNECTIONS.entries()) {
    onProgress?.(`sweep on ${connections}`, index / CONNECTIONS.length / 2);
    const most = depthMax(connections, dataset.valueSize);
    const cells = DEPTHS.filter((depth) => depth <= most).map((depth) => ({ connections, depth }));
    const seat = seats.push(seatOf(plan, target, cells, 0)) - 1;
    yield [{ do: 'open', seat }];
    for (const load of cells.keys()) {
      yield [{ do: 'run', seat, load, amount, block: 0, of: 0, lead: false }];
    }
    yield [{ do: 'close', seat }];
    for (const [load, cell] of cells.entries()) {
      const look = roundOf(seen.seatAt(seat), load);
      if (look === null) return failureOf(seat);
      points.push({ ...cell, opsPerSecond: look.opsPerSecond });
    }
  }
  const isLate = spentNs() > budgetNs / 2;
  const finalists = points
    .toSorted(byThroughput)
    .slice(0, isLate ? 1 : FINALISTS)
    .map((point) => ({ ...point, done: /** @type {CeilingRound[]} */ ([]) }));
  for (let round = 0; round < rounds; round += 1) {
    if (round >= roundsLeast && spentNs() > budgetNs) break;
    for (const one of round % 2 === 0 ? finalists : finalists.toReversed()) {
      const { connections, depth, done } = one;
      onProgress?.(`${depth} deep on ${connections}, round ${round + 1}`, 0.5 + round / rounds / 2);
      const seat = seats.push(seatOf(plan, target, [one], round)) - 1;
      yield* wholeSegment(seat, { operations: null, durationNs: ROUND_NS }, seen);
      const record = roundOf(seen.seatAt(seat), 0);
      if (record === null) return failureOf(seat);
      done.push(record);
    }
  }
  const [best] = finalists
    .map(({ connections, depth, done }) => ({ ...figureOf(done), connections, depth }))
    .sort(byThroughput);
  return { ...best, points };
}

/**
 * @param {CeilingPlan} plan
 * @param {StorageTarget} target
 * @param {readonly Pick<Point, 'connections' | 'depth'>[]} cells one load each
 * @param {number} round
 * @returns {SeatSpec} the wire loop of its server
 */
function seatOf(plan, target, cells, round) {
  const loads = cells.map(({ connections, depth }) => ({
    kind: /** @type {const} */ ('window'),
    inFlight: connections * depth,
    connections,
    operations: null,
    durationNs: null,
  }));
  const [wire] = ceilingContenders([target], loads, plan, round).slice(-1);
  return { ...wire, spec: { ...wire.spec, isLong: true } };
}

/** @param {{ opsPerSecond: number | null }} a @param {{ opsPerSecond: number | null }} b */
function byThroughput(a, b) {
  return (b.opsPerSecond ?? 0) - (a.opsPerSecond ?? 0);
}
