/**
 * A contender in a round: its process, or the processes that share its load; its segments, and how
 * it failed. What a process has measured is kept, however it ends.
 */

import { OK } from '../lib/outcome.js';
import { systemClock } from '../measure/clock.js';
import { emptySegment, merge, parallel } from './segment.js';

/** A contender with so many failed segments is measured no further: each may time out. */
const INVALID_MAX = 2;
/** Delay before processes that share a load start together, so that all are ready. */
const START_NS = 20e6;

/** @typedef {import('./contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('./contender.js').Amount} Amount */
/** @typedef {import('./contender.js').Start} Start */
/** @typedef {import('./segment.js').Segment} Segment */
/** @typedef {import('./segment.js').Failure} Failure */
/** @typedef {import('./contender-process.js').RemoteContender} RemoteContender */

/**
 * @typedef {object} SeatSpec
 * @property {string} name
 * @property {ContenderSpec} spec
 * @property {readonly import('./share.js').Share[]} [shares] of its processes; absent: one process
 *   has all
 *
 * @typedef {object} SeatEvents
 * @property {(progress: { phase: string, settled: number,
 *   live?: import('./recorded.js').LiveFigures[] }) => void} [onProgress] live: of each process
 * @property {() => void} [onPartial] a segment under way has measured more
 */

export class Seat {
  /** @type {Failure | null} */
  failure = null;
  /** Wall time of its processes; null: it has none of its own, or they have not ended. */
  processNs = /** @type {number | null} */ (null);
  /** @type {RemoteContender[]} */
  #remotes = [];
  /** Of the segment under way, by process. @type {(Segment | null)[]} */
  #partials = [];
  #invalid = 0;
  #isAborted = false;
  /** By load: its cost is that of lead segments, and not of the warm-up. @type {boolean[]} */
  #isKnown = [];

  /**
   * @param {SeatSpec} about
   * @param {import('./contender-process.js').ProcessFactory} processes
   * @param {SeatEvents} [events]
   */
  constructor(about, processes, events = {}) {
    const { tasks } = about.spec;
    this.about = about;
    this.processes = processes;
    this.events = events;
    /** By load and block; null: none in this block. @type {(Segment | null)[][]} */
    this.segments = tasks.map(() => []);
    /** Those that only showed what an operation costs, by load. @type {Segment[][]} */
    this.leads = tasks.map(() => []);
    /** What processes gave at their end, by load. @type {Segment[][]} */
    this.kept = tasks.map(() => []);
    /** Facts of whole processes. @type {Segment[]} */
    this.facts = [];
    /** ns per operation by load; NaN: not known. @type {number[]} */
    this.costs = tasks.map(() => Number.NaN);
    /** @type {boolean[]} by load */
    this.refused = tasks.map(() => false);
    /** @type {number} load of the segment under way; -1: none */
    this.running = -1;
  }

  /** @param {number} load */
  has(load) {
    return this.about.spec.tasks[load] !== null && !this.refused[load];
  }

  /** @returns {boolean} it takes no further part in the round */
  get isOut() {
    return this.failure !== null || this.#isAborted || this.#invalid >= INVALID_MAX;
  }

  /** @returns {boolean} it has a segment, or one under way */
  get hasMeasured() {
    return this.running >= 0 || this.segments.some((own) => own.some((one) => one !== null));
  }

