/**
 * Heap retained per operation, from collections outside the measured time: a minor one before the
 * first segment of a process, and a full one after all segments. Buffers and memory outside V8 are
 * not included.
 */

import { kindOf } from '../lib/capabilities.js';
import { loadWorkload } from '../workloads/index.js';

export class MemoryGrowth {
  /** Operations of all segments. */
  operations = 0;
  /** Heap before the first segment; null: unknown. @type {number | null} */
  #bytesBefore = null;

  /** @param {import('../measure/usage.js').Instruments} instruments */
  constructor({ collectGarbage }) {
    this.collectGarbage = collectGarbage;
  }

  collectYoung() {
    const bytes = this.collectGarbage('young');
    if (this.operations === 0) this.#bytesBefore = bytes;
  }

  /**
   * @param {import('./contender.js').ContenderSpec} spec
   * @param {readonly import('./variants.js').Variant[]} variants open variants
   * @returns {Promise<{ keptBytes?: number, keptOperations?: number }>} empty if unknown
   */
  async end(spec, variants) {
    if (this.#bytesBefore === null || this.operations === 0) return {};
    if (await keepsRequests(spec, variants)) return {};
    const bytesAfter = this.collectGarbage('all');
    if (bytesAfter === null) return {};
    return { keptBytes: bytesAfter - this.#bytesBefore, keptOperations: this.operations };
  }
}

/**
 * @param {import('./contender.js').ContenderSpec} spec
 * @param {readonly import('./variants.js').Variant[]} variants
 * @returns {Promise<boolean>} whether its memory may grow legitimately: rows that it writes into
 *   its own process, or timers
 */
async function keepsRequests({ storage, tasks }, variants) {
  const workloads = await Promise.all(
    tasks.flatMap((task) => (task === null ? [] : loadWorkload(task.workload))),
  );
  const needs = workloads.flatMap((workload) => workload.needs);
  const isServed = Object.keys(storage.address).length > 0;
  const readsOnly = needs.every((need) => need === 'get' || need === 'mget');
  const handles = variants.flatMap(({ opened }) => opened.handles);
  return (
    kindOf(needs) !== 'rows' ||
    (!isServed && !readsOnly) ||
    handles.some((handle) => 'holdsRequests' in handle && handle.holdsRequests)
  );
}
