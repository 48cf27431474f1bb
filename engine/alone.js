/**
 * Loads that run whole: one contender under one load, in its own process, with no other contender
 * open.
 */

import { createRandom } from '../lib/random.js';
import { upperMedian } from '../stats/percentile.js';
import { endRound, serversOf, unfinishedOf } from './end-round.js';
import { failBenchmark } from './lost-servers.js';
import { loadOfReads, overheadContender, programContender, storageContender } from './roles.js';
import { playRound } from './round.js';
import { wholeSegment } from './schedule/index.js';
import { metricsOf } from './segment.js';
import { sharesOf } from './share.js';
import { toRound } from './to-round.js';

/** Duration of loads without an amount, in a run whose other loads are in blocks. */
const WHOLE_NS = 300e6;
/** Operations per measurement of the harness overhead. */
const OVERHEAD_OPERATIONS = Object.freeze({ sync: 200_000, window: 200_000, burst: 50_000 });
const OVERHEAD_WARM = /** @type {const} */ ({ kind: 'operations', operations: 20_000 });
/** Another program runs directly before or after a storage; the order is drawn for each round. */
const TURN_STREAM = 0x7475726e;
/** Reason of a round that was stopped before its first operation. */
const ABORTED = Object.freeze({ code: 'E_ABORTED', message: 'stopped before it was measured' });

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('./benchmarks.js').Job} Job */
/** @typedef {import('./roles.js').RunLoad} RunLoad */
/** @typedef {import('./roles.js').Contender} Contender */
/** @typedef {import('./seat.js').Seat} Seat */
/** @typedef {import('./contender.js').Amount} Amount */

export class Alone {
  /**
   * @param {readonly Job[]} jobs
   * @param {{ plan: import('./plan.js').RunPlan, context: import('./rounds.js').RoundsContext,
   *   journal: import('./journal.js').Journal,
   *   placement: import('./placement.js').Placement | null }} run
   */
  constructor(jobs, run) {
    this.jobs = jobs;
    this.run = run;
    /**
     * Harness overhead per pass, in ns per operation, by kind of load.
     * @type {Map<keyof typeof OVERHEAD_OPERATIONS, number[]>}
     */
    this.overheads = new Map();
  }

