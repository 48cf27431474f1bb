/**
 * The server ceiling of a server: a short look at every depth and number of connections, then the
 * best of them measured again, each round in a fresh process and in a mirrored order. The figure is
 * that of the rounds, not of the look: the best of many short looks is too high by chance.
 */

import { systemClock } from '../../measure/clock.js';
import { summarizeRounds } from '../../stats/summary.js';
import { runWire } from './process.js';

export const CONNECTIONS = Object.freeze([1, 2, 3, 4]);
export const DEPTHS = Object.freeze(Array.from({ length: 13 }, (_, i) => 2 ** i));
/** The best of the sweep that are measured again. */
const FINALISTS = 3;
/** Rows under way at most, so that neither end runs out of memory with great values. */
const IN_FLIGHT_BYTES_MAX = 64 * 2 ** 20;
const SWEEP = Object.freeze({ warmNs: 30e6, measureNs: 100e6 });

/** @typedef {import('./process.js').WireSpec} WireSpec */
/** @typedef {import('./pump.js').WirePoint} WirePoint */
/** @typedef {Omit<WireSpec, 'connections' | 'depths' | 'warmNs' | 'measureNs'>} WireTarget */

/**
 * @typedef {object} SweepOptions
 * @property {number} rounds of each finalist
 * @property {number} measureNs of a round
 * @property {number} [budgetNs] of all, about: on a busy machine, where starting processes takes
 *   the time, the best point alone is measured again, and in fewer rounds
 * @property {number} [roundsLeast] no fewer than these; absent: all
 * @property {AbortSignal} [signal]
 * @property {(text: string, share: number) => void} [onProgress]
 * @property {import('./process.js').WireExecutor} [executor]
 * @property {readonly number[]} [connections]
 * @property {readonly number[]} [depths]
 */

/**
 * @typedef {object} WireFigure
 * @property {number} opsPerSecond median of the rounds
 * @property {{ low: number | null, high: number | null, relativeHalfWidth: number | null,
 *   confidence: number }} interval of the rounds' mean
 * @property {number} n rounds
 * @property {number} depth
 * @property {number} connections
 * @property {number} clientCpuNs for each reply
 * @property {number | null} serverCpuNs for each reply
 * @property {number[]} rounds replies per second of each
 * @property {{ connections: number, depth: number, opsPerSecond: number }[]} points of the sweep
 */

/**
 * @param {WireTarget} target
 * @param {SweepOptions} options
 * @returns {Promise<WireFigure>}
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET, E_INVALID (wrong answers),
 *   E_ABORTED
 */
export async function sweepWire(target, options) {
  const { rounds, roundsLeast = rounds, onProgress } = options;
  const { budgetNs = Number.POSITIVE_INFINITY } = options;
  const startNs = systemClock.now();
  const spentNs = () => systemClock.now() - startNs;
  const points = await look(target, options);
  const isLate = spentNs() > budgetNs / 2;
  const finalists = [...points].sort(byThroughput).slice(0, isLate ? 1 : FINALISTS);
  /** @type {WirePoint[][]} */
  const measured = finalists.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    if (round >= roundsLeast && spentNs() > budgetNs) break;
    const order = [...finalists.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order) {
      const { connections, depth } = finalists[index];
      onProgress?.(`${depth} deep on ${connections}, round ${round + 1}`, 0.5 + round / rounds / 2);
      measured[index].push(await measurePoint(target, { connections, depth }, options));
    }
  }
  const figures = measured.map(toFigure).sort(byThroughput);
  return {
    ...figures[0],
    points: points.map(({ connections, depth, opsPerSecond }) => ({
      connections,
      depth,
      opsPerSecond,
    })),
  };
}

/**
 * Every depth on every number of connections, once; a process for each number.
 * @param {WireTarget} target
 * @param {SweepOptions} options
 */
async function look(target, options) {
  const { connections: counts = CONNECTIONS, depths = DEPTHS } = options;
  const { executor = runWire, signal, onProgress } = options;
  /** @type {WirePoint[]} */
  const points = [];
  for (const [index, connections] of counts.entries()) {
    onProgress?.(`sweep on ${connections}`, index / counts.length / 2);
    const rows = IN_FLIGHT_BYTES_MAX / connections / target.dataset.valueSize;
    const fitting = depths.filter((depth, i) => i === 0 || depth <= rows);
    const spec = { ...target, ...SWEEP, connections, depths: fitting };
    points.push(...(await executor(spec, { signal })).points);
  }
  return points;
}

/**
 * One point in a separate process.
 * @param {WireTarget} target
 * @param {{ connections: number, depth: number }} point
 * @param {Pick<SweepOptions, 'measureNs' | 'executor' | 'signal'>} options
 * @returns {Promise<WirePoint>}
 */
export async function measurePoint(target, { connections, depth }, options) {
  const { executor = runWire, measureNs, signal } = options;
  const warmNs = Math.max(SWEEP.warmNs, measureNs / 3);
  const spec = { ...target, connections, depths: [depth], warmNs, measureNs };
  return (await executor(spec, { signal })).points[0];
}

/**
 * @param {readonly WirePoint[]} points rounds of one point
 * @returns {Omit<WireFigure, 'points'>}
 */
export function toFigure(points) {
  const rounds = points.map(({ opsPerSecond }) => opsPerSecond);
  const { median, interval, n } = summarizeRounds(rounds);
  const { low, high, relativeHalfWidth, confidence } = interval;
  const replies = sum(points.map((point) => point.replies));
  const server = points.map(({ serverCpuNs }) => serverCpuNs);
  return {
    opsPerSecond: median ?? 0,
    interval: { low, high, relativeHalfWidth, confidence },
    n,
    depth: points[0].depth,
    connections: points[0].connections,
    clientCpuNs: sum(points.map(({ clientCpuNs }) => clientCpuNs)) / replies,
    serverCpuNs: server.every((ns) => ns !== null) ? sum(server) / replies : null,
    rounds,
  };
}

/** @param {readonly number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** @param {{ opsPerSecond: number }} a @param {{ opsPerSecond: number }} b */
function byThroughput(a, b) {
  return b.opsPerSecond - a.opsPerSecond;
}
