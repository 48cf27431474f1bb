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
 * @property {boolean} [holdsBudget] by fewer rounds than six, if need be
 * @property {number | null} rounds fixed by hand; null: as many as the precision takes
 * @property {'auto' | 'one-cpu' | 'two-cpus' | 'free'} placement
 */

const PRECISION = 0.03;
const BUDGET_MS = 120_000;

/**
 * @param {Record<string, any>} values
 * @param {{ given: Record<string, any>, own: Record<string, any>, findMax: unknown,
 *   loads: readonly Load[],
 *   workload: import('../../lib/types.js').WorkloadDefinition | null }} run given: options that
 *   were given; loads: those of a run by slices
 * @returns {SlicePlan | null} null: by whole benchmarks
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE where it cannot be by slices
 */
export function planSlices(values, { given, own, findMax, workload, loads }) {
  const { precision, budget, rounds } = values;
  const { whole = null } = own;
  const asked = ['precision', 'budget', 'placement'].filter((name) => given[name] !== undefined);
  const byDefault = workload?.slices === 'default' && rounds > 1;
  if (asked.length === 0 && !byDefault) return null;
  const reason =
    !workload?.slices || (own['workload']?.workload ?? workload.name) !== workload.name
      ? 'the workload cannot be measured by slices'
      : findMax !== null
        ? 'a search has trials of its own'
        : (whole ?? whyFixed(given, workload) ?? whyWhole(given, rounds, loads));
  const isPartly = loads.some((load) => whyNotSliced(load) !== null);
  if (asked.length === 0 && (reason !== null || isPartly)) return null;
  if (reason !== null) {
    throw usageError(
      `--${asked[0]} cannot be used here: ${reason}`,
      'leave it out, or the option that fixes the amount',
    );
  }
  const { placement = 'auto' } = values;
  if (values['pin'] && placement !== 'auto') {
    throw usageError('--pin and --placement: one of them', 'leave out --pin');
  }
  return {
    precision: precision ?? PRECISION,
    budgetNs: (budget ?? BUDGET_MS) * 1e6,
    ...(workload?.holdsBudget && { holdsBudget: true }),
    rounds: given['rounds'] === undefined || rounds === 1 ? null : rounds,
    placement,
  };
}

/**
 * @param {Record<string, any>} given
 * @param {import('../../lib/types.js').WorkloadDefinition} workload
 * @returns {string | null} what fixes the amount, of the workload's own options and variants
 */
function whyFixed(given, { options = {} }) {
  const name = Object.keys(options).find(
    (one) => options[one].isAmount && given[one] !== undefined,
  );
  if (name !== undefined) {
    const flag = options[name].flag ?? name.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`);
    return `--${flag} fixes the amount`;
  }
  const loads = (given['variants'] ?? []).flatMap((/** @type {any} */ one) => one.loads ?? []);
  const isFixed = loads.some((/** @type {any} */ one) => one.operations ?? one.durationMs);
  return isFixed ? 'the amount is fixed by hand' : null;
}

/**
 * @param {Record<string, any>} given
 * @param {number} rounds
 * @param {readonly Load[]} loads
 * @returns {string | null}
 */
function whyWhole(given, rounds, loads) {
  if (given['warmupOperations'] !== undefined) return '--warmup fixes the amount';
  const whole = loads.map(whyNotSliced);
  if (whole.every((reason) => reason !== null)) return whole[0];
  if (given['rounds'] !== undefined && rounds === 1) return 'slices take two rounds or more';
  if (given['ops'] !== undefined) return '--ops fixes the amount';
  if (given['duration'] !== undefined) return '--duration fixes the amount';
  const asked = /** @type {Record<string, unknown>[]} */ (given['loads'] ?? []);
  const isFixed = asked.some(
    (one, i) => whole[i] === null && (one['operations'] ?? one['durationMs']),
  );
  return isFixed ? 'the amount is fixed by hand' : null;
}

/**
 * @param {Load} load
 * @returns {string | null} why it cannot be sliced
 */
export function whyNotSliced({ kind, processes = 1 }) {
  if (kind === 'burst') return 'a burst runs whole';
  if (kind === 'rate') return 'an open loop runs whole';
  return processes > 1 ? 'several processes share a load' : null;
}

/**
 * @param {Load} load
 * @returns {Load} as long as it takes, where it can be sliced
 */
export function withoutAmount(load) {
  if (whyNotSliced(load) !== null) return load;
  return { ...load, operations: null, durationNs: null };
}
