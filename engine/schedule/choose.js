/**
 * How each load of a run is measured: the schedule, the processors and the warm-up. Pure. An amount
 * fixed by an option, or by a program, decides the schedule and nothing else.
 *
 * - blocks: segments of all contenders in turn: short ones, as many as the precision requires, or
 *   one of the amount that was given;
 * - whole: each contender by itself, one segment per round;
 * - search: the next rate follows from the last trial.
 */

import { usageError } from '../../lib/errors.js';

/** @typedef {import('../../lib/result.js').Load} Load */
/** @typedef {import('../../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/**
 * @typedef {object} LoadPlan
 * @property {Load} load
 * @property {import('../../lib/types.js').Parameters} [parameters] of its variant
 * @property {'blocks' | 'whole' | 'search'} schedule
 * @property {string | null} reason for a schedule other than blocks
 * @property {'one-cpu' | 'two-cpus' | 'free' | 'pinned'} placement
 * @property {{ kind: 'level', nsMax: number } | { kind: 'operations', operations: number }
 *   | { kind: 'none' }} warm
 */

/**
 * @typedef {object} SlicePlan
 * @property {number} precision half-width as a share
 * @property {number} budgetNs
 * @property {boolean} [hasBudget] it was given
 * @property {number | null} rounds fixed by hand; null: as many as the precision takes
 * @property {boolean} isFixed the loads have an amount: a round is one block of it
 * @property {'auto' | 'one-cpu' | 'two-cpus' | 'free'} placement
 * @property {number} [warmupOperations] per load; absent: until its speed is level
 */

/**
 * @typedef {object} Facts
 * @property {Record<string, any>} values options with their defaults
 * @property {Record<string, any>} given options that were given
 * @property {WorkloadDefinition | null} workload
 * @property {boolean} isOther the options select another workload than this one
 * @property {boolean} isSearch
 */

/** @param {Pick<LoadPlan, 'schedule'>} load */
export function isInBlocks({ schedule }) {
  return schedule === 'blocks';
}

/**
 * @template {Pick<LoadPlan, 'schedule' | 'reason'> & { id: string }} T
 * @param {T} load
 * @param {string} reason
 * @returns {T} each contender by itself
 */
export function asWhole(load, reason) {
  return { ...load, id: `${load.id} alone`, schedule: 'whole', reason };
}

/** Of a trial of a search, which no option describes. */
export const OF_TRIAL = /** @type {const} */ ({
  schedule: 'whole',
  reason: null,
  warm: { kind: 'none' },
  placement: 'free',
});

const PRECISION = 0.03;
const BUDGET_MS = 120_000;
const WARM_NS_MAX = 2e9;

/**
 * @typedef {object} WantedLoad
 * @property {Load} load
 * @property {string} [whole] why its workload cannot have it in blocks
 * @property {boolean} isFixed its amount is, by a program
 * @property {import('../../lib/types.js').Parameters} [parameters] of its variant
 */

/**
 * @param {readonly WantedLoad[]} all
 * @param {Facts} facts
 * @returns {{ how: LoadPlan[], slices: SlicePlan | null }} slices: of the loads in blocks
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE for an option that no load obeys
 */
export function planSchedules(all, facts) {
  const { values, given } = facts;
  requirePlaceable(all, facts);
  const asked = ['precision', 'budget'].find((name) => given[name] !== undefined);
  const fixedBy = whatFixes(all, facts);
  const ofRun = whyNoneInBlocks(facts);
  // A contender has as many processes under all its loads.
  const counts = new Set(all.map(({ load: { processes = 1 } }) => processes));
  const ofShares = counts.size > 1 ? 'each load has another number of processes' : null;
  const own = all.map((one) => ofRun ?? ofShares ?? whyNotInBlocks(one, fixedBy));
  const first = own.find((reason) => reason !== null) ?? null;
  if (asked !== undefined && (fixedBy !== null || !own.includes(null))) {
    throw usageError(
      `--${asked} cannot be used here: ${fixedBy ?? first}`,
      'leave it out, or the option that fixes the amount',
    );
  }
  if (given['precision'] !== undefined && given['rounds'] !== undefined && values['rounds'] === 1) {
    throw usageError('--precision takes two rounds or more', 'leave out --rounds, or --precision');
  }
  // Loads of one run are compared, so that one that runs whole makes the others do so, unless a
  // precision asks for blocks. What a variant cannot do says nothing of the other variants.
  const shared = all.some(({ load }) => whyNotSliced(load) !== null) ? first : null;
  const reasons = asked === undefined ? own.map((reason) => reason ?? shared) : own;
  const how = all.map(({ load, parameters }, i) => ({
    load: reasons[i] === null && fixedBy === null ? withoutAmount(load) : load,
    ...(parameters && { parameters }),
    schedule: facts.isSearch
      ? /** @type {const} */ ('search')
      : reasons[i] === null
        ? /** @type {const} */ ('blocks')
        : /** @type {const} */ ('whole'),
    reason: reasons[i],
    placement: placementOf(load, facts),
    warm: warmUpOf(load, facts),
  }));
  if (!reasons.includes(null)) return { how, slices: null };
  const { precision = PRECISION, budget = BUDGET_MS, rounds, placement = 'auto' } = values;
  const isByHand = fixedBy !== null || given['rounds'] !== undefined;
  const { warmupOperations } = given;
  return {
    how,
    slices: {
      precision,
      budgetNs: budget * 1e6,
      ...(given['budget'] !== undefined && { hasBudget: true }),
      rounds: isByHand ? rounds : null,
      isFixed: fixedBy !== null,
      placement,
      ...(warmupOperations !== undefined && { warmupOperations: values['warmupOperations'] }),
    },
  };
}

