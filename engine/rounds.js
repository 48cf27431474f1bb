/**
 * The rounds of a run: their contents, order and number. Results grow with each contender that
 * ends.
 */

import { randomInt } from 'node:crypto';
import { entriesOf } from '../lib/comparison.js';
import { createRandom, shuffled } from '../lib/random.js';
import { systemClock } from '../measure/clock.js';
import { readConditions } from '../measure/conditions.js';
import { stopReason } from '../stats/precision.js';
import { standingsOf } from '../stats/standings.js';
import { Alone } from './alone.js';
import { Estimate } from './estimate.js';
import { markImplausible } from './implausible.js';
import { InBlocks } from './in-blocks.js';
import { Journal } from './journal.js';
import { placeFor } from './placement.js';
import { isInBlocks } from './schedule/choose.js';
import { orderOfRound } from './schedule/index.js';
import { SEGMENT_NS } from './shape.js';

/** Random stream for the order of loads that run whole in a run with blocks. */
const ORDER_STREAM = 0x77680000;
/** Passes of the harness overhead for whole loads. */
const OVERHEAD_PASSES = 3;

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Round} Round */
/** @typedef {import('../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('./benchmarks.js').Job} Job */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./roles.js').RunLoad} RunLoad */
/** @typedef {import('./roles.js').Contender} Contender */
/** @typedef {import('./seat.js').Seat} Seat */
/** @typedef {import('./contender.js').Amount} Amount */
/** @typedef {import('./targets.js').ServerTarget} ServerTarget */
/** @typedef {import('./placement.js').Placement} Placement */

/**
 * @typedef {object} RoundsContext
 * @property {Result} result grows during the run
 * @property {import('../lib/types.js').WorkloadDefinition} workload
 * @property {readonly ServerTarget[]} others further servers
 * @property {string} folder folder of embedded stores
 * @property {import('./contender-process.js').ProcessFactory} processes
 * @property {import('./lost-servers.js').LostServers} lost
 * @property {import('./server-counts.js').ServerCounts | null} [counts] counts of the servers
 * @property {import('./gates.js').Gates} [gates]
 * @property {number[]} [cpus] processors of the client, if --pin has placed both
 * @property {RoundRunner} [runner] runner for several load machines
 * @property {AbortSignal} [signal]
 * @property {(event: import('./runner.js').RunEvent) => void} [onEvent]
 * @property {import('./runner.js').RunContext['onPartial']} [onPartial]
 * @property {import('./runner.js').RunContext['detail']} [detail]
 */

/**
 * @typedef {object} MachinesRound
 * @property {number} round
 * @property {number} orderSeed
 * @property {AbortSignal} [signal]
 * @property {(phase: string, share: number) => void} [onPhase]
 * @property {() => void} [onStart] called when they begin; again if a part is repeated
 *
 * @typedef {object} RoundRunner rounds on several load machines
 * @property {string} reason reason why nothing is measured
 * @property {number} segmentNs
 * @property {(loads: readonly number[], rounds: number | null) => number} leastNs minimum duration
 *   of a race, see stats/precision.js
 * @property {(contenders: readonly Contender[], run: { budgetNs: number, rounds?: number }) =>
 *   number} blocksFor blocks per round
 * @property {(contenders: readonly Contender[], round: MachinesRound & { blocks: number }) =>
 *   Promise<Seat[]>} playBlocks
 * @property {(contenders: readonly Contender[], amounts: readonly Amount[], round: MachinesRound)
 *   => Promise<Seat[]>} playAmounts plays one segment of the amount of each load
 * @property {(contender: Contender, amount: Amount, how: { signal?: AbortSignal,
 *   onProgress: (progress: { phase: string, settled: number }) => void }) => Promise<Seat>}
 *   playWhole
 */

export class Rounds {
  /**
   * @param {readonly Job[]} jobs
   * @param {RunPlan} plan
   * @param {RoundsContext} context
   */
  constructor(jobs, plan, context) {
    this.plan = plan;
    this.context = context;
    this.inBlocks = jobs.filter(({ load }) => isInBlocks(load));
    this.whole = jobs.filter(({ load }) => !isInBlocks(load));
    this.loads = partsOf(this.inBlocks, context.workload);
    this.orderSeed = randomInt(2 ** 32);
    this.journal = new Journal(context);
    this.startNs = systemClock.now();
  }

