/**
 * Plays one schedule: starts the processes of its contenders, executes its steps, survives failing
 * processes, and keeps the measurements until then.
 */

import { availableParallelism } from 'node:os';
import { systemClock } from '../measure/clock.js';
import { Seat } from './seat.js';

/** @typedef {import('./seat.js').SeatSpec} SeatSpec */
/** @typedef {import('./schedule/index.js').Step} Step */
/** @typedef {import('./schedule/index.js').Seen} Seen */

/**
 * @template T
 * @typedef {object} RoundOptions
 * @property {SeatSpec[]} seats a schedule may add more
 * @property {(seen: Seen & { startNs(): number, seatAt(seat: number): Seat }) =>
 *   Generator<Step[], T>} schedule
 * @property {import('./contender-process.js').ProcessFactory} processes
 * @property {import('./placement.js').Placement} [placement] placement of client and servers
 * @property {import('./server-counts.js').ServerCounts | null} [counts] counts of the servers
 * @property {AbortSignal} [signal]
 * @property {() => Promise<number | undefined>} [atStart] called when all are ready: resolves to
 *   the common start, on the system's monotonic clock
 * @property {(seat: Seat) => import('./seat.js').SeatEvents} [events]
 * @property {(seat: Seat) => unknown} [onRun] called before its first segment
 * @property {(seats: readonly Seat[]) => unknown} [onStep] called and awaited after each step
 * @property {(phase: string, share: number) => void} [onPhase] share of the round
 */

/**
 * @template T
 * @param {RoundOptions<T>} options
 * @returns {Promise<{ seats: Seat[], value: T | undefined }>} value of the completed schedule;
 *   undefined: aborted
 */
export async function playRound(options) {
  const player = new Player(options);
  const { signal } = options;
  const onAbort = () => player.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return { value: await player.play(), seats: player.seats };
  } finally {
    signal?.removeEventListener('abort', onAbort);
    for (const seat of player.open) seat.end();
  }
}

/** @template T */
class Player {
  /** @type {Seat[]} */
  seats = [];
  /** @type {Set<Seat>} */
  open = new Set();
  /** Start of the round; NaN before it. */
  #startNs = Number.NaN;

  /** @param {RoundOptions<T>} options */
  constructor(options) {
    this.options = options;
  }

  /** @param {number} index @returns {Seat} */
  seatAt(index) {
    const { seats, processes, events } = this.options;
    if (this.seats[index] === undefined) {
      const seat = new Seat(seats[index], processes);
      seat.events = events?.(seat) ?? {};
      this.seats[index] = seat;
    }
    return this.seats[index];
  }

  /** @returns {Promise<T | undefined>} */
  async play() {
    const { schedule, signal, onStep } = this.options;
    const steps = schedule({
      isOut: (seat) => this.seatAt(seat).isOut,
      isRefused: (seat, load) => this.seatAt(seat).refused[load],
      costNs: (seat, load) => this.seatAt(seat).costs[load],
      nowNs: () => (systemClock.originNs ?? 0) + systemClock.now(),
      startNs: () => this.#startNs,
      seatAt: (seat) => this.seatAt(seat),
    });
    let next = steps.next();
    while (!next.done && !signal?.aborted) {
      await this.#playAll(next.value);
      await onStep?.(this.seats);
      next = signal?.aborted ? next : steps.next();
    }
    if (next.done) return next.value;
    for (const seat of this.open) if (seat.hasMeasured) await this.#close(seat);
    return undefined;
  }

  abort() {
    for (const seat of this.open) seat.abort();
  }

  /** @param {readonly Step[]} steps */
  async #playAll(steps) {
    const { onPhase } = this.options;
    const [first] = steps;
    if (first?.do === 'open' || first?.do === 'warm') {
      if (first.do === 'open') onPhase?.('opening', 0);
      else onPhase?.('warming up', 0.1);
      await this.#inLanes(steps.map((step) => () => this.#playOne(step)));
      return;
    }
    if (first?.do === 'run' && first.of > 0) {
      const { lead, block, of } = first;
      if (!lead) onPhase?.(`block ${block + 1} of ${of}`, 0.3 + (0.7 * block) / of);
    }
    await Promise.all(steps.map((step) => this.#playOne(step)));
  }

  /**
   * Starts as many contenders at a time as there are processors: more would not be faster, and
   * would bring each closer to its time limit.
   * @param {readonly (() => Promise<void>)[]} works
   */
  async #inLanes(works) {
    const queue = works.values();
    const worker = async () => {
      for (const work of queue) if (!this.options.signal?.aborted) await work();
    };
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
  }

  /** @param {Step} step */
  async #playOne(step) {
    const { placement, atStart, counts, onRun } = this.options;
    if (step.do === 'barrier') {
      this.#startNs = (await atStart?.()) ?? systemClock.now() + (systemClock.originNs ?? 0);
      return;
    }
    const seat = this.seatAt(step.seat);
    if (step.do === 'warm') counts?.use(seat.about);
    if (step.do === 'open') {
      await counts?.open(seat.about);
      this.open.add(seat);
      await seat.open();
    } else if (step.do === 'warm') {
      for (const load of step.loads) await seat.warm(load);
    } else if (step.do === 'pin') {
      const cpus = placement?.clientOf(seat.about.spec.tasks) ?? [];
      if (cpus.length > 0) await seat.pin(cpus);
    } else if (step.do === 'skip') {
      seat.skip(step.load);
    } else if (step.do === 'run') {
      await placement?.apply(seat.about.spec.tasks[step.load]);
      if (!step.lead) await onRun?.(seat);
      const isCommon = atStart !== undefined && step.start === undefined;
      const { load, lead, amount } = step;
      if (lead) counts?.use(seat.about);
      const counting = lead ? null : await counts?.begin(seat.about, load, amount);
      const segment = await seat.run(load, { ...step, ...(isCommon && { atStart }) });
      if (segment !== null) await counting?.(segment);
    } else if (step.do === 'close') {
      await this.#close(seat);
    }
  }

  /** @param {Seat} seat */
  async #close(seat) {
    await this.options.counts?.finish(seat.about);
    await seat.close();
    this.open.delete(seat);
  }
}
