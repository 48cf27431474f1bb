/**
 * The bottleneck of a benchmark: the driver (its thread is full), the server (its thread or the
 * cores are full), or latency (neither; they wait for each other). Pure.
 *
 * Event-loop utilisation is not used: with one request in flight it shows 0.75 to 0.97 at half a
 * core. The verdict is based on CPU time, or on a known ceiling that was reached.
 */

/** CPU share from which a thread counts as full; even a busy thread is interrupted sometimes. */
export const FULL = 0.9;

/** @typedef {import('./occupancy.js').OccupancyVerdict} BoundVerdict two names: by slices only */

/**
 * @typedef {object} Bound
 * @property {BoundVerdict | null} verdict null: unknown
 * @property {number | null} clientShare CPU time of the client's process over wall time; with
 *   helper threads (garbage collection) it may exceed 1
 * @property {number | null} serverShare the same for the server's busiest thread if known,
 *   otherwise for all its threads together
 */

/**
 * @typedef {object} BoundInput sums over the measured rounds of a benchmark
 * @property {number} durationNs wall time
 * @property {number | null} clientCpuNs user and system; null: unknown
 * @property {number | null} serverCpuNs all threads; null: remote or not readable
 * @property {number | null} [serverThreadNs] the busiest thread; null: unknown
 * @property {boolean} [embedded] there is no server
 * @property {number} [cores] of the machine, if the server is local
 * @property {number} [processes] client processes sharing the load
 * @property {number | null} [ofClientCeiling] throughput / client ceiling
 * @property {number | null} [ofServerCeiling] throughput / server ceiling
 */

/**
 * @param {BoundInput} input
 * @returns {Bound}
 */
export function boundOf(input) {
  const { durationNs, clientCpuNs, serverCpuNs, serverThreadNs = null } = input;
  const { embedded = false, processes = 1 } = input;
  const share = (/** @type {number | null} */ ns) =>
    ns === null || !(durationNs > 0) ? null : ns / durationNs;
  const client = share(clientCpuNs);
  const clientShare = client === null ? null : client / processes;
  const serverShare = embedded ? null : (share(serverThreadNs) ?? share(serverCpuNs));
  return { verdict: verdictOf(input, clientShare), clientShare, serverShare };
}

/**
 * The driver is checked first: if both are full, a faster server alone would change nothing.
 * @param {BoundInput} input
 * @param {number | null} clientShare
 * @returns {BoundVerdict | null}
 */
function verdictOf(input, clientShare) {
  const { embedded = false, ofClientCeiling = null, ofServerCeiling = null } = input;
  if (clientShare !== null && clientShare >= FULL) return 'driver';
  const isServerFull = embedded ? false : serverFull(input);
  if (isServerFull === true) return 'server';
  if ((ofClientCeiling ?? 0) >= FULL) return 'driver';
  if ((ofServerCeiling ?? 0) >= FULL) return 'server';
  return clientShare === null || isServerFull === null ? null : 'latency';
}

/**
 * The threads of a server may add up to a whole core with none of them full: without the busiest
 * thread's time, a sum above one core is inconclusive until all cores are full.
 * @param {BoundInput} input
 * @returns {boolean | null} null: unknown
 */
function serverFull({ durationNs, clientCpuNs, serverCpuNs, serverThreadNs = null, cores }) {
  if (serverCpuNs === null || !(durationNs > 0)) return null;
  const used = (serverCpuNs + (clientCpuNs ?? 0)) / durationNs;
  if (cores !== undefined && used >= FULL * cores) return true;
  if (serverThreadNs !== null) return serverThreadNs / durationNs >= FULL;
  return serverCpuNs / durationNs < FULL ? false : null;
}
