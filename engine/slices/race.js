/**
 * A run by slices: from the jobs of a run to a comparison, and from its rounds to the result, which
 * grows with each round. Every report of whole benchmarks reads the rounds that are made here; what
 * only slices tell is in `result.comparison`.
 */

import { randomInt } from 'node:crypto';
import { kindOf } from '../../lib/capabilities.js';
import { labelOf } from '../../lib/label.js';
import { systemClock } from '../../measure/clock.js';
import { roundsForPrecision } from '../../stats/precision.js';
import { runComparison } from './comparison.js';
import { keepJournal } from './journal.js';
import { placeFor, placeNothing } from './placement.js';
import { whyNotSliced } from './plan.js';
import { SLICE_NS } from './shape.js';
import { storeRound } from './store.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('../benchmarks.js').Job} Job */
/** @typedef {import('../plan.js').RunPlan} RunPlan */
/** @typedef {import('./comparison.js').Progress} Progress */

/** Until a round has shown what it takes: opening and warming up, and a slice with its gap. */
const START_NS_GUESS = 4e9;
const SLICE_NS_GUESS = 9e6;
const BLOCKS_GUESS = 33;
const ROUNDS_GUESS = 8;
/** Of what runs whole and is given no amount. */
const WHOLE_NS = 300e6;

/**
 * @typedef {object} SliceContext
 * @property {Result} result
 * @property {AbortSignal} [signal]
 * @property {(event: import('../runner.js').RunEvent) => void} [onEvent]
 * @property {import('../runner.js').RunContext['onPartial']} [onPartial]
 * @property {() => boolean} [isDecided] by the gates of the run
 * @property {number[]} [cpus] of the client, where --pin has placed both
 * @property {import('./comparison.js').RoundRunner} [runner] of several load machines
 * @property {boolean} [writes] the workload does
 * @property {readonly import('../targets.js').ServerTarget[]} [others] beside those of the storages
 * @property {Pick<import('../../lib/types.js').WorkloadDefinition, 'whole' | 'parts' | 'program'> &
 *   Partial<Pick<import('../../lib/types.js').WorkloadDefinition, 'needs'>>} [workload]
 * @property {(job: Job, round: number, position: number) => Promise<unknown>} [runWhole]
 */

/**
 * @param {readonly Job[]} jobs
 * @param {RunPlan & { slices: import('./plan.js').SlicePlan }} plan
 * @param {SliceContext} context its result grows
 */
export async function runSlices(jobs, plan, context) {
  const { result, signal, cpus, onEvent, isDecided, runner } = context;
  const { slices } = plan;
  const sliced = jobs.filter((job) => whyWhole(job, context) === null);
  const others = jobs.flatMap((job) => {
    const reason = whyWhole(job, context);
    return reason === null ? [] : [{ job, reason }];
  });
  const targets = [...new Set(sliced.map(({ target }) => target))];
  if (jobs.length === 0) return;
  const loads = cellsOf(sliced, context);
  const { others: beside = [], workload } = context;
  const servers = [...new Set([...targets.flatMap(({ server }) => server ?? []), ...beside])];
  const placement = runner
    ? placeNothing(loads, runner.reason)
    : await placeFor(slices.placement, loads, servers, { pinned: cpus });
  const orderSeed = randomInt(2 ** 32);
  const stored = emptyComparison(plan, loads, { orderSeed, placement, others });
  result.comparison = stored;
  const clock = estimate(plan, sliced.length, loads.length);
  try {
    const { stopped, failed, spentNs } = await runComparison({
      ...{ plan, targets, loads, orderSeed, signal, placement, runner, clock: systemClock },
      ...{ folder: jobs[0].spec.folder, others: beside },
      // Its own length of a slice fits no timetable of several machines.
      program: runner ? null : workload?.program?.name(plan.workloadOptions),
      // `memory` has rows and nothing else.
      overhead: workload?.needs === undefined || kindOf(workload.needs) === 'rows',
      precision: slices.precision,
      budgetNs: slices.budgetNs,
      ...{ rounds: slices.rounds ?? undefined, isDecided, holdsBudget: slices.holdsBudget },
      wholes: others.map(({ job }) => async (round, position) => {
        onEvent?.(clock.event(round, job.benchmark.id, 0));
        await context.runWhole?.(withAmount(job), round, position);
      }),
      onPhase: (round, phase, share) => onEvent?.(clock.event(round, phase, share)),
      onBlock: keepJournal(stored, context),
      async onRound(progress) {
        clock.take(progress);
        await storeRound(progress, sliced, context, stored);
      },
    });
    stored.stopped = stopped;
    stored.spentNs = spentNs;
    stored.failed = failed.map(({ name, failure }) => ({ name, message: failure.message }));
    result.warnings.push(...warningsOf(stored, jobs));
  } finally {
    await placement.restore();
  }
}

/**
 * @param {Job} job
 * @param {SliceContext} context
 * @returns {string | null} null: it is sliced
 */
function whyWhole({ benchmark, target }, { writes, workload }) {
  // Two processes that write to the same LMDB file have been seen to crash.
  const isShared = writes && target.definition.fill !== undefined;
  return isShared
    ? 'an embedded store is written to by one process at a time'
    : (whyNotSliced(benchmark.load) ?? workload?.whole?.(benchmark.parameters ?? {}) ?? null);
}

/**
 * @param {Job} job
 * @returns {Job} the same where its load has an end, else as long as a round of slices takes
 */
function withAmount(job) {
  const { load } = job.spec;
  if (load.operations !== null || load.durationNs !== null) return job;
  return { ...job, spec: { ...job.spec, load: { ...load, durationNs: WHOLE_NS } } };
}

