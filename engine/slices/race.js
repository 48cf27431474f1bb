/**
 * A run by slices: from the jobs of a run to a comparison, and from its rounds to the result, which
 * grows with each round. Every report of whole benchmarks reads the rounds that are made here; what
 * only slices tell is in `result.comparison`.
 */

import { randomInt } from 'node:crypto';
import { isOfLoad } from '../../lib/comparison.js';
import { labelOf } from '../../lib/label.js';
import { OK } from '../../lib/outcome.js';
import { systemClock } from '../../measure/clock.js';
import { processMeans } from '../../stats/blocks.js';
import { roundsForPrecision } from '../../stats/precision.js';
import { emptyRecord } from '../record.js';
import { toRound } from '../round.js';
import { groupOf, runComparison } from './comparison.js';
import { placeFor } from './placement.js';
import { whyNotSliced } from './plan.js';
import { SLICE_NS } from './shape.js';

/** @typedef {import('../../lib/result.js').Result} Result */
/** @typedef {import('../../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('../../lib/comparison.js').StoredContender} StoredContender */
/** @typedef {import('../benchmarks.js').Job} Job */
/** @typedef {import('../plan.js').RunPlan} RunPlan */
/** @typedef {import('./entrants.js').RoleEntrant} RoleEntrant */
/** @typedef {import('./round.js').ContenderRound} ContenderRound */
/** @typedef {import('./round.js').Slice} Slice */
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
 * @property {() => boolean} [isDecided] by the gates of the run
 * @property {number[]} [cpus] of the client, where --pin has placed both
 * @property {boolean} [writes] the workload does
 * @property {(job: Job, round: number, position: number) => Promise<unknown>} [runWhole]
 */

/**
 * @param {readonly Job[]} jobs
 * @param {RunPlan & { slices: import('./plan.js').SlicePlan }} plan
 * @param {SliceContext} context its result grows
 */
