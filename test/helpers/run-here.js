/** Runs with contenders in this process, many times faster than with separate processes. */

import assert from 'node:assert/strict';
import { inThisProcess } from '../../engine/contender-process.js';
import { runRace } from '../../engine/runner.js';
import { systemClock } from '../../measure/clock.js';
import { instrumentsOf } from './contenders.js';
import { buildResult } from './result-builder.js';

export const INSTRUMENTS = instrumentsOf(systemClock);
const { environment } = buildResult();
/** Runs measure their harness overhead by many operations; no test with this helper needs it. */
const OVERHEAD_OPERATIONS = 2000;

/**
 * Not for tests of contender processes or of the machine.
 * @param {import('../../engine/plan.js').RunOptions} options
 * @param {import('../../engine/runner.js').RunContext} [context]
 */
export function runHere(options, context = {}) {
  const processes = withShortOverhead(inThisProcess(INSTRUMENTS));
  return runRace(options, { processes, environment: async () => environment, ...context });
}

/**
 * @param {import('../../engine/contender-process.js').ProcessFactory} processes
 * @returns {import('../../engine/contender-process.js').ProcessFactory}
 */
function withShortOverhead(processes) {
  return (spec, events) => {
    const isOverhead = spec.tasks.some((task) => task?.id.startsWith('overhead '));
    if (!isOverhead) return processes(spec, events);
    const warm = /** @type {const} */ ({ kind: 'operations', operations: 0 });
    const tasks = spec.tasks.map((task) => task && { ...task, warm });
    const contender = processes({ ...spec, tasks }, events);
    const amount = { operations: OVERHEAD_OPERATIONS, durationNs: null };
    return { ...contender, run: (load, start) => contender.run(load, start, amount) };
  };
}

/**
 * Each benchmark was measured, and each of its operations succeeded.
 * @param {Pick<import('../../lib/result.js').Result, 'benchmarks'>} result
 */
export function assertAllOk({ benchmarks }) {
  for (const { id, state, rounds, reason } of benchmarks) {
    assert.equal(state, 'measured', `${id}: ${reason ?? rounds[0]?.failure?.message}`);
    for (const { outcomes, scheduled } of rounds) assert.equal(outcomes.ok, scheduled, id);
  }
}