/**
 * @param {readonly Job[]} jobs
 * @param {Pick<SliceContext, 'workload'>} context
 * @returns {import('./storage-contender.js').SliceLoad[]} the loads of all variants, each with the
 *   contenders that have it, in the order of the benchmarks
 */
function cellsOf(jobs, { workload: { parts } = {} }) {
  /** @type {Map<string, import('./storage-contender.js').SliceLoad & { contenders: string[] }>} */
  const cells = new Map();
  const several = new Set(jobs.map(({ spec }) => spec.workload)).size > 1;
  const split = jobs.flatMap(({ benchmark, spec }) =>
    (parts?.(spec.workloadOptions) ?? [undefined]).map((part, i) => ({ benchmark, spec, part, i })),
  );
  for (const { benchmark, spec, part, i } of split) {
    const { parameters, load } = benchmark;
    const others = spec.others?.map(({ name }) => name) ?? [];
    const kind = /** @type {'sync' | 'window'} */ (load.kind);
    const { inFlight, connections, valueSize } = load;
    const workload = several ? spec.workload : undefined;
    const shape = {
      ...{ kind, inFlight: inFlight ?? 1 },
      ...(connections && { connections }),
      ...(valueSize && { valueSize }),
      ...(parameters && { parameters }),
      ...(others.length > 0 && { others }),
      ...(part && { part }),
      ...(workload && { workload }),
    };
    const key = JSON.stringify({ ...shape, part: part && i });
    const cell = cells.get(key) ?? { ...shape, contenders: [] };
    cells.set(key, cell);
    cell.contenders.push(labelOf(benchmark));
  }
  return [...cells.values()];
}

/**
 * @param {RunPlan & { slices: import('./plan.js').SlicePlan }} plan
 * @param {readonly import('./storage-contender.js').SliceLoad[]} loads
 * @param {{ orderSeed: number, placement: import('./placement.js').Placement,
 *   others: readonly { job: Job, reason: string }[] }} context others: that run whole
 * @returns {StoredComparison}
 */
function emptyComparison({ slices }, loads, { orderSeed, placement, others }) {
  return {
    orderSeed,
    precision: slices.precision,
    budgetNs: slices.budgetNs,
    sliceNs: SLICE_NS,
    stopped: null,
    spentNs: 0,
    blocks: [],
    failed: [],
    ...(others.length > 0 && {
      whole: others.map(({ job, reason }) => ({ benchmark: job.benchmark.id, reason })),
    }),
    loads: loads.map(({ kind, inFlight, parameters, part, workload, ...shape }, i) => ({
      ...{ kind, inFlight, ...(parameters && { parameters }) },
      ...(shape.connections && { connections: shape.connections }),
      ...(shape.valueSize && { valueSize: shape.valueSize }),
      ...{ ...(part && { part }), ...(workload && { workload }) },
      placement: placement.stored[i],
      contenders: [],
    })),
  };
}

/**
 * What is left, told from the first second on: the budget at most, less where the intervals are
 * expected to be narrow enough before.
 * @param {RunPlan & { slices: import('./plan.js').SlicePlan }} plan
 * @param {number} contenders times loads
 * @param {number} loads
 */
function estimate({ slices }, contenders, loads) {
  const startNs = systemClock.now();
  const more = 3 * loads; // A/A, ceilings, overhead
  let roundNs = START_NS_GUESS + (contenders + more) * BLOCKS_GUESS * SLICE_NS_GUESS;
  let rounds = slices.rounds ?? ROUNDS_GUESS;
  let roundStartNs = startNs;
  return {
    /** @param {Progress} progress */
    take({ round, standings, ...progress }) {
      roundNs = progress.roundNs;
      roundStartNs = systemClock.now();
      const widths = standings.flatMap((one) => one?.halfWidths ?? []);
      if (slices.rounds !== null || widths.length === 0 || round < 2) return;
      const half = Math.log1p(Math.max(...widths));
      const state = { half, rounds: round + 1, precision: slices.precision, confidence: 0.95 };
      rounds = roundsForPrecision(state) ?? 1000;
    },
    /**
     * @param {number} round
     * @param {string} phase
     * @param {number} share of the round
     * @returns {Extract<import('../runner.js').RunEvent, { type: 'comparison' }>}
     */
    event(round, phase, share) {
      const nowNs = systemClock.now();
      const ofRound = Math.max(roundNs * (1 - share), roundNs - (nowNs - roundStartNs), 0);
      const all = ofRound + Math.max(0, rounds - round - 1) * roundNs;
      const spentNs = nowNs - startNs;
      const budgetLeft = slices.rounds === null ? slices.budgetNs - spentNs : all;
      const leftNs = Math.max(0, Math.min(all, budgetLeft));
      return { type: 'comparison', round, phase, spentNs, leftNs };
    },
  };
}

/**
 * @param {StoredComparison} stored
 * @param {readonly Job[]} jobs
 * @returns {import('../../lib/result.js').Warning[]} of contenders that are no storages of the run
 */
function warningsOf({ failed, loads }, jobs) {
  const own = new Set(
    loads.flatMap(({ contenders }) => contenders.flatMap((one) => (one.benchmark ? one.name : []))),
  );
  return jobs.length === 0
    ? []
    : failed
        .filter(({ name }) => !own.has(name))
        .map(({ name, message }) => ({
          code: 'W_CONTENDER',
          message: `${name} could not be measured: ${message}`,
          hint: null,
          benchmark: null,
        }));
}
