/**
 * Chooses the schedule, the processors and the warm-up of each load of a run. Pure. An amount fixed
 * by an option or a program decides the schedule and nothing else.
 *
 * - blocks: segments of all contenders in turn: short ones, as many as the precision requires, or
 * one of a fixed amount;
 * - whole: each contender separately, one segment per round;
 * - search: the next rate follows from the last trial.
 */

import { usageError } from '../../lib/errors.js';

/** @typedef {import('../../lib/result.js').Load} Load */
/** @typedef {import('../../lib/types.js').WorkloadDefinition} WorkloadDefinition */

/**
 * @typedef {object} LoadPlan
 * @property {Load} load
 * @property {import('../../lib/types.js').Parameters} [parameters] parameters of its variant
 * @property {'blocks' | 'whole' | 'search'} schedule
 * @property {string | null} reason reason for a schedule other than blocks
 * @property {'one-cpu' | 'two-cpus' | 'free' | 'pinned'} placement
 * @property {{ kind: 'level', nsMax: number } | { kind: 'operations', operations: number }
 *   | { kind: 'none' }} warm
 */

/**
 * @typedef {object} SlicePlan
 * @property {number} precision half-width of the interval as a share
 * @property {number} budgetNs
 * @property {boolean} [hasBudget] a budget was given
 * @property {number} [waitNs] maximum wait for free processors; absent: none
 * @property {number | null} rounds fixed number; null: determined by the precision
 * @property {boolean} isFixed the loads have an amount, so a round is one block of it
 * @property {'auto' | 'one-cpu' | 'two-cpus' | 'free'} placement
 * @property {number} [warmupOperations] per load; absent: until its speed is level
 */

/**
 * @typedef {object} RunChoices
 * @property {Record<string, any>} values options with defaults
 * @property {Record<string, any>} given the options that were given
 * @property {WorkloadDefinition | null} workload
 * @property {boolean} isOther whether the options select another workload than this one
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
 * @returns {T} the schedule that runs each contender separately
 */
export function asWhole(load, reason) {
  return { ...load, id: `${load.id} alone`, schedule: 'whole', reason };
}

/** Schedule of a trial of a search; no option changes it. */
export const OF_TRIAL = /** @type {const} */ ({
  schedule: 'whole',
  reason: null,
  warm: { kind: 'none' },
  placement: 'free',
});

const PRECISION = 0.03;
const BUDGET_MS = 75_000;
/** A race with gates ends once they are decided; undecided gates get more time. */
const GATES_BUDGET_MS = 120_000;
/** A race with at least this budget waits for free processors first. */
const LONG_MS = 20_000;
const WAIT_NS = 60e9;
const WARM_NS_MAX = 2e9;

/**
 * @typedef {object} WantedLoad
 * @property {Load} load
 * @property {string} [whole] reason why its workload does not support blocks for it
 * @property {boolean} isFixed a program fixed its amount
 * @property {import('../../lib/types.js').Parameters} [parameters] parameters of its variant
 */

/**
 * @param {readonly WantedLoad[]} all
 * @param {RunChoices} choices
 * @returns {{ how: LoadPlan[], slices: SlicePlan | null }} slices: of the loads in blocks
 * @throws {import('../../lib/errors.js').DragstripError} E_USAGE: an option has no effect on any
 *   load
 */
