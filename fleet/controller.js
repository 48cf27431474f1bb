/**
 * A run on several machines from where it was started: all agents or none, every benchmark of every
 * round on all of them in step, one record of what they uploaded. It is an executor of
 * engine/runner.js, which knows nothing of agents. While the clock runs, nothing is sent but the
 * signs of life.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { formatEndpoint } from '../lib/address.js';
import { DragstripError, targetError } from '../lib/errors.js';
import { processScope } from '../lib/process-identity.js';
import { commonStart, compareClocks, monotonicNs } from './clock.js';
import { connectCoordinator, connectionOptions } from './connection.js';
import { requireOther, requireOtherProcess } from './guard.js';
import { differencesOf, identityOf } from './identity.js';
import { aborted, mergeContributions, truncate } from './merge.js';
import { ALIVE_MS, ALIVE_RENEW_MS, PREFIX, runKey, uploadsOf } from './names.js';
import { lastSeenNs } from './presence.js';
import { Seats } from './seats.js';
import { Step } from './step.js';
import { unpackUpload } from './upload.js';

/** @typedef {import('../engine/executor.js').Execution} Execution */
/** @typedef {import('../engine/benchmark.js').BenchmarkSpec} BenchmarkSpec */
/** @typedef {import('./seats.js').Seat} Seat */
/** @typedef {import('./upload.js').Upload} Upload */

export const WAIT_MS = 30_000;
/** After an order to stop: a second for outstanding replies, and the upload. */
const STOP_MS = 6000;
const END_MS = 2000;
const CLOSE_MS = 6000;
/** Silence of the coordinator that ends a run. */
const COORDINATOR_MS = 8000;
const MERGE_MS = 8000;
const UPLOAD_LOCK_MS = 60_000;

/**
 * @typedef {object} FleetOptions
 * @property {import('./connection.js').Coordinator} coordinator
 * @property {number} agents
 * @property {readonly string[]} storages as they are named
 * @property {'invalid' | 'truncate'} [onLoss] what becomes of a round that loses an agent
 * @property {number} [waitMs] for the agents
 * @property {AbortSignal} [signal]
 * @property {(ready: number, count: number) => void} [onWaiting]
 */

/**
 * @param {FleetOptions} options
 * @returns {Promise<Fleet>} all agents are there, and equal
 * @throws {import('../lib/errors.js').DragstripError} E_TARGET: no coordinator, fewer agents, or
 *   others
 */
