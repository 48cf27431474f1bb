/**
 * Rounds of segments in blocks: contenders of all roles, side by side. If the loads have an amount,
 * a round is one block of it.
 */

import { availableParallelism } from 'node:os';
import { kindOf } from '../lib/capabilities.js';
import { entriesOf } from '../lib/comparison.js';
import { createRandom } from '../lib/random.js';
import { systemClock } from '../measure/clock.js';
import { blocksByDeviations, blocksFor, ROUNDS_LEAST } from '../stats/precision.js';
import { deviationRatioOf } from '../stats/standings.js';
import { amountOf, keepOverhead } from './alone.js';
import { endRound, unfinishedOf } from './end-round.js';
import { contendersInBlocks, loadCount, segmentsPerBlock } from './roles.js';
import { playRound } from './round.js';
import { blocks } from './schedule/index.js';
import { shapeOf } from './shape.js';
import { sharesOf } from './share.js';
import { storeBlocks } from './store.js';

/** Gap between two segments and their overrun, as a share of a segment. */
const SEGMENT_EXTRA = 1.12;
/**
 * Time per load to start, open and warm up a contender, until the first round shows the real one.
 */
const START_NS_GUESS = 0.22e9;
/** Further variants of a workload share the time of a warm-up. */
const LOADS_GUESS = 3;
/** Separate from the stream that orders loads that run whole. */
const BLOCKS_STREAM = 0x626c0000;

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {import('../lib/result.js').Benchmark} Benchmark */
/** @typedef {import('../lib/comparison.js').StoredComparison} StoredComparison */
/** @typedef {import('./benchmarks.js').Job} Job */
/** @typedef {import('./plan.js').RunPlan} RunPlan */
/** @typedef {import('./roles.js').RunLoad} RunLoad */
/** @typedef {import('./roles.js').Contender} Contender */
/** @typedef {import('./rounds.js').RoundRunner} RoundRunner */
/** @typedef {import('./seat.js').Seat} Seat */

/**
 * @typedef {object} OfRounds
 * @property {readonly Job[]} jobs
 * @property {readonly RunLoad[]} loads loads of the segments; a row with several parts has one per
 *   part
 * @property {readonly import('./targets.js').StorageTarget[]} targets
 * @property {RunPlan} plan
 * @property {import('./rounds.js').RoundsContext} context
 * @property {import('./journal.js').Journal} journal
 * @property {import('./placement.js').Placement} placement
 * @property {number} startNs start of the run
 * @property {number} orderSeed
 */

export class InBlocks {
  /**
   * @param {OfRounds} run
   */
  constructor(run) {
    this.run = run;
    this.slices = /** @type {import('./schedule/choose.js').SlicePlan} */ (run.plan.slices);
    /** Names of failed contenders. @type {Set<string>} */
    this.out = new Set();
    /** Blocks of a round; NaN: unknown. */
    this.blocks = Number.NaN;
    /** Costs of the rounds so far. @type {import('../stats/precision.js').RoundCost[]} */
    this.costs = [];
  }

  /**
   * @param {number} round
   * @returns {Contender[]} contenders of segments in blocks, including failed ones
   */
  contenders(round) {
    const { targets, loads, plan, context } = this.run;
    const { workload, others, folder, runner } = context;
    const about = { plan, others, folder, round };
    return contendersInBlocks(targets, loads, about, {
      // `memory` only has rows; contenders supplied by a workload make no use of it.
      wantsOverhead: workload.contenders === undefined && kindOf(workload.needs) === 'rows',
      // Its own segment length does not fit into a timetable of several machines.
      program: runner ? null : workload.program?.name(plan.workloadOptions),
    });
  }