  /**
   * Runs one contender under one load in its own process, with no other contender open.
   * @param {Job} job
   * @param {{ round: number, position: number, rounds: number }} place
   * @returns {Promise<Round>} the round appended to its benchmark
   */
  async play(job, place) {
    const { context } = this.run;
    const { result, lost, onEvent, signal } = context;
    const { benchmark, target, load } = job;
    const gone = lost.failureOf(serversOf(job, context));
    if (gone !== null) return failLost(benchmark, gone, place);
    onEvent?.({ type: 'benchmark-start', benchmark, round: place.round, rounds: place.rounds });
    const contender = storageContender(target, [load], this.#roleContext(place.round));
    const random = createRandom(
      this.run.plan.seed,
      TURN_STREAM + place.round * 1024 + place.position,
    );
    const isProgramFirst = random() < 0.5;
    const before = isProgramFirst ? await this.#playProgram(contender, load) : {};
    const seat = await this.#playSeat(contender, amountOf(benchmark.load), {
      shares: sharesOf(benchmark.load),
      onProgress: (progress) => onEvent?.({ type: 'progress', benchmark, ...progress }),
      onPartial: (one) =>
        this.run.journal.keep(() => unfinishedOf(one, [0], { benchmark, place }), { waits: false }),
    });
    const segment = seat.merged([0], { partial: true });
    const made = await toRound(segment, {
      ...place,
      failure: seat.failure ?? (segment === null && signal?.aborted ? ABORTED : null),
      processNs: seat.processNs,
      placement: this.run.placement?.of(load),
    });
    const beside = isProgramFirst ? before : await this.#playProgram(contender, load);
    if (Object.keys(beside).length > 0) made.metrics = { ...made.metrics, ...beside };
    recordDrift(made, result);
    await endRound({ job, round: made, segment }, context);
    return made;
  }

  /**
   * Runs another program with the same number of requests on the route of a storage.
   * @param {Contender} like
   * @param {RunLoad} load
   * @returns {Promise<import('../lib/types.js').WorkloadMetrics>} report of the program
   */
  async #playProgram(like, load) {
    const { workload, signal, runner } = this.run.context;
    const name = workload.program?.name(this.run.plan.workloadOptions) ?? null;
    if (name === null || runner !== undefined || signal?.aborted) return {};
    const contender = programContender(name, [like]);
    // It has its own keys, since the storage has modified its own.
    const tasks = contender.spec.tasks.map((task) => task && { ...task, slot: task.slot + 1 });
    const own = { ...contender, spec: { ...contender.spec, tasks } };
    const seat = await this.#playSeat(own, amountOf(load.load));
    return metricsOf(seat.merged([0]));
  }

  /** @param {number} round */
  #roleContext(round) {
    const { others, folder } = this.run.context;
    return { plan: this.run.plan, others, folder, round };
  }

  /**
   * @param {Contender} contender
   * @param {Amount} amount
   * @param {{ shares?: readonly import('./share.js').Share[],
   *   onProgress?: import('./seat.js').SeatEvents['onProgress'],
   *   onPartial?: (seat: Seat) => void }} [how]
   * @returns {Promise<Seat>}
   */
  async #playSeat(contender, amount, { shares, onProgress = () => {}, onPartial } = {}) {
    const { runner, signal, cpus, detail, processes, counts } = this.run.context;
    if (runner !== undefined) return runner.playWhole(contender, amount, { signal, onProgress });
    const spec = { ...contender.spec, isLong: true, ...detail, ...(cpus && { cpus }) };
    const { seats } = await playRound({
      seats: [{ ...contender, spec, shares }],
      schedule: (seen) => wholeSegment(0, amount, seen),
      processes,
      placement: this.run.placement ?? undefined,
      counts,
      signal,
      events: (seat) => ({
        onProgress,
        ...(onPartial && this.run.context.onPartial && { onPartial: () => onPartial(seat) }),
      }),
    });
    return seats[0];
  }

  /**
   * Measures the harness overhead for loads that run whole: one entry per kind of load.
   * @param {number} round
   */
  async playOverhead(round) {
    const { result, signal, workload } = this.run.context;
    if (this.run.plan.findMax !== null) return;
    if (workload.contenders !== undefined && this.jobs.length === 0) return;
    /** @type {Map<string, RunLoad>} */
    const kinds = new Map();
    for (const { load } of this.jobs) {
      const { kind } = load.load;
      if (kind !== 'rate' && !kinds.has(kind)) kinds.set(kind, load);
    }
    for (const [kind, { load }] of kinds) {
      if (signal?.aborted) return;
      const name = /** @type {keyof typeof OVERHEAD_OPERATIONS} */ (kind);
      const operations = OVERHEAD_OPERATIONS[name];
      const { inFlight } = load;
      const amount = { operations, durationNs: null };
      const reads = loadOfReads(
        `overhead ${name}`,
        { kind: name, inFlight, ...amount },
        OVERHEAD_WARM,
      );
      const contender = overheadContender([reads], this.#roleContext(round));
      const seat = await this.#playSeat(contender, amount);
      const made = await toRound(seat.merged([0]), { round, position: 0, failure: seat.failure });
      if (made.state !== 'measured') continue;
      const times = [...(this.overheads.get(name) ?? []), made.durationNs / made.outcomes.ok];
      this.overheads.set(name, times);
      keepOverhead(result, { kind: name, inFlight }, times);
    }
  }
}

/**
 * @param {import('../lib/result.js').Load} load
 * @returns {Amount} the amount of the load; for runs with segments in blocks, the length of such a
 *   round
 */
export function amountOf({ operations, durationNs }) {
  if (operations === null && durationNs === null) return { operations, durationNs: WHOLE_NS };
  return { operations, durationNs };
}

/**
 * @param {Result} result
 * @param {{ kind: Result['harnessOverhead'][number]['load'], inFlight: number | null }} load
 * @param {readonly number[]} times ns per operation
 * @param {number} [n] number of rounds
 */
export function keepOverhead(result, { kind, inFlight }, times, n = times.length) {
  const nsPerOperation = upperMedian(times);
  if (nsPerOperation === null) return;
  const of = { load: kind, ...(kind === 'window' && inFlight !== null && { inFlight }) };
  const others = result.harnessOverhead.filter(
    (one) => one.load !== kind || one.inFlight !== of.inFlight,
  );
  result.harnessOverhead = [...others, { ...of, nsPerOperation, n }];
}

/**
 * Skips a benchmark whose server is unreachable. The reason is reported once, not per round.
 * @param {Benchmark} benchmark
 * @param {import('./segment.js').Failure} failure
 * @param {{ round: number, position: number }} place
 * @returns {Promise<Round>}
 */
async function failLost(benchmark, failure, place) {
  const round = await toRound(null, { ...place, failure });
  if (benchmark.rounds.length === 0) benchmark.rounds.push(round);
  failBenchmark(benchmark, failure);
  return round;
}

/**
 * Change of the canary loop since the first one of the run.
 * @param {Round} round
 * @param {Result} result result so far, without that round
 */
function recordDrift({ conditions }, { benchmarks }) {
  if (conditions === undefined || conditions.canaryNs === null) return;
  const first = benchmarks
    .flatMap(({ rounds }) => rounds)
    .find((other) => other.round === 0 && other.position === 0);
  const referenceNs = first?.conditions?.canaryNs ?? conditions.canaryNs;
  conditions.canaryDrift = referenceNs > 0 ? conditions.canaryNs / referenceNs - 1 : null;
}
