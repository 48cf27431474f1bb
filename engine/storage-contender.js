/**
 * A contender that is a storage: opened and checked once, each load warmed up, then measured
 * segment by segment. It runs in its own process, or in the parent's for tests with a fake clock.
 */

import { codeOfError } from '../lib/error-code.js';
import { OK } from '../lib/outcome.js';
import { mix32 } from '../lib/random.js';
import { BufferedRecorder, TimedRecorder } from '../load/buffered-recorder.js';
import { ComparisonCost } from '../load/comparison-cost.js';
import { FullComparisons } from '../load/full-comparisons.js';
import { runLoad } from '../load/load.js';
import { SecondsRecorder } from '../load/seconds-recorder.js';
import { sleepUntilStart } from '../load/start.js';
import { conditionsBetween } from '../measure/conditions.js';
import { loadWorkload } from '../workloads/index.js';
import { addGarbage, GarbageShares } from './garbage.js';
import { MemoryGrowth } from './memory-growth.js';
import { Meter } from './meter.js';
import { mustWait, runHook } from './opening.js';
import { addPoolWait } from './pool-wait.js';
import {
  curveOf,
  figuresOf,
  keepRecorded,
  keepWaits,
  segmentOf,
  sinceOf,
  spanOf,
} from './recorded.js';
import { watchRedirects } from './redirects.js';
import { emptySegment } from './segment.js';
import { noMetricRule, rateOf, shareLoad } from './share.js';
import { unwaitedOf } from './unserved.js';
import { Variants } from './variants.js';
import { isWarm } from './warm.js';

const WARMUP_IN_FLIGHT = 100;
/** Fine enough for a warm-up of milliseconds; merged afterwards. */
const WARMUP_WINDOW_NS = 1e6;
/** Maximum duration of a step of a warm-up. */
const WARM_STEP_NS = 5e6;

/** @typedef {import('./contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('./contender.js').ContenderContext} ContenderContext */
/** @typedef {import('./contender.js').Contender} Contender */
/** @typedef {import('./contender.js').Task} Task */
/** @typedef {import('./contender.js').Amount} Amount */
/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./variants.js').Variant} Variant */
/** @typedef {import('../lib/types.js').BoundWorkload} BoundWorkload */

/**
 * @typedef {object} Cell a load of the contender
 * @property {Task} task
 * @property {Variant} variant
 * @property {number} first index of the workload's operation at which the next segment begins
 * @property {BufferedRecorder | null} recorder recorder of brief segments
 * @property {import('../measure/histogram.js').Histogram | null} poolWait null: no pool
 * @property {import('../lib/result.js').Round['warmup'] | null} warmup
 * @property {number} wholeEvery mean distance of replies compared in full, at least
 * @property {Prepared | null} prepared
 *
 * @typedef {object} Prepared
 * @property {Amount} amount amount of this process
 * @property {import('../lib/result.js').Load} load the share of this process
 * @property {import('../load/rate.js').RateOptions} [rate]
 */

/**
 * @param {ContenderSpec} spec
 * @param {ContenderContext} context
 * @returns {Promise<Contender>}
 */
export async function openStorageContender(spec, context) {
  const contender = new StorageContender(spec, context);
  await contender.open();
  return contender;
}

/** @implements {Contender} */
export class StorageContender {
  /** @type {(Cell | null)[]} */
  cells = [];
  #hasBegun = false;
  /** @type {number | null} */
  #canaryNs = null;
  /** @type {GarbageShares | null} garbage of brief segments */
  #shares = null;

  /** @param {ContenderSpec} spec @param {ContenderContext} context */
  constructor(spec, context) {
    this.spec = spec;
    this.context = context;
    this.instruments = context.instruments;
    this.clock = context.instruments.clock;
    this.startNs = this.clock.now();
    this.variants = new Variants(spec, context);
    this.meter = new Meter(spec, context.instruments);
    const { seed, round = 0, share } = spec.storage;
    this.comparisons = new FullComparisons(mix32(mix32(seed, round), share?.index ?? 0));
    this.growth = new MemoryGrowth(context.instruments);
  }