export async function openFleet(options) {
  const client = await connectCoordinator(options.coordinator);
  const fleet = new Fleet(client, options);
  try {
    await fleet.open();
    return fleet;
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

export class Fleet {
  #renewing = false;
  #steps = 0;
  /** @type {Step | null} */
  #step = null;
  /** Servers that were found to be others than the coordinator. @type {Set<string>} */
  #checked = new Set();
  #stop = new AbortController();
  /**
   * Called after each benchmark: time from the common start until all uploads were there, time to
   * merge them.
   * @type {((figures: { waitedNs: number, mergedNs: number }) => void) | null}
   */
  onMerge = null;
  /** Uploads that were refused: of a lost agent, a second one, of another step. */
  refused = 0;
  /** @type {{ agent: string, reason: string, aliveNs: number | null } | null} */
  lost = null;
  /** Smallest ns to open a connection, by agent and server. @type {Map<string, Upload['targets']>} */
  targets = new Map();

  /**
   * @param {import('ioredis').Redis} client
   * @param {FleetOptions} options
   */
  constructor(client, options) {
    this.client = client;
    this.options = options;
    this.run = randomUUID();
    const connection = connectionOptions(options.coordinator);
    const size = { run: this.run, count: options.agents };
    this.seats = new Seats(connection, size, {
      onBarrier: (seat, step) => {
        if (this.#step?.number === step) this.#step.barrier.add(seat);
      },
      onLost: (seat) => this.#onLost(seat),
    });
    this.uploads = new Queue(uploadsOf(this.run), { connection, prefix: PREFIX });
    this.receiver = new Worker(uploadsOf(this.run), async (job) => this.#receive(job), {
      ...{ connection, prefix: PREFIX, concurrency: 1, skipStalledCheck: true },
      ...{ lockDuration: UPLOAD_LOCK_MS, drainDelay: 2 },
    });
    this.uploads.on('error', () => {});
    this.receiver.on('error', () => {});
    /** @type {import('./clock.js').ClockReading} */
    this.clock = { offsetNs: 0, roundTripNs: 0, exchanges: 0 };
    /** @type {import('./identity.js').Identity | null} */
    this.identity = null;
  }

  /** Aborted when the run cannot go on: an agent was lost. */
  get signal() {
    return this.#stop.signal;
  }

  async open() {
    const { options, client, run, seats } = this;
    const { agents: count, waitMs = WAIT_MS, signal, onWaiting } = options;
    this.clock = await compareClocks(client);
    this.identity = await identityOf(options.storages);
    await this.#renew();
    this.renewal = setInterval(() => this.#keepAlive(), ALIVE_RENEW_MS);
    const scope = processScope();
    const ready = () => seats.all.filter(({ state }) => state === 'ready').length;
    const isDecided = () => {
      onWaiting?.(ready(), count);
      return ready() === count || this.lost !== null || signal?.aborted === true;
    };
    const wake = () => seats.changed();
    signal?.addEventListener('abort', wake, { once: true });
    await seats.offer({ scope, storages: [...options.storages] });
    await seats.until(isDecided, waitMs);
    signal?.removeEventListener('abort', wake);
    if (signal?.aborted) throw new DragstripError('E_ABORTED', `run ${run} was stopped`);
    if (ready() < count) throw this.#tooFew(ready(), waitMs);
    this.#requireEqual();
  }

  /**
   * @param {number} ready
   * @param {number} waitMs
   */
  #tooFew(ready, waitMs) {
    const { agents: count, coordinator } = this.options;
    const why = this.lost === null ? '' : `; agent ${this.lost.agent}: ${this.lost.reason}`;
    return targetError(
      `${ready} of ${count} agents are ready after ${waitMs / 1000} s${why}; none was started`,
      `npx dragstrip agents --coordinator ${formatEndpoint(coordinator.endpoint)} lists them`,
    );
  }

  #requireEqual() {
    const wanted = /** @type {import('./identity.js').Identity} */ (this.identity);
    const texts = this.seats.all.flatMap(({ agent, identity }) => {
      const found = identity === null ? ['nothing is known'] : differencesOf(wanted, identity);
      return found.length === 0 ? [] : [`agent ${agent} has ${found.join(', ')}`];
    });
    if (texts.length === 0) return;
    throw targetError(
      `${texts.join('; ')}: all machines of a run have to be equal`,
      'install the same versions everywhere, with the same package-lock.json',
    );
  }

  /** @param {number} [ms] for which the agents go on without another sign of life */
  async #renew(ms = ALIVE_MS) {
    if (this.lost !== null) return;
    await this.client.set(runKey(this.run, 'alive'), '1', 'PX', ms);
  }

  /** Without the coordinator no agent is heard of any more: the run cannot go on. */
  async #keepAlive() {
    if (this.#renewing) return;
    this.#renewing = true;
    const slow = setTimeout(() => {
      const name = formatEndpoint(this.options.coordinator.endpoint);
      this.lost ??= { agent: `at ${name}`, reason: 'the coordinator is away', aliveNs: null };
      this.#stop.abort();
      this.seats.changed();
    }, COORDINATOR_MS);
    await this.#renew().catch(() => {});
    clearTimeout(slow);
    this.#renewing = false;
  }

  /** @param {import('./session.js').Order} order */
  async #order(order) {
    await this.client.xadd(runKey(this.run, 'orders'), '*', 'order', JSON.stringify(order));
  }

  /** @param {Seat} seat */
  #onLost({ agent, seat, reason }) {
    if (this.lost !== null) return;
    const name = agent === '' ? `${seat + 1}` : agent;
    this.lost = { agent: name, reason, aliveNs: null };
    // The others stop because this key is gone; so they would if this process had been lost.
    this.client.del(runKey(this.run, 'alive')).catch(() => {});
  }

  /**
   * @param {import('bullmq').Job} job
   * @returns {Promise<string>}
   */
  async #receive(job) {
    const { seat: number, step, payload } = job.data;
    const seat = this.seats.all[number];
    const current = this.#step;
    const isWanted =
      seat !== undefined &&
      seat.state !== 'lost' &&
      current?.number === step &&
      !current?.uploads.has(number);
    if (!isWanted || current === null) {
      this.refused += 1;
      return 'refused';
    }
    const upload = unpackUpload(payload);
    current.uploads.set(number, upload);
    seat.clock = upload.clock;
    this.targets.set(seat.agent, { ...this.targets.get(seat.agent), ...upload.targets });
    // The entry stays, so that a second upload of the same name is none; what it held is here.
    await job.updateData({ seat: number, step });
    this.seats.changed();
    return 'taken';
  }

  /** @type {import('../engine/executor.js').Executor} */
  execute = async (spec, { signal, onProgress }) => {
    if (this.lost !== null) return aborted();
    // An embedded store, such as the one that measures the harness itself, is on one machine.
    const isEmbedded = Object.keys(spec.address).length === 0;
    const seats = isEmbedded ? [this.seats.all[0]] : this.seats.all;
    const { driver: _here, cpus: _pinned, ...portable } = spec;
    const order = { type: /** @type {const} */ ('measure'), spec: portable };
    await this.requireTargets(spec);
    onProgress?.({ phase: 'warmup', settled: 0 });
    const onStart = () => onProgress?.({ phase: 'measure', settled: 0 });
    const step = await this.runStep(seats, order, { signal, onStart });
    const { atNs } = step;
    if (this.lost !== null) return this.#afterLoss(step);
    const failed = step.failure();
    if (failed !== null) return failed;
    const mergeNs = monotonicNs();
    const merged = await mergeContributions(step.contributions(), { atNs });
    const waitedNs = mergeNs + this.clock.offsetNs - atNs;
    this.onMerge?.({ waitedNs, mergedNs: monotonicNs() - mergeNs });
    if (signal?.aborted && merged.record !== null) merged.record.state = 'aborted';
    return merged;
  };

  /**
   * All of them begin together when all are ready.
   * @param {readonly Seat[]} seats
   * @param {import('./session.js').Work} work
   * @param {{ signal?: AbortSignal, onStart?: () => void }} how
   * @returns {Promise<Step>} all uploads are there, one has failed, or an agent was lost
   */
  async runStep(seats, work, { signal, onStart }) {
    this.#steps += 1;
    const step = new Step(this.#steps, seats);
    this.#step = step;
    const stop = () => this.#order({ type: 'stop' }).catch(() => {});
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      await this.#order({ ...work, step: step.number, seats: seats.map(({ seat }) => seat) });
      await this.#follow(step, onStart);
      // Merging may keep this process busy for seconds: that is no reason for agents to stop.
      await this.#renew(MERGE_MS);
      if (this.lost !== null) await this.#gather(step);
      return step;
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#step = null;
    }
  }

  /**
   * @param {Step} step
   * @param {() => void} [onStart]
   */
  async #follow(step, onStart) {
    const { seats } = this;
    const isOver = () => this.lost !== null || step.isUploaded();
    const someFailed = () => step.uploads.size > 0;
    await seats.until(() => step.isReady || someFailed() || isOver());
    if (step.isReady && !isOver()) {
      const trips = seats.all.map(({ clock }) => clock.roundTripNs);
      const nowNs = monotonicNs() + this.clock.offsetNs;
      step.atNs = commonStart(nowNs, [...trips, this.clock.roundTripNs]);
      await this.#order({ type: 'start', step: step.number, atNs: step.atNs });
      onStart?.();
      await seats.until(() => isOver() || step.failure() !== null);
    }
    if (isOver()) return;
    // One of them failed: what the others would measure is another load.
    await this.#order({ type: 'stop' });
    await seats.until(isOver, STOP_MS);
  }

  /** An agent was lost: what the others have may be wanted. @param {Step} step */
  async #gather(step) {
    const lost = /** @type {NonNullable<Fleet['lost']>} */ (this.lost);
    this.#stop.abort();
    if (this.options.onLoss !== 'truncate' || step.atNs === 0) return;
    lost.aliveNs = await lastSeenNs(this.client, lost.agent);
    const left = step.seats.filter(({ state }) => state !== 'lost');
    await this.seats.until(() => step.isUploaded(left), STOP_MS);
  }

  /** @returns {{ code: string, message: string }} of the round in which an agent was lost */
  lossFailure() {
    const { agent, reason } = /** @type {NonNullable<Fleet['lost']>} */ (this.lost);
    return { code: 'E_AGENT_LOST', message: `agent ${agent} was lost: ${reason}` };
  }

  /**
   * @param {Step} step
   * @returns {Promise<Execution>}
   */
  async #afterLoss(step) {
    const { atNs } = step;
    const failed = { record: null, failure: this.lossFailure(), processNs: null };
    const aliveNs = this.lost?.aliveNs ?? null;
    if (this.options.onLoss !== 'truncate' || atNs === 0 || aliveNs === null) return failed;
    const cut = truncate(step.contributions(), { atNs, aliveNs });
    return cut === null || cut.length === 0 ? failed : mergeContributions(cut, { atNs });
  }

  /** @param {Pick<BenchmarkSpec, 'address' | 'credentialVariables'>} spec */
  async requireTargets(spec) {
    const key = Object.values(spec.address).map(formatEndpoint).join(' ');
    if (this.#checked.has(key)) return;
    requireOther(Object.values(spec.address), this.options.coordinator.endpoint);
    await requireOtherProcess(spec, this.client);
    this.#checked.add(key);
  }

  /** Ends the leases and removes all keys of the run. */
  async close() {
    clearInterval(this.renewal);
    // Without the coordinator nothing can be removed; agents end by the dead-man key.
    await Promise.race([this.#remove().catch(() => {}), sleep(CLOSE_MS, null, { ref: false })]);
    this.receiver.close(true).catch(() => {});
    this.uploads.disconnect().catch(() => {});
    this.seats.disconnect();
    this.client.disconnect();
  }

  async #remove() {
    const { client, run, seats } = this;
    await this.#order({ type: 'end' });
    await seats.withdraw();
    await seats.until(() => seats.all.every(({ state }) => state !== 'ready'), END_MS);
    await client.del(runKey(run, 'alive'), runKey(run, 'orders'));
    await this.receiver.close(true);
    await this.uploads.obliterate({ force: true });
    await this.uploads.close();
    await seats.close();
  }
}
