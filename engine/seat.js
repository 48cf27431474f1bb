/**
 * A contender in a round: its process, or the processes that share its load; its segments, and its
 * failure. Measurements are kept, however a process ends.
 */

import { OK } from '../lib/outcome.js';
import { systemClock } from '../measure/clock.js';
import { chargeGarbage } from './garbage.js';
import { emptySegment, merge, parallel } from './segment.js';
import { unservedOf } from './unserved.js';

/** A contender with this many failed segments is excluded, since each may time out. */
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
 * @property {string | null} [server] name of the server whose operations are counted
 * @property {readonly import('./share.js').Share[]} [shares] shares of its processes; absent: one
 *   process has all
 *
 * @typedef {object} SeatEvents
 * @property {(progress: { phase: string, settled: number,
 *   live?: import('./recorded.js').LiveFigures[] }) => void} [onProgress] live: of each process
 * @property {() => void} [onPartial] the running segment has new measurements
 */

export class Seat {
  /** @type {Failure | null} */
  failure = null;
  /** Wall time of its processes; null: it has no separate process, or they have not ended. */
  processNs = /** @type {number | null} */ (null);
  /** @type {RemoteContender[]} */
  #remotes = [];
  /** Running segments, by process. @type {(Segment | null)[]} */
  #partials = [];
  #invalid = 0;
  #isAborted = false;
  /** By load: its cost is measured in lead segments, not in the warm-up. @type {boolean[]} */
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
    /** Segments that only determined the cost of an operation, by load. @type {Segment[][]} */
    this.leads = tasks.map(() => []);
    /** Segments that processes returned at their end, by load. @type {Segment[][]} */
    this.kept = tasks.map(() => []);
    /** Figures of whole processes. @type {Segment[]} */
    this.processRecords = [];
    /** ns per operation by load; NaN: unknown. @type {number[]} */
    this.costs = tasks.map(() => Number.NaN);
    /** @type {boolean[]} by load */
    this.refused = tasks.map(() => false);
    /** @type {boolean[]} by load: whether its segments are charged with their garbage */
    this.charged = tasks.map(() => false);
    /**
     * @type {number} load of the running segment, or of the segment in which its process died; -1:
     *   none
     */
    this.running = -1;
  }

  /** @param {number} load */
  has(load) {
    return this.about.spec.tasks[load] !== null && !this.refused[load];
  }

  /** @returns {boolean} whether it takes no further part in the round */
  get isOut() {
    return this.failure !== null || this.#isAborted || this.#invalid >= INVALID_MAX;
  }

  /** @returns {boolean} whether it has a segment, including a running one */
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

  /** @param {readonly number[]} cpus processors of the main threads */
  async pin(cpus) {
    await Promise.all(this.#remotes.map((remote) => remote.pin(cpus)));
  }

  /**
   * @param {number} load
   * @param {{ amount: Amount, lead: boolean, start?: Start, atStart?: () => Promise<number |
   *   undefined> }} step lead: not counted, determines the cost of an operation; atStart: called
   *   when all are ready, resolves to the start time
   * @returns {Promise<Segment | null>} null: nothing was measured
   */
  async run(load, { amount, lead, start = {}, atStart }) {
    this.running = load;
    this.#partials = this.#remotes.map(() => null);
    /** @type {Segment | null} */
    let segment = null;
    await this.#guard(async () => {
      const segments = await this.#runAll(load, amount, start, atStart);
      segment =
        segments.length === 1
          ? segments[0]
          : { .../** @type {Segment} */ (merge(segments)), figures: parallel(segments) };
      this.#take(load, segment, lead);
    });
    // Keeps the measurements of a process that has died; if several share the load, the rest is a
    // different load.
    if (this.failure === null || this.#remotes.length > 1) this.running = -1;
    return segment;
  }

  /**
   * @param {number} load
   * @param {Amount} amount
   * @param {Start} start
   * @param {(() => Promise<number | undefined>) | undefined} atStart
   * @returns {Promise<Segment[]>} segments of each process
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
    // A segment that began too late to complete any operation did not fail.
    if (outcomes[OK] < scheduled) this.#invalid += 1;
    (lead ? this.leads : this.segments)[load].push(segment);
    if (!lead || figures === null) return;
    const cost = figures.spanNs / figures.spanOperations;
    // The minimum: a segment that lost its processor would make all of them too short.
    this.costs[load] = this.#isKnown[load] ? Math.min(this.costs[load], cost) : cost;
    this.#isKnown[load] = true;
  }

  /** @param {number} load load without a segment in this block */
  skip(load) {
    this.segments[load].push(null);
  }

  /**
   * @param {number} load
   * @param {Seat} played the same contender with only this load
   */
  takeLoad(load, { segments, leads, kept, processRecords, failure }) {
    [this.segments[load], this.leads[load], this.kept[load]] = [segments[0], leads[0], kept[0]];
    this.processRecords.push(...processRecords);
    this.failure ??= failure;
  }

  async close() {
    await this.#guard(async () => {
      const records = await this.#all((remote) => remote.close());
      for (const [load, own] of this.segments.entries()) {
        const played = [...this.leads[load], ...own.flatMap((one) => one ?? [])];
        this.charged[load] = chargeGarbage(
          played,
          records.map(({ garbage }) => garbage?.[load]),
        );
      }
      for (const { kept, process } of records) {
        this.processRecords.push(process);
        for (const [load, segment] of kept.entries()) if (segment) this.kept[load].push(segment);
      }
    });
    const ended = await Promise.all(this.#remotes.map((remote) => remote.ended()));
    this.processNs = ended.reduce(
      (most, ns) => (ns === null ? most : Math.max(most ?? 0, ns)),
      null,
    );
  }

  /** Kills processes that have not ended. */
  end() {
    for (const remote of this.#remotes) remote.kill();
  }

  /** Aborts the running segment; its measurements are kept. */
  abort() {
    this.#isAborted = true;
    for (const remote of this.#remotes) remote.abort();
  }

  /**
   * @param {readonly number[]} loads loads of one row
   * @param {{ partial?: boolean }} [how] partial: include the running segment
   * @returns {Segment | null} everything measured of them; null: nothing
   */
  merged(loads, { partial = false } = {}) {
    const parts = loads.flatMap((load) => [
      ...this.leads[load],
      ...this.segments[load].flatMap((one) => one ?? []),
      ...this.kept[load],
      ...(partial && this.running === load ? this.#partials.flatMap((one) => one ?? []) : []),
    ]);
    return parts.length === 0 ? null : merge([...parts, ...this.processRecords]);
  }

  /**
   * @param {number} load
   * @returns {Failure | null} reason why it has no figure in this round
   */
  failureOf(load) {
    if (this.failure !== null) return this.failure;
    const segment = this.merged([load]) ?? emptySegment();
    const { state, failure, outcomes, refused } = segment;
    if (state === 'failed') return failure ?? { code: 'ERROR', message: 'it failed' };
    const isWrong = !refused && outcomes.some((count, code) => code !== OK && count > 0);
    if (!isWrong) return unservedOf(segment);
    return { code: 'E_INVALID', message: 'operations failed or gave wrong replies' };
  }

  /**
   * Runs all processes at once; if one fails, the others are stopped, since they would measure a
   * different load.
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
      // Being stopped because another one failed is not a reason.
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
