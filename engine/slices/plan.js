/**
 * Whether a run is measured by slices, and how long: pure.
 *
 * By slices run one in flight and windows of the point read, where their amount is left to the
 * precision. Whole, once per round, run bursts, open loops, searches, loads shared by processes,
 * and whatever is given an amount by hand.
 */

import { usageError } from '../../lib/errors.js';

/** @typedef {import('../../lib/result.js').Load} Load */

/**
 * @typedef {object} SlicePlan
 * @property {number} precision half-width as a share
 * @property {number} budgetNs
 * @property {number | null} rounds fixed by hand; null: as many as the precision takes
 * @property {'auto' | 'one-cpu' | 'two-cpus' | 'free'} placement
 */

const PRECISION = 0.03;
const BUDGET_MS = 120_000;
const HINT = 'leave out --precision and --budget, or what fixes the amount';

/**
 * @param {Record<string, any>} values
 * @param {{ given: Record<string, any>, own: Record<string, any>, findMax: unknown,
 *   loads: readonly Load[],
 *   workload: import('../../lib/types.js').WorkloadDefinition | null }} run
 * @returns {SlicePlan | null} null: by whole benchmarks
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE where it cannot be by slices
 */
export function planSlices(values, { given, own, findMax, workload, loads }) {
  const { precision, budget, placement = 'auto', rounds } = values;
  if (precision === undefined && budget === undefined) {
    if (placement === 'auto') return null;
    throw usageError('--placement: it belongs to a race by slices', 'add --precision 3%');
  }
  const reason =
    workload?.slices !== true || (own['workload']?.workload ?? workload.name) !== workload.name
      ? 'the workload cannot be measured by slices'
      : findMax !== null
        ? 'a search has trials of its own'
        : whyWhole(given['loads'] ?? [], loads);
  if (reason !== null) throw usageError(`--precision and --budget: ${reason}`, HINT);
  if (values['pin'] && placement !== 'auto') {
    throw usageError('--pin and --placement: one of them', 'leave out --pin');
  }
  return {
    precision: precision ?? PRECISION,
    budgetNs: (budget ?? BUDGET_MS) * 1e6,
    rounds: rounds > 1 ? rounds : null,
    placement,
  };
}

/**
 * @param {readonly Record<string, any>[]} asked
 * @param {readonly Load[]} loads the same, completed
 * @returns {string | null}
 */
function whyWhole(asked, loads) {
  if (loads.some(({ kind }) => kind !== 'sync' && kind !== 'window')) {
    return 'bursts and open loops run whole';
  }
  if (loads.some(({ processes = 1 }) => processes > 1)) return 'processes share whole loads';
  const isFixed = asked.some(({ operations, durationMs }) => operations ?? durationMs);
  return isFixed ? 'the amount is fixed by hand' : null;
}

/**
 * @param {Load} load
 * @returns {Load} as long as it takes
 */
export function withoutAmount(load) {
  return { ...load, operations: null, durationNs: null };
}
