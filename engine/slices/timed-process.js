/**
 * A contender's slices of a round by their times, in its own process: it sleeps between them and is
 * told nothing until the round is over.
 */

import { ThreadClocks } from '../../measure/schedstat.js';
import { OccupancySum } from './occupancy.js';

/** After so many slices with failed operations it runs no more: each may time out. */
const INVALID_MAX = 2;

/**
 * @typedef {object} TimedSlot
 * @property {number} slot index in the timetable
 * @property {number} load
 * @property {boolean} lead
 * @property {import('../../load/timed-slice.js').SliceTimes} times on the system's monotonic clock
 *
 * @typedef {import('./storage-contender.js').SliceRecord & { slot: number, lateNs: number,
 *   latency: import('../record.js').HistogramMessage | null, serverCpuNs: number | null,
 *   serverWaitNs: number | null }} TimedRecord
 *
 * @typedef {object} TimedRun
 * @property {TimedRecord[]} records of the slices that were run
 * @property {{ client: number | null, server: number | null }[]} occupancy by load
 */

/**
 * @param {import('./storage-contender.js').Contender} contender
 * @param {{ slots: TimedSlot[], loads: number, serverPids: number[] }} timetable
 * @param {import('../benchmark.js').BenchmarkContext} context
 * @returns {Promise<TimedRun>}
 */
export async function runTimetable(contender, { slots, loads, serverPids }, context) {
  const { signal, instruments } = context;
  const server = new ThreadClocks(serverPids);
  const occupancy = Array.from({ length: loads }, () => new OccupancySum());
  /** @type {TimedRecord[]} */
  const records = [];
  let invalid = 0;
  for (const { slot, load, lead, times } of slots) {
    if (signal?.aborted || invalid >= INVALID_MAX) break;
    /** @type {ReturnType<ThreadClocks['read']>} */
    let before = null;
    const record = await contender.timed(load, times, () => {
      before = server.read();
    });
    const after = server.read();
    // Before the next one is due, and not in it.
    instruments.collectGarbage('young');
    const isKnown = before !== null && after !== null;
    const from = /** @type {any} */ (before);
    const serverCpuNs = isKnown ? Number(after?.runNs) - from.runNs : null;
    const serverWaitNs = isKnown ? Number(after?.waitNs) - from.waitNs : null;
    records.push({ ...record, slot, serverCpuNs, serverWaitNs });
    if (!record.valid) invalid += 1;
    else if (!lead) occupancy[load].add(record, before, after);
  }
  server.close();
  return { records, occupancy: occupancy.map((one) => one.figures()) };
}