  async open() {
    if (this.spec.isLong) this.#canaryNs = this.instruments.canaryNs();
    for (const task of this.spec.tasks) {
      const variant = task === null ? null : await this.variants.open(task);
      this.cells.push(
        task &&
          variant && {
            task,
            variant,
            first: 0,
            recorder: null,
            poolWait: null,
            warmup: null,
            wholeEvery: 1,
            prepared: null,
          },
      );
    }
  }

  /** Collects all garbage first: V8 discards compiled code with the last object that uses it. */
  async begin() {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.instruments.collectGarbage('all');
    for (const { measured } of this.variants.all) {
      await runHook(measured.begin?.(), 'preparing the data', this.context);
    }
  }

  /** @param {number} index @returns {Promise<import('./contender.js').WarmRecord>} */
  async warm(index) {
    const cell = /** @type {Cell} */ (this.cells[index]);
    await this.begin();
    const { measured, opened } = cell.variant;
    if (measured.refused?.()) return { costNs: 0, refused: true };
    const { warm } = cell.task;
    let costNs = 0;
    const cost = new ComparisonCost(this.instruments.cpu);
    if (warm.kind === 'level') costNs = await this.#warmUntilLevel(cell, warm.nsMax, cost);
    if (warm.kind === 'operations') await this.#warmBy(cell, warm.operations, cost);
    cell.wholeEvery = cost.every();
    measured.restart?.();
    addPoolWait(null, opened); // discards the waits of the warm-up
    // Long segments are collected when prepared. A second collection would promote the objects that
    // one allocates.
    if (warm.kind === 'level') this.growth.collectYoung();
    return { costNs, refused: measured.refused?.() ?? false };
  }

