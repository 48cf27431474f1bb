/**
 * A contender that is another program, such as redis-benchmark: the workload starts it on the keys
 * and the way of a storage, and what it says of itself is a slice. It has no warm-up: it compiles
 * nothing while it runs.
 */

import { OUTCOMES } from '../../lib/outcome.js';
import { runHook } from '../benchmark.js';
import { closeBounded } from '../guard.js';
import { openCells } from './storage-contender.js';

/**
 * @param {import('./storage-contender.js').SliceSpec} spec
 * @param {import('../benchmark.js').BenchmarkContext} context
 * @returns {Promise<import('./storage-contender.js').Contender>}
 */
export async function openProgramContender(spec, context) {
  const { clock } = context.instruments;
  const cells = await openCells(spec, context);
  const origin = clock.originNs ?? 0;
  const totals = cells.map(() => ({ operations: 0, durationNs: 0 }));
  const parts = [...new Set(cells.flatMap((cell) => cell?.part ?? []))];
  return {
    async warm() {
      for (const { measured } of parts) await runHook(measured, 'before', context);
      return cells.map((cell) => ({
        costNs: 1,
        refused: cell?.part.measured.refused?.() ?? false,
      }));
    },
    async slice(index) {
      const startNs = clock.now();
      const figures = await cells[index]?.part.measured.program?.run();
      const { operations = 0, perSecond = 1, p50Ns = null } = figures ?? {};
      const spanNs = (operations / perSecond) * 1e9;
      totals[index].operations += operations;
      totals[index].durationNs += spanNs;
      return {
        ...{ startNs: origin + startNs, endNs: origin + clock.now(), spanNs, operations },
        ...{ spanOperations: operations, medianNs: p50Ns ?? 0, cappedNs: p50Ns ?? 0 },
        ...{ valid: operations > 0, refused: operations === 0 },
        ...{ cpuNs: null, runNs: null, waitNs: null },
      };
    },
    timed() {
      throw new Error('another program has no timetable');
    },
    async end() {
      // Refused, it says so in its own words.
      for (const { measured } of parts) if (measured.refused?.()) await measured.program?.run();
      for (const handle of new Set(parts.map((part) => part.handle))) await closeBounded(handle);
      return cells.map((cell, i) => ({
        scheduled: totals[i].operations,
        outcomes: OUTCOMES.map((_, code) => (code === 0 ? totals[i].operations : 0)),
        samples: [],
        durationNs: totals[i].durationNs,
        ...{ inFlightMean: 0, latency: null },
        metrics: cell?.part.measured.program?.metrics(),
      }));
    },
  };
}