  async open() {
    await this.#guard(async () => {
      const { spec, shares = [undefined] } = this.about;
      const { onPartial } = this.events;
      const settled = shares.map(() => 0);
      /** @type {(import('./recorded.js').LiveFigures | undefined)[]} */
      const live = shares.map(() => undefined);
      this.#remotes = shares.map((share, i) =>
        this.processes(
          { ...spec, storage: { ...spec.storage, ...(share && { share }) } },
          {
            onProgress: (progress) => {
              settled[i] = progress.settled;
              live[i] = progress.live;
              const all = live.flatMap((one) => one ?? []);
              this.events.onProgress?.({
                phase: progress.phase,
                settled: settled.reduce((sum, one) => sum + one, 0),
                ...(all.length > 0 && { live: all }),
              });
            },
            ...(onPartial && {
              onPartial: (/** @type {Segment} */ segment) => {
                this.#partials[i] = segment;
                if (i === 0) onPartial();
              },
            }),
          },
        ),
      );
      await this.#all((remote) => remote.open());
    });
  }

  /** @param {number} load */
  async warm(load) {
    await this.#guard(async () => {
      const records = await this.#all((remote) => remote.warm(load));
      this.refused[load] = records.some(({ refused }) => refused);
      const costNs = Math.max(...records.map((one) => one.costNs)) / records.length;
      if (costNs > 0) this.costs[load] = costNs;
    });
  }

  /** @param {readonly number[]} cpus of the main threads */
  async pin(cpus) {
    await Promise.all(this.#remotes.map((remote) => remote.pin(cpus)));
  }

  /**
   * @param {number} load
   * @param {{ amount: Amount, lead: boolean, start?: Start,
   *   atStart?: () => Promise<number | undefined> }} step lead: not counted, it shows what an
   *   operation costs; atStart: when all are ready, gives the time to begin
   */
  async run(load, { amount, lead, start = {}, atStart }) {
    this.running = load;
    this.#partials = this.#remotes.map(() => null);
    await this.#guard(async () => {
      const segments = await this.#runAll(load, amount, start, atStart);
      const segment =
        segments.length === 1
          ? segments[0]
          : { .../** @type {Segment} */ (merge(segments)), figures: parallel(segments) };
      this.#take(load, segment, lead);
    });
    this.running = -1;
  }

  /**
   * @param {number} load
   * @param {Amount} amount
   * @param {Start} start
   * @param {(() => Promise<number | undefined>) | undefined} atStart
   * @returns {Promise<Segment[]>} of each process
   */
  async #runAll(load, amount, start, atStart) {
    const [only] = this.#remotes;
    if (this.#remotes.length === 1 && atStart === undefined) {
      return [await only.run(load, start, amount)];
    }
    await this.#all((remote) => remote.prepare(load, amount));
    const together = (systemClock.originNs ?? 0) + systemClock.now() + START_NS;
    const startNs = atStart === undefined ? together : await atStart();
    return this.#all((remote) => remote.run(load, { startNs, ...start }));
  }

  /**
   * @param {number} load
   * @param {Segment} segment
   * @param {boolean} lead
   */
  #take(load, segment, lead) {
    if (segment.refused) {
      this.refused[load] = true;
      if (!lead) this.segments[load].push(null);
      return;
    }
    const { figures, outcomes, scheduled } = segment;
    // One that began too late to complete anything shows no fault of its operations.
    if (outcomes[OK] < scheduled) this.#invalid += 1;
    (lead ? this.leads : this.segments)[load].push(segment);
    if (!lead || figures === null) return;
    const cost = figures.spanNs / figures.spanOperations;
    // The least: a segment that lost its processor would make all of them too short.
    this.costs[load] = this.#isKnown[load] ? Math.min(this.costs[load], cost) : cost;
    this.#isKnown[load] = true;
  }

  /** @param {number} load It has no segment in this block. */
  skip(load) {
    this.segments[load].push(null);
  }

  /**
   * @param {number} load
   * @param {Seat} played the same contender with this load alone
   */
  takeLoad(load, { segments, leads, kept, facts, failure }) {
    [this.segments[load], this.leads[load], this.kept[load]] = [segments[0], leads[0], kept[0]];
    this.facts.push(...facts);
    this.failure ??= failure;
  }

  async close() {
    await this.#guard(async () => {
      const records = await this.#all((remote) => remote.close());
      for (const { kept, process } of records) {
        this.facts.push(process);
        for (const [load, segment] of kept.entries()) if (segment) this.kept[load].push(segment);
      }
    });
    const ended = await Promise.all(this.#remotes.map((remote) => remote.ended()));
    this.processNs = ended.reduce(
      (most, ns) => (ns === null ? most : Math.max(most ?? 0, ns)),
      null,
    );
  }

  /** Ends its processes at once, where they have not ended. */
  end() {
    for (const remote of this.#remotes) remote.kill();
  }

  /** Stops the segment under way: it is kept as far as it came. */
  abort() {
    this.#isAborted = true;
    for (const remote of this.#remotes) remote.abort();
  }

  /**
   * @param {readonly number[]} loads of one row
   * @param {{ partial?: boolean }} [how] partial: with the segment under way
   * @returns {Segment | null} all that was measured of them; null: nothing
   */
  merged(loads, { partial = false } = {}) {
    const parts = loads.flatMap((load) => [
      ...this.leads[load],
      ...this.segments[load].flatMap((one) => one ?? []),
      ...this.kept[load],
      ...(partial && this.running === load ? this.#partials.flatMap((one) => one ?? []) : []),
    ]);
    return parts.length === 0 ? null : merge([...parts, ...this.facts]);
  }

  /**
   * @param {number} load
   * @returns {Failure | null} why it has no figure in this round
   */
  failureOf(load) {
    if (this.failure !== null) return this.failure;
    const { state, failure, outcomes, refused } = this.merged([load]) ?? emptySegment();
    if (state === 'failed') return failure ?? { code: 'ERROR', message: 'it failed' };
    const isWrong = !refused && outcomes.some((count, code) => code !== OK && count > 0);
    if (!isWrong) return null;
    return { code: 'E_INVALID', message: 'operations failed or gave wrong replies' };
  }

  /**
   * All processes at once; where one fails, the others are stopped, since what they would measure
   * is another load.
   * @template T
   * @param {(remote: RemoteContender) => Promise<T>} ask
   * @returns {Promise<T[]>}
   */
  async #all(ask) {
    const answers = this.#remotes.map((remote) =>
      ask(remote).catch((error) => {
        for (const other of this.#remotes) if (other !== remote) other.abort();
        throw error;
      }),
    );
    const settled = await Promise.allSettled(answers);
    const failed = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    if (failed.length > 0) {
      // Stopped because another one failed is no reason.
      throw failed.find(({ code }) => code !== 'E_ABORTED') ?? failed[0];
    }
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  /** @param {() => Promise<void>} work */
  async #guard(work) {
    if (this.failure !== null) return;
    try {
      await work();
    } catch (error) {
      const code = String(error.code ?? 'ERROR');
      this.failure = { code, message: String(error.message ?? error) };
      for (const remote of this.#remotes) remote.kill();
    }
  }
}