  /**
   * The same work for all storages, uncounted; its curve is stored.
   * @param {Cell} cell
   * @param {number} operations
   * @param {ComparisonCost} cost
   */
  async #warmBy(cell, operations, cost) {
    const { bound, opened } = cell.variant;
    const inFlight = cell.task.load.kind === 'sync' ? 1 : WARMUP_IN_FLIGHT;
    const { context } = this;
    const warmup = bound.warmup(operations);
    await runHook(warmup.begin?.(), 'preparing the warm-up', context);
    await runHook(warmup.before?.(operations), 'preparing the warm-up', context);
    const report = await runLoad(
      {
        ...warmup,
        calls: warmup.calls ?? opened.calls,
        kind: 'window',
        inFlight,
        windowNs: WARMUP_WINDOW_NS,
        operations,
        durationNs: Number.POSITIVE_INFINITY,
        stallNs: cell.task.stallNs,
        cost,
        comparisons: this.comparisons,
        clock: this.clock,
      },
      {
        signal: context.signal,
        crash: context.crash,
        onProgress: (settled) => context.onProgress?.({ phase: 'warmup', settled }),
      },
    );
    cell.warmup = curveOf(report, inFlight);
    await runHook(warmup.after?.(), 'checking the warm-up', context);
    await runHook(warmup.end?.(), 'checking the warm-up', context);
  }

  /**
   * In steps of milliseconds, until the time per operation is level.
   * @param {Cell} cell
   * @param {number} nsMax maximum for all loads of the process together
   * @param {ComparisonCost} cost
   * @returns {Promise<number>} ns per operation in the last quarter
   */
  async #warmUntilLevel(cell, nsMax, cost) {
    const { share } = this.spec.storage;
    const shared = share === undefined ? cell.task.load : shareLoad(cell.task.load, share);
    const { kind, inFlight } = shared;
    const width = kind === 'sync' ? 1 : (inFlight ?? WARMUP_IN_FLIGHT);
    const parts = this.cells.filter((one) => one !== null).length;
    const startNs = this.clock.now();
    const onProgress = (/** @type {number} */ settled) =>
      this.context.onProgress?.({ phase: 'warmup', settled: done + settled });
    /** @type {number[]} */
    const costs = [];
    let operations = kind === 'sync' ? 1 : 2 * width;
    let done = 0;
    for (;;) {
      const amount = { operations, durationNs: null, brief: true };
      await this.#before(cell, operations);
      const load = { ...cell.task.load, kind: kind === 'sync' ? kind : WINDOW, inFlight: width };
      const report = await this.#load(cell, { amount, load, cost }, {}, { onProgress });
      await runHook(cell.variant.measured.after?.(), 'checking the warm-up', this.context);
      if (cell.variant.measured.refused?.()) break;
      cell.first += operations;
      done += operations;
      const { ns, operations: counted } = spanOf(report, load, cell.variant.calls);
      costs.push(ns / Math.max(1, counted));
      const spentNs = (this.clock.now() - startNs) * parts;
      const isValid = report.recorder.outcomes[OK] === operations;
      if (!isValid || isWarm(costs, done * parts, spentNs, nsMax)) break;
      operations = Math.max(1, Math.ceil(WARM_STEP_NS / costs[costs.length - 1] / width)) * width;
    }
    cell.recorder = null;
    const last = costs.slice(-Math.max(1, costs.length >> 2)).sort((a, b) => a - b);
    return last[last.length >> 1] ?? 0;
  }

  /** @param {Cell} cell @param {number} operations */
  async #before(cell, operations) {
    const { before } = cell.variant.measured;
    if (before === undefined) return;
    await runHook(before(operations), 'preparing the operations', this.context);
    cell.first = 0;
  }

  /** @param {number} index @param {Amount} amount */
  async prepare(index, amount) {
    const cell = /** @type {Cell} */ (this.cells[index]);
    const { storage } = this.spec;
    await this.begin();
    this.meter.open();
    await this.#before(cell, amount.operations ?? Number.POSITIVE_INFINITY);
    const { operations, durationNs } = amount;
    const total = { ...cell.task.load, operations, durationNs };
    const load = storage.share === undefined ? total : shareLoad(total, storage.share);
    const rate = rateOf({ ...storage, load: total }, cell.variant.measured);
    cell.prepared = {
      amount: { ...amount, operations: load.operations },
      load,
      ...(rate && { rate }),
    };
    // In a segment with a time limit a collection would reduce the number of operations.
    if (amount.brief && !amount.timed) this.#shares ??= new GarbageShares(this.instruments);
    if (amount.brief) return;
    cell.first = 0; // its operations keep their own indices
    this.growth.collectYoung();
  }

  /**
   * @param {number} index
   * @param {import('./contender.js').Start} start
   * @returns {Promise<Segment>}
   */
  async run(index, start) {
    const cell = /** @type {Cell} */ (this.cells[index]);
    const { prepared, variant } = cell;
    if (prepared === null) throw new Error('it is not prepared');
    cell.prepared = null;
    const { amount } = prepared;
    const { opened, measured, bound } = variant;
    const { instruments, context, clock } = this;
    const times = timesOf(start, clock.originNs ?? 0);
    const redirects = watchRedirects(opened.handles);
    const compared = { ...measured.compared };
    const conditions = this.spec.isLong ? instruments.conditions() : null;
    const garbage = amount.brief ? null : instruments.observeGarbage();
    const shares = amount.brief ? this.#shares : null;
    shares?.begin();
    const use = this.meter.begin(cell.task.others, amount.brief === true);
    if (times.startNs !== undefined) {
      await sleepUntilStart(times.startNs, { clock, signal: context.signal });
    }
    const report = await this.#load(cell, prepared, times, {
      onStart: () => times.startNs !== undefined && use.restart(),
      onIssued: () => use.markIssued(amount.operations ?? 1),
      onProgress: (settled, recorder) =>
        context.onProgress?.({ phase: 'measure', settled, recorder }),
    });
    // First, since the following work is not part of the load.
    const used = use.end();
    const { length = 0 } = sinceOf(measured.compared, compared) ?? {};
    used.client = { ...used.client, replyBytes: length };
    const { recorder } = report;
    const { startNs, endNs } = recorder;
    const { scheduled } = report;
    const span = spanOf(report, prepared.load, variant.calls);
    shares?.end({ load: index, startNs, endNs, span, scheduled });
    const about = { originNs: clock.originNs ?? 0, series: measured.series };
    /** @type {Segment} */
    const segment = { ...segmentOf(report, about), ...used };
    segment.figures = figuresOf(report, prepared.load, times, variant.calls);
    if (!segment.figures.valid) segment.occupation = null;
    if (garbage !== null) addGarbage(segment, await garbage.stop(recorder.endNs), recorder.startNs);
    this.#numberSamples(cell, segment);
    cell.first += report.scheduled;
    this.growth.operations += report.scheduled;
    cell.poolWait = addPoolWait(cell.poolWait, opened);
    const redirected = redirects().redirects ?? null;
    if (bound.outage !== undefined) segment.outages = bound.outage.end(report);
    if (conditions !== null) {
      const between = conditionsBetween(conditions, instruments.conditions());
      segment.conditions = { canaryNs: this.#canaryNs, ...between };
    }
    if (recorder instanceof BufferedRecorder) recorder.absorb();
    else keepPoolWait(cell, segment);
    if (segment.state !== 'aborted') await this.#check(cell, measured.after?.(), segment);
    const failure = unwaitedOf(segment, prepared.load);
    if (failure !== null && (await mustWait(cell.task, this.spec.storage))) {
      Object.assign(segment, { state: 'failed', failure });
    }
    segment.counters = { compared: sinceOf(measured.compared, compared), redirects: redirected };
    return segment;
  }

  /** By the operation's index among all shares. @param {Cell} cell @param {Segment} segment */
  #numberSamples({ first }, { samples }) {
    const { index, count } = this.spec.storage.share ?? { index: 0, count: 1 };
    for (const sample of samples) sample.operation = (first + sample.operation) * count + index;
  }

  /**
   * @param {Cell} cell
   * @param {ReturnType<NonNullable<BoundWorkload['after']>> | undefined} work work of the workload
   *   after its operations
   * @param {Segment} segment receives its metrics, or the reason for its failure
   */
  async #check(cell, work, segment) {
    try {
      const metrics = await runHook(work, 'checking the operations', this.context);
      const { metricRules = {} } = await loadWorkload(cell.task.workload);
      const isShared = (this.spec.storage.share?.count ?? 1) > 1;
      for (const [name, value] of Object.entries(metrics ?? {})) {
        if (isShared && metricRules[name] === undefined) throw noMetricRule(name);
        segment.metrics[name] = { rule: metricRules[name] ?? 'one', value };
      }
    } catch (error) {
      segment.state = this.context.signal?.aborted ? 'aborted' : 'failed';
      const message = String(error.message ?? error);
      segment.failure = { code: codeOfError(error) ?? 'ERROR', message };
    }
  }

  /**
   * @param {Cell} cell
   * @param {Prepared & { cost?: ComparisonCost }} prepared cost: of a warm-up
   * @param {import('./contender.js').Start} times on the clock of the process
   * @param {Omit<import('../load/load.js').LoadWatch, 'signal' | 'crash'>} watch
   */
  #load(cell, { amount, load, rate, cost }, { startNs, fromNs, endNs }, watch) {
    const { variant, task, first } = cell;
    const { measured, calls, bound } = variant;
    const { op, verify, kinds } = measured;
    const { context, clock } = this;
    const mix = kinds && {
      names: kinds.names,
      of: (/** @type {number} */ i) => kinds.of(cell.first + i),
    };
    const recorder = amount.brief
      ? (cell.recorder ??= amount.timed ? new TimedRecorder(mix) : new BufferedRecorder(mix))
      : null;
    if (recorder instanceof TimedRecorder) {
      Object.assign(recorder, { fromNs, toNs: endNs, completed: 0 });
    }
    const restNs = Math.max(0, Number(endNs) - Math.max(startNs ?? 0, clock.now()));
    return runLoad(
      {
        ...measured,
        // A load with a single segment calls the workload's functions directly.
        ...(recorder !== null && {
          op: (index, done) => op(first + index, done),
          verify: (index, reply, whole) => verify(first + index, reply, whole),
        }),
        ...(mix && { kinds: mix }),
        calls,
        kind: load.kind,
        inFlight: load.inFlight ?? 1,
        rate,
        comparisons: this.comparisons,
        wholeEvery: cell.wholeEvery,
        ...(cost && { cost }),
        operations: amount.operations ?? Number.POSITIVE_INFINITY,
        durationNs: amount.timed ? restNs : (amount.durationNs ?? Number.POSITIVE_INFINITY),
        stallNs: task.stallNs,
        clock,
        recorder:
          recorder === null
            ? this.#secondsRecorder(cell)
            : (nowNs) => {
                recorder.reset(nowNs, amount.operations ?? 0);
                return recorder;
              },
        startNs,
        outage: bound.outage,
        hasNodes: Object.keys(this.spec.storage.address).some((name) => name.startsWith('node')),
      },
      {
        ...watch,
        signal: context.signal,
        crash: context.crash,
      },
    );
  }

  /** @param {Cell} cell */
  #secondsRecorder({ task, variant }) {
    const { kinds = null, series } = variant.measured;
    if (!this.spec.perSecond || series !== undefined) return undefined;
    const what = { service: task.load.rate !== undefined, kinds };
    return (/** @type {number} */ startNs) => new SecondsRecorder(startNs, what);
  }

  /** @returns {Promise<import('./contender.js').CloseRecord>} */
  async close() {
    const kept = this.cells.map((cell) => (cell === null ? null : keptOf(cell)));
    for (const variant of this.#hasBegun ? this.variants.all : []) {
      await this.#end(
        this.cells.flatMap((cell, i) =>
          cell?.variant === variant ? [{ cell, kept: kept[i] }] : [],
        ),
      );
    }
    this.meter.close();
    const garbage = await this.#shares?.close(this.cells.length);
    const growth = await this.growth.end(this.spec, this.variants.all);
    await this.variants.close();
    const { rssBytesMax } = this.instruments.client();
    const workNs = this.clock.now() - this.startNs;
    return {
      kept,
      ...(garbage && { garbage }),
      process: {
        ...emptySegment(),
        warmup: this.cells.find((cell) => cell?.warmup)?.warmup ?? null,
        process: { createdNs: this.variants.createdNs, workNs, rssBytesMax, ...growth },
      },
    };
  }

  /**
   * @param {readonly { cell: Cell, kept: Segment | null }[]} loads loads of one variant: each
   *   receives the workload's final findings; the comparisons are counted in the first
   */
  async #end(loads) {
    const [{ cell, kept: first }] = loads;
    const { measured } = cell.variant;
    if (measured.end === undefined || first === null) return;
    const before = { ...measured.compared };
    await this.#check(cell, measured.end(), first);
    const { metrics, state, failure } = first;
    for (const { kept } of loads)
      Object.assign(/** @type {Segment} */ (kept), { metrics, state, failure });
    first.counters = { compared: sinceOf(measured.compared, before) };
  }
}

const WINDOW = /** @type {const} */ ('window');

/**
 * @param {import('./contender.js').Start} start on the system's monotonic clock
 * @param {number} originNs
 * @returns {import('./contender.js').Start} on the clock of the process
 */
function timesOf(start, originNs) {
  return Object.fromEntries(
    Object.entries(start).map(([name, ns]) => [name, ns === undefined ? ns : ns - originNs]),
  );
}

/** @param {Cell} cell @returns {Segment} data of its brief segments */
function keptOf(cell) {
  const segment = emptySegment();
  segment.refused = cell.variant.measured.refused?.() ?? false;
  keepPoolWait(cell, segment);
  if (cell.recorder !== null) keepRecorded(segment, cell.recorder);
  cell.recorder = null; // so that its memory is not attributed to the driver
  return segment;
}

/** @param {Cell} cell @param {Segment} segment receives the waits since the last call */
function keepPoolWait(cell, segment) {
  const { poolWait } = cell;
  cell.poolWait = null;
  if (poolWait !== null) keepWaits(segment, poolWait);
}
