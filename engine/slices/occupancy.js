/**
 * Adds up, over the slices of one load in one process, the times of the client's main thread and of
 * each thread of its server: how full each was.
 */

import { occupancyOf } from '../../stats/occupancy.js';

/** @typedef {import('../../measure/schedstat.js').ThreadTimes} ThreadTimes */

export class OccupancySum {
  wallNs = 0;
  /** Of the client. */
  runNs = 0;
  waitNs = 0;
  isKnown = true;
  /** @type {Float64Array | null} run and wait time of each thread of the server */
  threads = null;

  /**
   * @param {import('./storage-contender.js').SliceRecord} slice
   * @param {ThreadTimes | null} before of the server
   * @param {ThreadTimes | null} after
   */
  add({ startNs, endNs, runNs, waitNs }, before, after) {
    this.wallNs += endNs - startNs;
    this.isKnown &&= runNs !== null && waitNs !== null;
    this.runNs += runNs ?? 0;
    this.waitNs += waitNs ?? 0;
    if (before === null || after === null) return;
    this.threads ??= new Float64Array(after.threads.length);
    // A thread that has ended is read as 0.
    for (let i = 0; i < this.threads.length; i += 1) {
      this.threads[i] += Math.max(0, after.threads[i] - before.threads[i]);
    }
  }

  /** @returns {{ client: number | null, server: number | null }} server: its busiest thread */
  figures() {
    const { wallNs, runNs, waitNs, threads } = this;
    if (wallNs === 0) return { client: null, server: null };
    const client = this.isKnown ? occupancyOf({ wallNs, runNs, waitNs }) : null;
    let server = null;
    for (let i = 0; threads !== null && i < threads.length; i += 2) {
      const own = occupancyOf({ wallNs, runNs: threads[i], waitNs: threads[i + 1] });
      if (own !== null && (server === null || own > server)) server = own;
    }
    return { client, server };
  }
}