  async run() {
    const { context, loads, whole: wholeLoads, inBlocks } = this;
    const { runner, cpus } = context;
    const all = [...loads, ...wholeLoads.map(({ load }) => load)];
    if (all.length === 0) return;
    const servers = [...inBlocks, ...wholeLoads].flatMap(({ target }) => target.server ?? []);
    const used = [...new Set([...servers, ...context.others])];
    const placement = await placeFor(all, used, { pinned: cpus, reason: runner?.reason });
    try {
      const alone = new Alone(wholeLoads, { ...this, placement });
      if (loads.length === 0) await this.#playFixed(alone, this.plan.rounds);
      else await this.#playUntilDone(alone, placement);
    } finally {
      await placement.restore();
    }
  }

  /**
   * A trial of a search.
   * @param {Job} job
   * @param {number} round
   * @returns {Promise<Round>}
   */
  async playTrial(job, round) {
    const alone = new Alone(this.whole, { ...this, placement: null });
    return alone.play(job, { round, position: 0, rounds: round + 1 });
  }

  /**
   * Runs each contender and load separately.
   * @param {Alone} alone
   * @param {number} rounds
   */
  async #playFixed(alone, rounds) {
    for (let round = 0; round < rounds; round += 1) {
      if (round < OVERHEAD_PASSES) await alone.playOverhead(round);
      const order = orderOfRound(this.whole.length, round, rounds, this.plan.seed);
      for (const [position, index] of order.entries()) {
        if (this.context.signal?.aborted) return;
        await alone.play(this.whole[index], { round, position, rounds });
      }
    }
  }

  /**
   * Plays rounds until the intervals are narrow enough, or the requested number.
   * @param {Alone} alone
   * @param {Placement} placement
   */
  async #playUntilDone(alone, placement) {
    const { context, inBlocks: jobs, loads } = this;
    const { signal, result, onEvent } = context;
    const slices = /** @type {NonNullable<RunPlan['slices']>} */ (this.plan.slices);
    const targets = [...new Set(jobs.map(({ target }) => target))];
    const inBlocks = new InBlocks({ ...this, jobs, targets, placement });
    const stored = this.#emptyComparison(slices, placement);
    result.comparison = stored;
    const estimate = new Estimate(slices, loads.length * (targets.length + 3));
    const onPhase =
      (/** @type {number} */ round) => (/** @type {string} */ phase, /** @type {number} */ share) =>
        onEvent?.(estimate.event(round, phase, share));
    for (let round = 0; stored.stopped === null; round += 1) {
      const roundStartNs = systemClock.now();
      let isComplete = true;
      const items = [
        async () => {
          isComplete = await inBlocks.play(stored, round, onPhase(round));
        },
        ...this.whole.map((job) => async (/** @type {number} */ position) => {
          onPhase(round)(job.benchmark.id, 0);
          await alone.play(job, { round, position, rounds: round + 1 });
        }),
      ];
      const random = createRandom(this.orderSeed, ORDER_STREAM + round);
      for (const [position, play] of shuffled(items, random).entries()) {
        if (!signal?.aborted) await play(position);
      }
      const roundNs = systemClock.now() - roundStartNs;
      stored.loadAverages?.push(readConditions().loadAverage);
      stored.spentNs = systemClock.now() - this.startNs;
      if (signal?.aborted || !isComplete) {
        stored.stopped = 'aborted';
        break;
      }
      const widths = halfWidthsOf(stored, inBlocks.out);
      const all = widths.flatMap((one) => one?.all ?? []);
      estimate.take({ roundNs, halfWidths: all });
      const resolves = widths.map((one) => one?.resolves ?? null);
      onEvent?.({ type: 'round-end', round, spentNs: stored.spentNs, resolves });
      stored.stopped = inBlocks.isEmpty
        ? 'failed'
        : this.#whyStop({ ...stored, rounds: round + 1, roundNs, halfWidths: all });
    }
    result.warnings.push(...warningsOf(stored, jobs), ...markImplausible(result));
  }

  /**
   * @param {{ rounds: number, roundNs: number, spentNs: number,
   *   halfWidths: readonly number[] }} soFar
   * @returns {StoredComparison['stopped']}
   */
  #whyStop({ rounds, roundNs, spentNs, halfWidths }) {
    const slices = /** @type {NonNullable<RunPlan['slices']>} */ (this.plan.slices);
    const { precision, budgetNs } = slices;
    const further = Math.max(0, Math.floor((budgetNs - spentNs) / roundNs));
    const isDecided = this.context.gates?.look(slices.rounds ?? rounds + further);
    if (slices.rounds !== null) return rounds >= slices.rounds ? 'rounds' : null;
    return stopReason({ rounds, roundNs, spentNs, halfWidths, isDecided, precision, budgetNs });
  }

  /**
   * @param {NonNullable<RunPlan['slices']>} slices
   * @param {Placement} placement
   * @returns {StoredComparison}
   */
  #emptyComparison({ precision, budgetNs, isFixed }, placement) {
    return {
      orderSeed: this.orderSeed,
      precision,
      budgetNs,
      sliceNs: this.context.runner?.segmentNs ?? SEGMENT_NS,
      stopped: null,
      spentNs: 0,
      blocks: [],
      ...(this.context.runner === undefined && { loadAverages: [] }),
      failed: [],
      ...(this.whole.length > 0 && {
        whole: this.whole.map(({ benchmark, load }) => ({
          benchmark: benchmark.id,
          reason: load.reason ?? '',
        })),
      }),
      loads: this.loads.map((runLoad) => {
        const { load, parameters, part, workload, isNamed } = runLoad;
        const { kind, inFlight, connections, valueSize, processes, operations, durationNs } = load;
        return {
          kind: /** @type {'sync' | 'window'} */ (kind),
          inFlight: inFlight ?? 1,
          ...(parameters && { parameters }),
          ...(connections && { connections }),
          ...(valueSize && { valueSize }),
          ...(processes && { processes }),
          ...(isFixed && { operations, durationNs }),
          ...(!isFixed && this.context.runner === undefined && { garbage: 'own' }),
          ...(part && { part }),
          ...(isNamed && { workload }),
          placement: placement.of(runLoad),
          contenders: [],
        };
      }),
    };
  }
}