/**
 * @param {Facts} facts
 * @returns {string | null} why no load of the run is measured in blocks
 */
function whyNoneInBlocks({ values, given, workload, isOther, isSearch }) {
  if (!workload?.slices || isOther) return 'the workload cannot be measured by slices';
  if (isSearch) return 'a search has trials of its own';
  const isAsked = (given['precision'] ?? given['budget']) !== undefined;
  const usual = /** @type {any} */ (workload.shared?.['rounds']);
  const isDefault =
    workload.slices === 'default' && Math.max(values['rounds'], usual?.default ?? 1) > 1;
  return isAsked || isDefault ? null : 'no precision is requested';
}

/**
 * @param {readonly WantedLoad[]} all
 * @param {Facts} facts
 * @returns {string | null} what gives the loads their amount; null: the precision does
 */
function whatFixes(all, { given }) {
  const option = ['ops', 'duration', 'processes'].find((name) => given[name] !== undefined);
  if (option === 'processes') return 'several processes share a load, each a part of its amount';
  if (option !== undefined) return `--${option} fixes the amount`;
  return all.every(({ isFixed }) => isFixed) && all.length > 0
    ? 'the amount is fixed by hand'
    : null;
}

/**
 * @param {WantedLoad} wanted
 * @param {string | null} fixedBy
 * @returns {string | null}
 */
function whyNotInBlocks({ load, whole, isFixed, parameters }, fixedBy) {
  // Each variant has its own way to share an amount.
  if (fixedBy !== null && parameters !== undefined) return whyNotSliced(load) ?? fixedBy;
  return (
    whyNotSliced(load) ??
    whole ??
    (isFixed && fixedBy === null ? 'the amount is fixed by hand' : null)
  );
}

/**
 * @param {Load} load
 * @returns {string | null} why it cannot be sliced
 */
export function whyNotSliced({ kind }) {
  if (kind === 'burst') return 'a burst runs whole';
  return kind === 'rate' ? 'an open loop runs whole' : null;
}

/** @param {Load} load */
function withoutAmount(load) {
  return { ...load, operations: null, durationNs: null };
}

/**
 * One in flight and a window of an operation that is like the next: their processors and their
 * warm-up are the same in every schedule.
 * @param {Load} load
 * @param {Facts} facts
 */
function isPoint(load, { workload, isSearch }) {
  return Boolean(workload?.slices) && !isSearch && whyNotSliced(load) === null;
}

/**
 * @param {readonly { load: Load }[]} all
 * @param {Facts} facts
 */
function requirePlaceable(all, facts) {
  const { given, values } = facts;
  if (given['placement'] === undefined) return;
  if (values['pin'] && values['placement'] !== 'auto') {
    throw usageError('--pin and --placement: one of them', 'leave out --pin');
  }
  if (all.some(({ load }) => isPoint(load, facts))) return;
  throw usageError(
    '--placement cannot be used here: it needs a window or one in flight, in one process',
    'leave it out, or use --pin',
  );
}

/**
 * @param {Load} load
 * @param {Facts} facts
 * @returns {LoadPlan['placement']}
 */
function placementOf(load, facts) {
  const { pin, placement = 'auto' } = facts.values;
  if (pin) return 'pinned';
  if (!isPoint(load, facts)) return 'free';
  if (placement !== 'auto') return placement;
  return load.kind === 'sync' ? 'one-cpu' : 'two-cpus';
}

/**
 * @param {Load} load
 * @param {Facts} facts
 * @returns {LoadPlan['warm']}
 */
function warmUpOf(load, facts) {
  const { warmupOperations: operations = 0 } = facts.values;
  if (facts.given['warmupOperations'] === undefined && isPoint(load, facts)) {
    return { kind: 'level', nsMax: WARM_NS_MAX };
  }
  return operations === 0 ? { kind: 'none' } : { kind: 'operations', operations };
}