  /**
   * @param {StoredComparison} stored
   * @param {number} round
   * @param {(phase: string, share: number) => void} onPhase
   * @returns {Promise<boolean>} whether it was completed
   */
  async play(stored, round, onPhase) {
    const { context, orderSeed } = this.run;
    const { runner, signal } = context;
    const contenders = this.contenders(round).filter(({ name }) => !this.out.has(name));
    const begin = this.#beginOnce(round);
    const onStart = () => {
      for (const { name } of contenders) begin(name);
    };
    const how = { round, orderSeed, signal, onPhase, onStart };
    const seats =
      runner === undefined
        ? await this.#playHere(contenders, stored, round, { onPhase, begin })
        : this.slices.isFixed
          ? await runner.playAmounts(contenders, this.#amounts(), how)
          : await runner.playBlocks(contenders, {
              ...how,
              blocks: this.#blocksOf(contenders, runner),
            });
    const isLost = seats.some(({ failure }) => failure?.code === 'E_AGENT_LOST');
    if (signal?.aborted && !isLost) {
      for (const one of await this.#unfinished(seats, contenders, round)) {
        if (one.benchmark.rounds.length === 0) one.benchmark.state = 'aborted';
        one.benchmark.rounds.push(one.round);
      }
      return false;
    }
    stored.blocks.push(blockCountOf(seats));
    const played = { round, loads: this.run.loads, contenders, seats };
    const metric = context.workload.program?.perSecond;
    const ended = await storeBlocks(played, this.run.jobs, stored, metric);
    for (const [i, one] of ended.entries()) await endRound(one, context, i < ended.length - 1);
    this.#dropFailed(stored, contenders, seats);
    this.#refitBlocks(stored);
    for (const load of stored.loads) {
      const rounds = load.contenders.find(({ group }) => group === 'overhead')?.rounds ?? [];
      const times = rounds.flatMap(({ timePs }) =>
        timePs.flatMap((ps) => (ps === null ? [] : ps / 1000)),
      );
      keepOverhead(context.result, load, times, rounds.length);
    }
    return !isLost;
  }

  /**
   * A contender that failed or replied incorrectly in one round is excluded from the comparison,
   * since means over different rounds are not comparable. So is one whose server was lost.
   * @param {StoredComparison} stored
   * @param {readonly Contender[]} contenders
   * @param {readonly Seat[]} seats
   */
  #dropFailed(stored, contenders, seats) {
    for (const [i, { name, spec }] of contenders.entries()) {
      const failures = spec.tasks.flatMap((task, load) =>
        task === null ? [] : (seats[i].failureOf(load)?.message ?? []),
      );
      const lost = this.#jobsOf(name).map(({ benchmark: { state, reason } }) =>
        state === 'failed' ? String(reason) : '',
      );
      const [message] = [...failures, ...lost.filter((text) => text !== '')];
      if (message === undefined) continue;
      this.out.add(name);
      stored.failed.push({ name, message });
    }
  }

  /**
   * @param {readonly Contender[]} contenders
   * @param {StoredComparison} stored
   * @param {number} round
   * @param {{ onPhase: (phase: string, share: number) => void,
   *   begin: (contender: string) => void }} how
   */
  async #playHere(contenders, stored, round, { onPhase, begin }) {
    const { context, orderSeed } = this.run;
    const { signal, onEvent } = context;
    const { budgetNs, isFixed, rounds } = this.slices;
    const shape = shapeOf(contenders, { budgetNs, concurrency: availableParallelism() });
    stored.sliceNs = shape.segmentNs;
    const shares = sharesOf(this.run.loads[0].load);
    const roundStartNs = systemClock.now();
    if (isFixed) this.blocks = 1;
    if (Number.isNaN(this.blocks)) this.blocks = this.#guess(contenders, shape.segmentNs);
    // The first round shows how busy the machine is.
    const firstEndNs = this.run.startNs + budgetNs / (rounds ?? ROUNDS_LEAST + 1);
    const random = createRandom(orderSeed, BLOCKS_STREAM + round);
    /** @type {readonly Seat[]} */
    let open = [];
    const keep = (/** @type {readonly Seat[]} */ all, /** @type {boolean} */ waits) => {
      open = all;
      return this.run.journal.keep(() => this.#unfinished(all, contenders, round), { waits });
    };
    const specs = contenders.map((one) => ({
      ...one,
      ...(isFixed && { every: 1 }),
      spec: {
        ...withWarmUpAtMost(one.spec, shape.warmNsMax),
        ...(isFixed && { isLong: true, ...context.detail }),
      },
      ...(shares && one.role !== 'program' && { shares }),
    }));
    const { seats } = await playRound({
      seats: specs,
      schedule: (seen) =>
        blocks(
          {
            seats: specs,
            loads: this.run.loads.map((load) => ({
              ...load.load,
              // The same if servers need not be moved.
              place: this.run.placement.of(load).server.join(),
            })),
            random,
            segmentNs: shape.segmentNs,
            leadBlocks: isFixed ? 0 : shape.leadBlocks,
            ...(isFixed && { amounts: this.#amounts() }),
            blocks: (leadNs) => {
              if (round > 0 || isFixed) return this.blocks;
              // Segments of few slow operations exceed their planned length; the first round shows
              // by how much.
              const cost = { startNs: systemClock.now() - roundStartNs, blockNs: leadNs };
              this.blocks = Math.min(this.blocks, this.#blocksFor(cost));
              return this.blocks;
            },
            ...(round === 0 && { isOver: () => systemClock.now() > firstEndNs }),
          },
          seen,
        ),
      processes: context.processes,
      placement: this.run.placement,
      counts: context.counts,
      signal,
      onPhase,
      onRun: (seat) => begin(seat.about.name),
      events: (seat) => ({
        onProgress: (progress) => {
          const benchmark = this.#jobsOf(seat.about.name).find(
            ({ load }) => load.id === this.run.loads[seat.running]?.id,
          )?.benchmark;
          if (isFixed && benchmark) onEvent?.({ type: 'progress', benchmark, ...progress });
        },
        ...(isFixed && context.onPartial && { onPartial: () => keep(open, false) }),
      }),
      onStep: (all) => keep(all, true),
    });
    if (!isFixed && !signal?.aborted) this.#keepCost(seats, systemClock.now() - roundStartNs);
    return seats;
  }

  /**
   * @param {number} round
   * @returns {(contender: string) => void} whether it runs; the first call announces its benchmarks
   */
  #beginOnce(round) {
    /** @type {Set<Benchmark>} */
    const begun = new Set();
    return (contender) => {
      for (const { benchmark } of this.#jobsOf(contender)) {
        if (begun.has(benchmark)) continue;
        begun.add(benchmark);
        const rounds = round + 1;
        this.run.context.onEvent?.({ type: 'benchmark-start', benchmark, round, rounds });
      }
    };
  }

  /** @returns {boolean} whether every storage has failed */
  get isEmpty() {
    const storages = this.contenders(0).filter(({ role }) => role === 'storage');
    return storages.length > 0 && storages.every(({ name }) => this.out.has(name));
  }

  /** Fixed amounts of segments per load. */
  #amounts() {
    return this.run.loads.map(({ load }) => amountOf(load));
  }

  /** @param {string} name name of a contender @returns {Job[]} */
  #jobsOf(name) {
    return this.run.jobs.filter(({ label }) => label === name);
  }

  /**
   * @param {readonly Contender[]} contenders
   * @param {RoundRunner} runner
   */
  #blocksOf(contenders, runner) {
    const { budgetNs, rounds } = this.slices;
    if (Number.isNaN(this.blocks)) {
      this.blocks = runner.blocksFor(contenders, { budgetNs, rounds: rounds ?? undefined });
    }
    return this.blocks;
  }

  /** @param {import('../stats/precision.js').RoundCost} cost */
  #blocksFor(cost) {
    return blocksFor(cost, this.#within);
  }

  /** Bounds of the number of blocks. */
  get #within() {
    const { budgetNs, rounds } = this.slices;
    const isShort = this.run.context.gates !== undefined;
    return { budgetNs, isShort, ...(rounds !== null && { rounds }) };
  }

  /**
   * @param {readonly Contender[]} contenders
   * @param {number} segmentNs
   * @returns {number} blocks of a round, before the first one
   */
  #guess(contenders, segmentNs) {
    const warmUps = contenders.map((one) => Math.min(LOADS_GUESS, loadCount(one)));
    return this.#blocksFor({
      startNs: warmUps.reduce((sum, count) => sum + count, 0) * START_NS_GUESS,
      blockNs: segmentsPerBlock(contenders) * segmentNs * SEGMENT_EXTRA,
    });
  }

  /**
   * The first round shows the cost of a round.
   * @param {readonly Seat[]} seats
   * @param {number} roundNs
   */
  #keepCost(seats, roundNs) {
    const walls = seats.flatMap(({ segments }) =>
      segments.flat().flatMap((one) => one?.wall ?? []),
    );
    const count = blockCountOf(seats);
    if (walls.length === 0 || count === 0) return;
    const first = Math.min(...walls.map(([from]) => from));
    const blocksNs = Math.max(first, ...walls.map(([, to]) => to)) - first;
    const cost = {
      startNs: Math.max(0, roundNs - blocksNs),
      blockNs: Math.max(1, blocksNs / count),
    };
    this.costs.push(cost);
    if (this.costs.length === 1) this.blocks = Math.min(count, this.#blocksFor(cost));
  }

  /**
   * From the second round on, use measured costs.
   * @param {StoredComparison} stored
   */
  #refitBlocks(stored) {
    if (this.costs.length < 2) return;
    const ratios = stored.loads.flatMap(
      (load) => deviationRatioOf(entriesOf(load, { without: this.out })) ?? [],
    );
    if (ratios.length > 0) {
      const spentNs = systemClock.now() - this.run.startNs;
      this.blocks = blocksByDeviations(this.costs, ratios, { ...this.#within, spentNs });
    }
  }

  /**
   * @param {readonly Seat[]} seats
   * @param {readonly Contender[]} contenders
   * @param {number} round
   * @returns {Promise<import('./journal.js').Unfinished[]>} the running round, aborted
   */
  async #unfinished(seats, contenders, round) {
    const made = contenders.flatMap(({ name, role }, i) => {
      // Creates a seat when its contender opens.
      if ((role !== 'storage' && role !== 'overhead') || seats[i] === undefined) return [];
      return this.#jobsOf(name).map(({ benchmark, load }) => {
        const row = this.run.loads.flatMap((one, k) => (one.id === load.id ? [k] : []));
        return unfinishedOf(seats[i], row, { benchmark, place: { round, position: i } });
      });
    });
    return (await Promise.all(made)).flat();
  }
}

/** @param {readonly Seat[]} seats @returns {number} number of blocks played */
function blockCountOf(seats) {
  return Math.max(0, ...seats.flatMap(({ segments }) => segments.map((own) => own.length)));
}

/**
 * @param {import('./contender.js').ContenderSpec} spec
 * @param {number} nsMax maximum time of a process
 * @returns {import('./contender.js').ContenderSpec}
 */
function withWarmUpAtMost(spec, nsMax) {
  return {
    ...spec,
    tasks: spec.tasks.map((task) =>
      task?.warm.kind === 'level'
        ? { ...task, warm: { kind: 'level', nsMax: Math.min(nsMax, task.warm.nsMax) } }
        : task,
    ),
  };
}
