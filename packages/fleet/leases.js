/**
 * The leases of a run in the controller: their agents, ready ones, lost ones. Events of BullMQ in,
 * states out.
 */

import { Queue, QueueEvents, Worker } from 'bullmq';
import { ONCE } from './agent.js';
import { LEASES, LOCK_MS, PREFIX, STALLED_MS } from './coordination-keys.js';
import { leaseText } from './order-schema.js';
import { isSignedBy } from './seat-key.js';
import { progressSchema } from './upload-schema.js';

/**
 * @typedef {object} Lease
 * @property {number} seat from 0
 * @property {'open' | 'ready' | 'lost' | 'ended'} state open: not taken
 * @property {string} agent name of the agent; empty: unknown yet
 * @property {import('./configuration.js').Identity | null} identity
 * @property {ReturnType<typeof import('./presence.js').describeMachine> | null} machine
 * @property {import('./coordinator-clock.js').ClockReading} clock result of the last comparison
 * @property {import('./coordinator-clock.js').ClockReading} firstClock
 * @property {string} key public key of the agent; empty: unknown yet
 * @property {string} reason reason of the loss
 */

const NO_CLOCK = Object.freeze({ offsetNs: 0, roundTripNs: 0, exchanges: 0 });
/** Events are read immediately, so the stream can be short. */
const EVENTS_MAX = 2000;

export class Leases {
  /** @type {{ isDone: () => boolean, resolve: (done: boolean) => void }[]} */
  #waiting = [];

  /**
   * @param {ReturnType<typeof import('./coordinator-connection.js').connectionOptions>} connection
   * @param {{ run: string, count: number }} run
   * @param {{ onBarrier: (seat: number, step: number) => void, onLost: (lease: Lease) => void }} on
   */
  constructor(connection, { run, count }, on) {
    this.run = run;
    this.on = on;
    /** @type {Lease[]} */
    this.all = Array.from({ length: count }, (_, seat) => ({
      seat,
      state: 'open',
      agent: '',
      identity: null,
      machine: null,
      reason: '',
      key: '',
      clock: NO_CLOCK,
      firstClock: NO_CLOCK,
    }));
    const shared = { connection, prefix: PREFIX };
    this.queue = new Queue(LEASES, { ...shared, streams: { events: { maxLen: EVENTS_MAX } } });
    this.events = new QueueEvents(LEASES, { ...shared, blockingTimeout: 2000 });
    // It takes no jobs; it detects expired leases, even if all agents are lost.
    this.checker = new Worker(LEASES, null, {
      ...shared,
      autorun: false,
      maxStalledCount: 0,
      stalledInterval: STALLED_MS,
      lockDuration: LOCK_MS,
    });
    this.queue.on('error', () => {});
    this.events.on('error', () => {});
    this.checker.on('error', () => {});
    this.events.on('progress', ({ jobId, data }) => this.#take(jobId, data));
    this.events.on('stalled', ({ jobId }) => this.#lose(jobId, 'no heartbeat'));
    // After a loss the other leases end too, but their uploads are needed.
    this.events.on('failed', ({ jobId, failedReason }) => {
      if (this.all.some(({ state }) => state === 'lost')) this.#end(jobId);
      else this.#lose(jobId, failedReason);
    });
    this.events.on('completed', ({ jobId }) => this.#end(jobId));
  }

  /**
   * @param {Pick<import('./order-schema.js').LeaseData, 'storages' | 'untilMs'>} data
   * @param {(text: string) => string} signed by the controller
   * @returns {Promise<void>} resolves when the leases can be taken
   */
  async offer(data, signed) {
    await this.events.waitUntilReady();
    await this.checker.startStalledCheckTimer();
    const { run } = this;
    await this.queue.addBulk(
      this.all.map(({ seat }) => {
        const lease = { ...data, run, seat, count: this.all.length };
        return {
          name: 'lease',
          data: { ...lease, signature: signed(leaseText(lease)) },
          opts: { ...ONCE, removeOnComplete: true, removeOnFail: true, jobId: `${run}-${seat}` },
        };
      }),
    );
  }

  /** @param {string} jobId @returns {Lease | undefined} lease of this run */
  #of(jobId) {
    return this.all.find(({ seat }) => jobId === `${this.run}-${seat}`);
  }

  /** @param {string} jobId @param {unknown} progress progress of a session; others are ignored */
  #take(jobId, progress) {
    const seat = this.#of(jobId);
    const { data: message } = progressSchema.safeParse(progress);
    if (seat === undefined || seat.state === 'lost' || message === undefined) return;
    // The first agent of a seat keeps it.
    if (message.type === 'ready' && seat.key === '') {
      const { name, identity, machine, clock, key } = message;
      Object.assign(seat, { state: 'ready', agent: name, identity, machine, clock, key });
      seat.firstClock = clock;
    }
    if (message.type === 'barrier') {
      const { step, signature } = message;
      const isOwn = isSignedBy(seat.key, { run: this.run, seat: seat.seat, step }, signature);
      if (isOwn) this.on.onBarrier(seat.seat, step);
    }
    this.changed();
  }

  /** @param {string} jobId @param {string} reason */
  #lose(jobId, reason) {
    const seat = this.#of(jobId);
    if (seat === undefined || seat.state === 'lost' || seat.state === 'ended') return;
    Object.assign(seat, { state: 'lost', reason });
    this.on.onLost(seat);
    this.changed();
  }

  /** @param {string} jobId */
  #end(jobId) {
    const seat = this.#of(jobId);
    if (seat !== undefined && seat.state !== 'lost') seat.state = 'ended';
    this.changed();
  }

  /** Wakes waiting callers after a change. */
  changed() {
    this.#waiting = this.#waiting.filter(({ isDone, resolve }) => {
      if (!isDone()) return true;
      resolve(true);
      return false;
    });
  }

  /**
   * @param {() => boolean} isDone evaluated after each event
   * @param {number} [timeoutMs]
   * @returns {Promise<boolean>} false: timeout
   */
  async until(isDone, timeoutMs) {
    if (isDone()) return true;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const done = await new Promise((resolve) => {
      this.#waiting.push({ isDone, resolve });
      if (timeoutMs !== undefined) timer = setTimeout(() => resolve(false), timeoutMs);
    });
    clearTimeout(timer);
    return done;
  }

  /** Withdraws leases that are not taken, or whose agent was lost. */
  async withdraw() {
    for (const { seat, state } of this.all) {
      if (state === 'ended' || state === 'ready') continue;
      await this.queue.remove(`${this.run}-${seat}`).catch(() => {});
    }
  }

  /** Immediately, even if the coordinator does not reply. */
  disconnect() {
    this.checker.close(true).catch(() => {});
    this.events.close().catch(() => {});
    this.queue.disconnect().catch(() => {});
  }

  async close() {
    await this.withdraw();
    await this.checker.close(true).catch(() => {});
    await this.events.close().catch(() => {});
    await this.queue.close().catch(() => {});
  }
}