export async function runSlices(jobs, plan, context) {
  const { result, signal, cpus, onEvent, isDecided } = context;
  const { slices } = plan;
  const sliced = jobs.filter((job) => whyWhole(job, context) === null);
  const others = jobs.flatMap((job) => {
    const reason = whyWhole(job, context);
    return reason === null ? [] : [{ job, reason }];
  });
  const targets = [...new Set(sliced.map(({ target }) => target))];
  if (jobs.length === 0) return;
  const loads = cellsOf(sliced);
  const servers = [...new Set(targets.flatMap(({ server }) => server ?? []))];
  const placement = await placeFor(slices.placement, loads, servers, { pinned: cpus });
  const orderSeed = randomInt(2 ** 32);
  const stored = emptyComparison(plan, loads, { orderSeed, placement, others });
  result.comparison = stored;
  const clock = estimate(plan, sliced.length, loads.length);
  try {
    const { stopped, failed, spentNs } = await runComparison({
      ...{ plan, targets, loads, orderSeed, signal, placement, clock: systemClock },
      folder: jobs[0].spec.folder,
      precision: slices.precision,
      budgetNs: slices.budgetNs,
      ...{ rounds: slices.rounds ?? undefined, isDecided, holdsBudget: slices.holdsBudget },
      wholes: others.map(({ job }) => async (round, position) => {
        onEvent?.(clock.event(round, job.benchmark.id, 0));
        await context.runWhole?.(withAmount(job), round, position);
      }),
      onPhase: (round, phase, share) => onEvent?.(clock.event(round, phase, share)),
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
function whyWhole({ benchmark, target }, { writes }) {
  // Two processes that write to the same LMDB file have been seen to crash.
  const isShared = writes && target.definition.fill !== undefined;
  return isShared
    ? 'an embedded store is written to by one process at a time'
    : whyNotSliced(benchmark.load);
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
 * @returns {import('./storage-contender.js').SliceLoad[]} the loads of all variants, each with the
 *   contenders that have it, in the order of the benchmarks
 */
function cellsOf(jobs) {
  /** @type {Map<string, import('./storage-contender.js').SliceLoad & { contenders: string[] }>} */
  const cells = new Map();
  for (const { benchmark } of jobs) {
    const { parameters, load } = benchmark;
    const kind = /** @type {'sync' | 'window'} */ (load.kind);
    const inFlight = load.inFlight ?? 1;
    const key = JSON.stringify([parameters, kind, inFlight]);
    const cell = cells.get(key) ?? {
      ...{ kind, inFlight, contenders: [] },
      ...(parameters && { parameters }),
    };
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
    loads: loads.map(({ kind, inFlight, parameters }, i) => ({
      ...{ kind, inFlight, ...(parameters && { parameters }) },
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
 * @param {Progress} progress
 * @param {readonly Job[]} jobs
 * @param {SliceContext} context
 * @param {StoredComparison} stored
 */
async function storeRound(progress, jobs, { result, onEvent }, stored) {
  const { round, blocks, entrants, done, spentNs, sliceNs } = progress;
  stored.blocks.push(blocks);
  stored.sliceNs = sliceNs;
  stored.spentNs = spentNs;
  /** @type {{ benchmark: Benchmark, round: import('../../lib/result.js').Round }[]} */
  const ended = [];
  for (const [load, { contenders }] of stored.loads.entries()) {
    const means = meansOf(done, load);
    for (const [i, entrant] of entrants.entries()) {
      const job = jobs.find((one) => isOf(one, entrant, stored.loads[load]));
      keepSlices(contenders, entrant, done[i], { load, round, id: job?.benchmark.id ?? null });
      if (job === undefined) continue;
      const position = load * entrants.length + i;
      const made = await roundOf(done[i], load, { round, position }, means[i]);
      const { benchmark } = job;
      benchmark.rounds.push(made);
      benchmark.state = made.state;
      benchmark.reason = made.failure?.message ?? null;
      ended.push({ benchmark, round: made });
    }
    keepOverhead(result, stored.loads[load]);
  }
  for (const [i, one] of ended.entries()) {
    const { benchmark } = one;
    onEvent?.({ type: 'benchmark-start', benchmark, round, rounds: round + 1 });
    onEvent?.({ type: 'benchmark-end', ...one, result, more: i < ended.length - 1 });
  }
  const resolves = progress.standings.map((one) => one?.resolves ?? null);
  onEvent?.({ type: 'round-end', round, spentNs, resolves });
}

/**
 * @param {Job} job
 * @param {RoleEntrant} entrant
 * @param {StoredComparison['loads'][number]} load
 */
function isOf({ benchmark }, { name, role }, load) {
  return (
    (role === 'storage' || role === 'overhead') &&
    // Versions of a driver share their storage, not their name.
    labelOf(benchmark) === name &&
    isOfLoad(load, benchmark)
  );
}

/**
 * @param {ContenderRound[]} done
 * @param {number} load
 * @returns {number[]} log of ns per operation of each process, block state out
 */
function meansOf(done, load) {
  const logs = done.map(({ slices }) => [
    slices[load].map((slice) => (slice?.valid ? Math.log(timeNs(slice)) : null)),
  ]);
  return processMeans(logs).map(([mean]) => mean);
}

/** @param {Slice} slice */
function timeNs({ spanNs, spanOperations }) {
  return spanNs / spanOperations;
}

/**
 * @param {StoredContender[]} contenders is added to
 * @param {RoleEntrant} entrant
 * @param {ContenderRound} done
 * @param {{ load: number, round: number, id: string | null }} context
 */
function keepSlices(contenders, { name, role, server, of, ceiling }, done, { load, round, id }) {
  let found = contenders.find((one) => one.name === name);
  if (found === undefined && round === 0) {
    const about = { name, group: groupOf({ role, server }), benchmark: id };
    found = { ...about, ...(of && { of }), ...(ceiling && { ceiling }), rounds: [] };
    contenders.push(found);
  }
  if (done.failure !== null || found === undefined) return;
  const slices = done.slices[load].map((slice) => (slice?.valid ? slice : null));
  const of1 = (/** @type {(slice: Slice) => number | null} */ value) =>
    slices.map((slice) => {
      const number = slice === null ? null : value(slice);
      return number === null ? null : Math.round(number);
    });
  found.rounds.push({
    operations: slices.reduce((sum, slice) => sum + (slice?.operations ?? 0), 0),
    timePs: of1((slice) => 1000 * timeNs(slice)),
    clientCpuPs: of1(({ cpuNs, operations }) => cpuNs && (1000 * cpuNs) / operations),
    serverCpuPs: of1(({ serverCpuNs, operations }) =>
      server === null ? null : serverCpuNs && (1000 * serverCpuNs) / operations,
    ),
    medianNs: of1(({ medianNs }) => medianNs),
    ...(done.occupancy && { occupancy: occupancyFor(done.occupancy[load], server) }),
  });
}

/**
 * @param {{ client: number | null, server: number | null }} occupancy
 * @param {string | null} server null: there is none
 */
function occupancyFor({ client, server: busiest }, server) {
  const digits = (/** @type {number | null} */ x) => x && Math.round(x * 1e4) / 1e4;
  return { client: digits(client), server: server === null ? null : digits(busiest) };
}

/**
 * @param {Result} result
 * @param {StoredComparison['loads'][number]} load
 */
function keepOverhead(result, { kind, contenders }) {
  const one = contenders.find(({ group }) => group === 'overhead');
  const times = one?.rounds.flatMap(({ timePs }) => timePs.filter((time) => time !== null)) ?? [];
  if (one === undefined || times.length === 0) return;
  times.sort((a, b) => a - b);
  const nsPerOperation = times[times.length >> 1] / 1000;
  const entry = { load: kind, nsPerOperation, n: one.rounds.length };
  result.harnessOverhead = [...result.harnessOverhead.filter((x) => x.load !== kind), entry];
}

/**
 * @param {ContenderRound} done
 * @param {number} load
 * @param {{ round: number, position: number }} place
 * @param {number} mean log of ns per operation
 * @returns {Promise<import('../../lib/result.js').Round>}
 */
async function roundOf({ series, servers, failure }, load, place, mean) {
  if (failure !== null) return toRound({ record: null, failure, processNs: null }, place);
  const { cpu, rssBytes = 0, compared, metrics, ...one } = series[load];
  const record = {
    ...emptyRecord(),
    ...one,
    state: /** @type {const} */ ('measured'),
    ...(compared && { compared }),
    ...(metrics && { metrics }),
    client:
      cpu === undefined
        ? null
        : {
            ...cpu,
            ...{ rssBytesBefore: rssBytes, rssBytesAfter: rssBytes, rssBytesMax: rssBytes },
            ...{ gcCount: null, gcNs: null },
          },
    server: servers?.[load] ? { cpuNs: servers[load].cpuNs, rssBytes: null } : null,
  };
  const round = await toRound({ record, failure: null, processNs: null }, place);
  const isKnown = Number.isFinite(mean) && one.outcomes[OK] > 0;
  return isKnown ? { ...round, throughput: 1e9 / Math.exp(mean) } : round;
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
