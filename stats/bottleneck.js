/**
 * The bottleneck of a benchmark: the driver (its thread is full), the server (its thread or the
 * cores are full), or latency (neither; they wait for each other). Pure.
 *
 * If the kernel counts how long a thread ran and waited for a processor, that decides: time in
 * which it was runnable but preempted by another program is unrelated to the thread's load, while
 * CPU time over wall time would report a saturated driver on a busy machine as "latency".
 * Event-loop utilisation is not used: with one request in flight it shows 0.75 to 0.97 at half a
 * core.
 */

import { upperMedian } from './percentile.js';

/** CPU share from which a thread counts as full; even a busy thread is interrupted sometimes. */
export const FULL = 0.9;
/** Run time over runnable time; above the lower bound the thread is nearly full. */
const OCCUPIED = 0.95;
const NEARLY_OCCUPIED = 0.8;

/** Share of the wall time in which the client waited for a processor used by others. */
const WAITING = 0.25;

/**
 * @typedef {'driver' | 'server' | 'latency' | 'machine' | 'driver/latency' | 'server/latency'}
 *   Verdict two names: between the two states
 */

/**
 * @typedef {object} Bottleneck
 * @property {Verdict | null} verdict null: unknown
 * @property {number | null} clientShare how full the client's thread was; from CPU time, where
 *   helper
 *   threads (garbage collection) count, it may exceed 1
 * @property {number | null} serverShare same for the server's busiest thread if known, otherwise
 *   for all its threads together
 *
 * @typedef {{ client: number | null, server: number | null }} Occupancy
 *
 * @typedef {object} CpuTimes sums over the measured rounds of a benchmark
 * @property {number} durationNs wall time
 * @property {number | null} clientCpuNs user and system; null: unknown
 * @property {number | null} serverCpuNs all threads; null: remote or unreadable
 * @property {number | null} [serverThreadNs] the busiest thread; null: unknown
 * @property {number} [cores] cores of the machine, if the server is local
 * @property {number} [processes] client processes sharing the load
 * @property {number | null} [ofClientCeiling] throughput / client ceiling
 * @property {number | null} [ofServerCeiling] throughput / server ceiling
 */

/**
 * @param {{ occupancy?: readonly Occupancy[], waits?: readonly number[], cpu: CpuTimes, embedded?:
 *   boolean }} input occupancy: of the threads, by round; waits: shares of the wall time in which
 *   the client waited for a processor used by others, by round; cpu: used if the occupancy is
 *   unknown; embedded: there is no server
 * @returns {Bottleneck}
 */
export function bottleneckOf({ occupancy = [], waits = [], cpu, embedded = false }) {
  const client = upperMedian(occupancy.flatMap((round) => round.client ?? []));
  const server = upperMedian(occupancy.flatMap((round) => round.server ?? []));
  // An unreadable server is not known to wait.
  const isBlind = !embedded && server === null && (client ?? 0) < NEARLY_OCCUPIED;
  const found =
    client === null || isBlind
      ? byCpu(cpu, embedded)
      : { verdict: byOccupancy(client, server ?? 0), clientShare: client, serverShare: server };
  const isWaiting = found.verdict === 'latency' && (upperMedian(waits) ?? 0) >= WAITING;
  return isWaiting ? { ...found, verdict: 'machine' } : found;
}

/**
 * The driver is checked first: if both are full, a faster server alone would change nothing.
 * @param {number} client
 * @param {number} server its busiest thread; 0: none
 * @returns {Verdict}
 */
function byOccupancy(client, server) {
  if (client > OCCUPIED) return 'driver';
  if (server > OCCUPIED) return 'server';
  if (client >= NEARLY_OCCUPIED && client >= server) return 'driver/latency';
  return server >= NEARLY_OCCUPIED ? 'server/latency' : 'latency';
}

/**
 * @param {CpuTimes} cpu
 * @param {boolean} embedded
 * @returns {Bottleneck}
 */
function byCpu(cpu, embedded) {
  const { durationNs, clientCpuNs, serverCpuNs, serverThreadNs = null, processes = 1 } = cpu;
  const { ofClientCeiling = null, ofServerCeiling = null } = cpu;
  const share = (/** @type {number | null} */ ns) =>
    ns === null || !(durationNs > 0) ? null : ns / durationNs;
  const client = share(clientCpuNs);
  const clientShare = client === null ? null : client / processes;
  const serverShare = embedded ? null : (share(serverThreadNs) ?? share(serverCpuNs));
  const isServerFull = embedded ? false : serverFull(cpu);
  const verdict = () => {
    if (clientShare !== null && clientShare >= FULL) return 'driver';
    if (isServerFull === true) return 'server';
    if ((ofClientCeiling ?? 0) >= FULL) return 'driver';
    if ((ofServerCeiling ?? 0) >= FULL) return 'server';
    return clientShare === null || isServerFull === null ? null : 'latency';
  };
  return { verdict: verdict(), clientShare, serverShare };
}

/**
 * The threads of a server may add up to a whole core with none of them full: without the busiest
 * thread's time, a sum above one core is inconclusive until all cores are full.
 * @param {CpuTimes} cpu
 * @returns {boolean | null} null: unknown
 */
function serverFull({ durationNs, clientCpuNs, serverCpuNs, serverThreadNs = null, cores }) {
  if (serverCpuNs === null || !(durationNs > 0)) return null;
  const used = (serverCpuNs + (clientCpuNs ?? 0)) / durationNs;
  if (cores !== undefined && used >= FULL * cores) return true;
  if (serverThreadNs !== null) return serverThreadNs / durationNs >= FULL;
  return serverCpuNs / durationNs < FULL ? false : null;
}
