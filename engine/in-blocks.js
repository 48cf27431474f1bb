/**
 * Rounds of segments in blocks: contenders of all roles, played side by side. Where the loads have
 * an amount, a round is one block of it.
 */

import { availableParallelism } from 'node:os';
import { kindOf } from '../lib/capabilities.js';
import { createRandom } from '../lib/random.js';
import { systemClock } from '../measure/clock.js';
import { blocksFor, ROUNDS_LEAST } from '../stats/precision.js';
import { amountOf, keepOverhead } from './alone.js';
import { endRound, unfinishedOf } from './end-round.js';
import { contendersInBlocks, loadCount, segmentsPerBlock } from './roles.js';
import { playRound } from './round.js';
import { blocks } from './schedule/index.js';
import { shapeOf } from './shape.js';
import { sharesOf } from './share.js';
import { storeBlocks } from './store.js';

/** Between two segments, and what they take longer than planned, as a share of a segment. */
const SEGMENT_EXTRA = 1.12;
/** To start, open and warm up a contender, until the first round has shown it: per load. */
const START_NS_GUESS = 0.22e9;
/** More variants of a workload share the time of a warm-up. */
const LOADS_GUESS = 3;
/** Apart from the stream of the order of loads that run whole. */
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
 * @property {readonly RunLoad[]} loads of segments; a row with several parts has as many
 * @property {readonly import('./targets.js').StorageTarget[]} targets
 * @property {RunPlan} plan
 * @property {import('./rounds.js').RoundsContext} context
 * @property {import('./journal.js').Journal} journal
 * @property {import('./placement.js').Placement} placement
 * @property {number} startNs of the run
 * @property {number} orderSeed
 */

export class InBlocks {
  /**
   * @param {OfRounds} run
   */
  constructor(run) {
    this.run = run;
    this.slices = /** @type {import('./schedule/choose.js').SlicePlan} */ (run.plan.slices);
    /** Names of contenders that have failed. @type {Set<string>} */
    this.out = new Set();
    /** Blocks of a round; NaN: not known yet. */
    this.blocks = Number.NaN;
  }

  /**
   * @param {number} round
   * @returns {Contender[]} of segments in blocks, those that have failed too
   */
  contenders(round) {
    const { targets, loads, plan, context } = this.run;
    const { workload, others, folder, runner } = context;
    const about = { plan, others, folder, round };
    return contendersInBlocks(targets, loads, about, {
      // `memory` has rows and nothing else; contenders of a workload's own call nothing of it.
      wantsOverhead: workload.contenders === undefined && kindOf(workload.needs) === 'rows',
      // Its own length of a segment fits no timetable of several machines.
      program: runner ? null : workload.program?.name(plan.workloadOptions),
    });
  }

  /**
   * @param {StoredComparison} stored
   * @param {number} round
   * @param {(phase: string, share: number) => void} onPhase
   * @returns {Promise<boolean>} it was played to its end
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
   * A contender that failed in one round, or gave a wrong reply, is out of the comparison: means of
   * other rounds than those of the rest cannot be compared.
   * @param {StoredComparison} stored
   * @param {readonly Contender[]} contenders
   * @param {readonly Seat[]} seats
   */
  #dropFailed(stored, contenders, seats) {
    for (const [i, { name, spec }] of contenders.entries()) {
      const failures = spec.tasks.flatMap((task, load) =>
        task === null ? [] : (seats[i].failureOf(load) ?? []),
      );
      if (failures.length === 0) continue;
      this.out.add(name);
      stored.failed.push({ name, message: failures[0].message });
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
    const shape = shapeOf(contenders, { budgetNs, lanes: availableParallelism() });
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
    const own = contenders.map((one) => ({
      ...one,
      ...(isFixed && { every: 1 }),
      spec: {
        ...withWarmUpAtMost(one.spec, shape.warmNsMax),
        ...(isFixed && { isLong: true, ...context.detail }),
      },
      ...(shares && one.role !== 'program' && { shares }),
    }));
    const { seats } = await playRound({
      seats: own,
      schedule: (seen) =>
        blocks(
          {
            seats: own,
            loads: this.run.loads.map((load) => ({
              ...load.load,
              // The same where servers need not be moved.
              place: this.run.placement.of(load).server.join(),
            })),
            random,
            segmentNs: shape.segmentNs,
            leadBlocks: isFixed ? 0 : shape.leadBlocks,
            ...(isFixed && { amounts: this.#amounts() }),
            blocks: (leadNs) => {
              if (round > 0 || isFixed) return this.blocks;
              // Segments of few slow operations are longer than planned: the first round shows it.
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
    if (round === 0 && !isFixed && !signal?.aborted) {
      this.#fitBlocks(seats, systemClock.now() - roundStartNs);
    }
    return seats;
  }

  /**
   * @param {number} round
   * @returns {(contender: string) => void} it runs: the first call shows its benchmarks
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

  /** @returns {boolean} every storage has failed */
  get isEmpty() {
    const storages = this.contenders(0).filter(({ role }) => role === 'storage');
    return storages.length > 0 && storages.every(({ name }) => this.out.has(name));
  }

  /** Of a segment by load, where they are fixed. */
  #amounts() {
    return this.run.loads.map(({ load }) => amountOf(load));
  }

  /** @param {string} name of a contender @returns {Job[]} */
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
    const { budgetNs, rounds } = this.slices;
    return blocksFor(cost, { budgetNs, ...(rounds !== null && { rounds }) });
  }

  /**
   * @param {readonly Contender[]} contenders
   * @param {number} segmentNs
   * @returns {number} blocks of a round, before anything has run
   */
  #guess(contenders, segmentNs) {
    const warmUps = contenders.map((one) => Math.min(LOADS_GUESS, loadCount(one)));
    return this.#blocksFor({
      startNs: warmUps.reduce((sum, count) => sum + count, 0) * START_NS_GUESS,
      blockNs: segmentsPerBlock(contenders) * segmentNs * SEGMENT_EXTRA,
    });
  }

  /**
   * The same number for all further rounds, as the first one has shown its cost: a process is still
   * getting faster while its blocks run.
   * @param {readonly Seat[]} seats
   * @param {number} roundNs
   */
  #fitBlocks(seats, roundNs) {
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
    this.blocks = Math.min(count, this.#blocksFor(cost));
  }

  /**
   * @param {readonly Seat[]} seats
   * @param {readonly Contender[]} contenders
   * @param {number} round
   * @returns {Promise<import('./journal.js').Unfinished[]>} of the round under way, aborted
   */
  async #unfinished(seats, contenders, round) {
    const made = contenders.flatMap(({ name, role }, i) => {
      // A seat is made when its contender opens.
      if ((role !== 'storage' && role !== 'overhead') || seats[i] === undefined) return [];
      return this.#jobsOf(name).map(({ benchmark, load }) => {
        const row = this.run.loads.flatMap((one, k) => (one.id === load.id ? [k] : []));
        return unfinishedOf(seats[i], row, { benchmark, place: { round, position: i } });
      });
    });
    return (await Promise.all(made)).flat();
  }
}

/** @param {readonly Seat[]} seats @returns {number} blocks that were played */
function blockCountOf(seats) {
  return Math.max(0, ...seats.flatMap(({ segments }) => segments.map((own) => own.length)));
}

/**
 * @param {import('./contender.js').ContenderSpec} spec
 * @param {number} nsMax of a process
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