export function planSchedules(all, choices) {
  const { values, given: options } = choices;
  requirePlaceable(all, choices);
  const asked = ['precision', 'budget'].find((name) => options[name] !== undefined);
  const fixedBy = whatFixes(all, choices);
  const ofRun = whyNoneInBlocks(choices);
  // A contender has the same number of processes under all its loads.
  const counts = new Set(all.map(({ load: { processes = 1 } }) => processes));
  const ofShares = counts.size > 1 ? 'the loads have different numbers of processes' : null;
  const reasonOf = all.map((one) => ofRun ?? ofShares ?? whyNotInBlocks(one, fixedBy));
  const first = reasonOf.find((reason) => reason !== null) ?? null;
  if (asked !== undefined && (fixedBy !== null || !reasonOf.includes(null))) {
    throw usageError(
      `--${asked} cannot be used here: ${fixedBy ?? first}`,
      'leave it out, or the option that fixes the amount',
    );
  }
  if (
    options['precision'] !== undefined &&
    options['rounds'] !== undefined &&
    values['rounds'] === 1
  ) {
    throw usageError('--precision needs two rounds or more', 'leave out --rounds, or --precision');
  }
  // Loads of one run are compared, so if one runs whole, all do, unless a precision requests
  // blocks. A limitation of one variant does not affect the others.
  const shared = all.some(({ load }) => whyNotSliced(load) !== null) ? first : null;
  const reasons = asked === undefined ? reasonOf.map((reason) => reason ?? shared) : reasonOf;
  const how = all.map(({ load, parameters }, i) => ({
    load: reasons[i] === null && fixedBy === null ? withoutAmount(load) : load,
    ...(parameters && { parameters }),
    schedule: choices.isSearch
      ? /** @type {const} */ ('search')
      : reasons[i] === null
        ? /** @type {const} */ ('blocks')
        : /** @type {const} */ ('whole'),
    reason: reasons[i],
    placement: placementOf(load, choices),
    warm: warmUpOf(load, choices),
  }));
  if (!reasons.includes(null)) return { how, slices: null };
  const usualMs = values['failIf'] === undefined ? BUDGET_MS : GATES_BUDGET_MS;
  const { precision = PRECISION, budget = usualMs, rounds, placement = 'auto' } = values;
  const isByHand = fixedBy !== null || options['rounds'] !== undefined;
  const { warmupOperations } = options;
  return {
    how,
    slices: {
      precision,
      budgetNs: budget * 1e6,
      ...(options['budget'] !== undefined && { hasBudget: true }),
      ...(!isByHand && !values['anyway'] && budget >= LONG_MS && { waitNs: WAIT_NS }),
      rounds: isByHand ? rounds : null,
      isFixed: fixedBy !== null,
      placement,
      ...(warmupOperations !== undefined && { warmupOperations: values['warmupOperations'] }),
    },
  };
}

/**
 * @param {RunChoices} choices
 * @returns {string | null} reason why no load of the run is measured in blocks
 */
function whyNoneInBlocks({ values, given, workload, isOther, isSearch }) {
  if (!workload?.slices || isOther) return 'the workload cannot be measured in blocks';
  if (isSearch) return 'a search has trials of its own';
  const isAsked = (given['precision'] ?? given['budget']) !== undefined;
  const usual = /** @type {any} */ (workload.shared?.['rounds']);
  const isDefault =
    workload.slices === 'default' && Math.max(values['rounds'], usual?.default ?? 1) > 1;
  return isAsked || isDefault ? null : 'no precision is requested';
}

/**
 * @param {readonly WantedLoad[]} all
 * @param {RunChoices} choices
 * @returns {string | null} source of the amount; null: the precision
 */
function whatFixes(all, { given }) {
  const option = ['ops', 'duration', 'processes'].find((name) => given[name] !== undefined);
  if (option === 'processes') return 'several processes share a load and its amount';
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
  // Each variant distributes an amount in its own way.
  if (fixedBy !== null && parameters !== undefined) return whyNotSliced(load) ?? fixedBy;
  return (
    whyNotSliced(load) ??
    whole ??
    (isFixed && fixedBy === null ? 'the amount is fixed by hand' : null)
  );
}

/**
 * @param {Load} load
 * @returns {string | null} reason why it cannot be sliced
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
 * One in flight, and a window of identical operations: their processors and their warm-up are the
 * same in every schedule.
 * @param {Load} load
 * @param {RunChoices} choices
 */
function isPoint(load, { workload, isSearch }) {
  return Boolean(workload?.slices) && !isSearch && whyNotSliced(load) === null;
}

/**
 * @param {readonly { load: Load }[]} all
 * @param {RunChoices} choices
 */
function requirePlaceable(all, choices) {
  const { given, values } = choices;
  if (given['placement'] === undefined) return;
  if (values['pin'] && values['placement'] !== 'auto') {
    throw usageError('--pin and --placement cannot be combined', 'leave out --pin');
  }
  if (all.some(({ load }) => isPoint(load, choices))) return;
  throw usageError(
    '--placement needs a window or one request in flight, in one process',
    'leave it out, or use --pin',
  );
}

/**
 * @param {Load} load
 * @param {RunChoices} choices
 * @returns {LoadPlan['placement']}
 */
function placementOf(load, choices) {
  const { pin, placement = 'auto' } = choices.values;
  if (pin) return 'pinned';
  if (!isPoint(load, choices)) return 'free';
  if (placement !== 'auto') return placement;
  return load.kind === 'sync' ? 'one-cpu' : 'two-cpus';
}

/**
 * @param {Load} load
 * @param {RunChoices} choices
 * @returns {LoadPlan['warm']}
 */
function warmUpOf(load, choices) {
  const { warmupOperations: operations = 0 } = choices.values;
  if (choices.given['warmupOperations'] === undefined && isPoint(load, choices)) {
    return { kind: 'level', nsMax: WARM_NS_MAX };
  }
  return operations === 0 ? { kind: 'none' } : { kind: 'operations', operations };
}