/**
 * @param {StoredComparison} stored
 * @param {ReadonlySet<string>} out names of failed contenders
 * @returns {({ all: number[], resolves: number | null } | null)[]} by load; null: one round
 */
function halfWidthsOf(stored, out) {
  return stored.loads.map((load) => {
    const entries = entriesOf(load, { without: out });
    if ((entries[0]?.time.length ?? 0) < 2) return null;
    const { halfWidths, resolves } = standingsOf(entries);
    return { all: halfWidths, resolves };
  });
}

/**
 * @param {StoredComparison} stored
 * @param {readonly Job[]} jobs
 * @returns {Result['warnings']} figures of contenders other than storages of the run
 */
function warningsOf({ failed }, jobs) {
  const own = new Set(jobs.map(({ label }) => label));
  return failed
    .filter(({ name }) => !own.has(name))
    .map(({ name, message }) => ({
      code: 'W_CONTENDER',
      message: `${name} could not be measured: ${message}`,
      hint: null,
      benchmark: null,
    }));
}

/**
 * @param {readonly Job[]} jobs
 * @param {import('../lib/types.js').WorkloadDefinition} workload
 * @returns {RunLoad[]} unique loads in the order of the benchmarks; a row with several parts has
 *   one per part
 */
function partsOf(jobs, { parts }) {
  const loads = new Map(jobs.map(({ load }) => [load.id, load]));
  return [...loads.values()].flatMap((load) => {
    const own = parts?.(load.workloadOptions);
    return own === undefined ? [load] : own.map((part) => ({ ...load, part }));
  });
}
