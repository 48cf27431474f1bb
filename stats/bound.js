/**
 * What a cell was bound by: the driver (its thread is full), the server (its thread or the cores
 * are full), or latency (neither: they wait for each other). Pure.
 *
 * Event-loop utilisation is not looked at: with one request in flight it shows 0.75 to 0.97 at
 * half a core. CPU time tells; where it does not, a known limit that was reached does.
 */

/** From this share of its time on a thread is full: a busy one is interrupted now and then. */
export const FULL = 0.9;

/** @typedef {'driver' | 'server' | 'latency'} BoundVerdict */

/**
 * @typedef {object} Bound
 * @property {BoundVerdict | null} verdict null: not enough is known
 * @property {number | null} clientShare CPU time of the client's process over wall time; with
 *   helper threads (garbage collection) it may exceed 1
 * @property {number | null} serverShare the same of the server's busiest thread where that is
 *   known, else of all its threads together
 */

/**
 * @typedef {object} BoundInput sums over the measured rounds of a cell
 * @property {number} durationNs wall time
 * @property {number | null} clientCpuNs user and system; null: not known
 * @property {number | null} serverCpuNs all threads; null: remote or not readable
 * @property {number | null} [serverThreadNs] the busiest thread; null: not known
 * @property {boolean} [embedded] there is no server
 * @property {number} [cores] of the machine, where the server is on it
 * @property {number} [processes] that shared the load; each is a thread that can be full
 * @property {number | null} [ofDriverLimit] throughput over the driver's limit
 * @property {number | null} [ofWireLimit] throughput over the wire's
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
 * The driver goes first: where both are full, a faster server alone would change nothing.
 * @param {BoundInput} input
 * @param {number | null} clientShare
 * @returns {BoundVerdict | null}
 */
function verdictOf(input, clientShare) {
  const { embedded = false, ofDriverLimit = null, ofWireLimit = null } = input;
  if (clientShare !== null && clientShare >= FULL) return 'driver';
  const isServerFull = embedded ? false : serverFull(input);
  if (isServerFull === true) return 'server';
  if ((ofDriverLimit ?? 0) >= FULL) return 'driver';
  if ((ofWireLimit ?? 0) >= FULL) return 'server';
  return clientShare === null || isServerFull === null ? null : 'latency';
}

/**
 * A server of several threads may add up to a whole core with none of them full: without the
 * busiest thread's time, a sum above one core says nothing until all cores are full.
 * @param {BoundInput} input
 * @returns {boolean | null} null: not known
 */
function serverFull({ durationNs, clientCpuNs, serverCpuNs, serverThreadNs = null, cores }) {
  if (serverCpuNs === null || !(durationNs > 0)) return null;
  const used = (serverCpuNs + (clientCpuNs ?? 0)) / durationNs;
  if (cores !== undefined && used >= FULL * cores) return true;
  if (serverThreadNs !== null) return serverThreadNs / durationNs >= FULL;
  return serverCpuNs / durationNs < FULL ? false : null;
}
