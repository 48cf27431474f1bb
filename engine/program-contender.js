/**
 * A contender that is another program, such as redis-benchmark: the workload starts it with the
 * keys and the route of a storage, and its own report is a segment. It has no warm-up, since it
 * compiles nothing while running.
 */

import { countedSegment } from './segment.js';
import { StorageContender } from './storage-contender.js';

/**
 * @param {import('./contender.js').ContenderSpec} spec
 * @param {import('./contender.js').ContenderContext} context
 * @returns {Promise<import('./contender.js').Contender>}
 */
export async function openProgramContender(spec, context) {
  const storage = new StorageContender(spec, context);
  await storage.open();
  const { clock } = context.instruments;
  const originNs = clock.originNs ?? 0;
  const boundOf = (/** @type {number} */ load) => storage.cells[load]?.variant.measured;
  /** Operations of a run in full: as many as the storages execute. @type {number | undefined} */
  let requests;
  return {
    async warm(load) {
      await storage.begin();
      return { costNs: 0, refused: boundOf(load)?.refused?.() ?? false };
    },
    async prepare(_load, { operations, brief }) {
      requests = brief || operations === null ? undefined : operations;
    },
    async run(load) {
      const startNs = clock.now();
      const figures = await boundOf(load)?.program?.run(requests);
      const { operations = 0, perSecond = 1, p50Ns = null } = figures ?? {};
      const segment = countedSegment(operations, [originNs + startNs, originNs + clock.now()], {
        spanNs: (operations / perSecond) * 1e9,
        spanOperations: operations,
        medianNs: p50Ns,
        valid: operations > 0,
        lateNs: 0,
      });
      segment.refused = operations === 0;
      return segment;
    },
    async close() {
      for (const cell of storage.cells) {
        const bound = cell?.variant.measured;
        // The program reports a refusal in its own words.
        if (bound?.refused?.()) await bound.program?.run();
      }
      const closed = await storage.close();
      for (const [load, segment] of closed.kept.entries()) {
        for (const [name, value] of Object.entries(boundOf(load)?.program?.metrics() ?? {})) {
          /** @type {any} */ (segment).metrics[name] = { rule: 'one', value };
        }
      }
      return closed;
    },
  };
}
