/**
 * Controller of a run on several machines: all agents or none, every step of every round on all of
 * them at the same time, and their uploads. During a measurement only heartbeats are sent. The
 * rounds are in fleet-rounds.js.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { formatEndpoint } from '../../lib/address.js';
import { DragstripError, targetError } from '../../lib/errors.js';
import { endpointsOf, requireOther, requireOtherProcess } from './allowed-targets.js';
import { differencesOf, identityOf } from './configuration.js';
import { ALIVE_MS, ALIVE_RENEW_MS, PREFIX, runKey, uploadsOf } from './coordination-keys.js';
import { commonStart, compareClocks, monotonicNs, toNs } from './coordinator-clock.js';
import { connectCoordinator, connectionOptions } from './coordinator-connection.js';
import { Leases } from './leases.js';
import { mergeWhole, truncate } from './merge-agents.js';
import { orderText } from './order-schema.js';
import { lastSeenNs } from './presence.js';
import { leaveProof } from './same-machine.js';
import { isSignedBy, signerOf } from './seat-key.js';
import { Step } from './step.js';
import { unpackUpload } from './upload.js';
import { jobSchema } from './upload-schema.js';

/** @typedef {import('../../engine/segment.js').Failure} Failure */
/** @typedef {import('./leases.js').Lease} Lease */
/** @typedef {import('./upload.js').Upload} Upload */

export const WAIT_MS = 30_000;
/** A lease must be taken while the run waits for its agents, and expires afterwards. */
const LEASE_MS = 60_000;
/** Time after an order to stop: a second for outstanding replies, and the upload. */
const STOP_MS = 6000;
const END_MS = 2000;
const CLOSE_MS = 6000;
/** Inactivity of the coordinator that ends a run. */
const COORDINATOR_MS = 8000;
const MERGE_MS = 8000;
const UPLOAD_LOCK_MS = 60_000;

/**
 * @typedef {object} FleetOptions
 * @property {import('./coordinator-connection.js').Coordinator} coordinator
 * @property {number} agents
 * @property {readonly string[]} storages names as on the command line
 * @property {'invalid' | 'truncate'} [onLoss] handling of a round that loses an agent
 * @property {number} [waitMs] time to wait for the agents
 * @property {AbortSignal} [signal]
 * @property {(ready: number, count: number) => void} [onWaiting]
 */

/**
 * @param {FleetOptions} options
 * @returns {Promise<Fleet>} resolves when all agents are present and equal
 * @throws {import('../../lib/errors.js').DragstripError} E_TARGET: no coordinator, too few agents,
 *   or different configurations
 */
export async function openFleet(options) {
  const { password, controller = password } = options.coordinator.credentials;
  const signed = signerOf(controller);
  const client = await connectCoordinator(options.coordinator);
  const fleet = new Fleet(client, options, signed);
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
  /** The coordinator does not reply. */
  #isCutOff = false;
  #steps = 0;
  #orders = 0;
  /** @type {Step | null} */
  #step = null;
  /** Servers known to differ from the coordinator. @type {Set<string>} */
  #checked = new Set();
  #stop = new AbortController();
  /**
   * Called after each benchmark: time from the common start to the last upload, time to merge them.
   * @type {((figures: { waitedNs: number, mergedNs: number }) => void) | null}
   */
  onMerge = null;
  /** Refused uploads: from a lost agent, duplicates, of a different step. */
  refused = 0;
  /** @type {{ agent: string, reason: string, aliveNs: number | null } | null} */
  lost = null;
  /** Minimum connect time in ns, by agent and server. @type {Map<string, Upload['targets']>} */
  targets = new Map();

  /**
   * @param {import('ioredis').Redis} client
   * @param {FleetOptions} options
   * @param {(text: string) => string} signed signed by the controller
   */
  constructor(client, options, signed) {
    this.client = client;
    this.options = options;
    this.signed = signed;
    this.run = randomUUID();
    const connection = connectionOptions(options.coordinator);
    const size = { run: this.run, count: options.agents };
    this.leases = new Leases(connection, size, {
      onBarrier: (seat, step) => {
        if (this.#step?.number === step) this.#step.barrier.add(seat);
      },
      onLost: (lease) => this.#onLost(lease),
    });
    this.uploads = new Queue(uploadsOf(this.run), { connection, prefix: PREFIX });
    this.receiver = new Worker(uploadsOf(this.run), async (job) => this.#receive(job), {
      connection,
      prefix: PREFIX,
      concurrency: 1,
      skipStalledCheck: true,
      lockDuration: UPLOAD_LOCK_MS,
      drainDelay: 2,
    });
    this.uploads.on('error', () => {});
    this.receiver.on('error', () => {});
    /** @type {import('./coordinator-clock.js').ClockReading} */
    this.clock = { offsetNs: 0, roundTripNs: 0, exchanges: 0 };
    /** @type {import('./configuration.js').Identity | null} */
    this.identity = null;
  }

  /** Aborted when the run cannot go on: an agent is lost. */
  get signal() {
    return this.#stop.signal;
  }

  async open() {
    const { options, client, run, leases } = this;
    const { agents: count, waitMs = WAIT_MS, signal, onWaiting } = options;
    this.clock = await compareClocks(client);
    this.identity = await identityOf(options.storages);
    await this.#renew();
    this.renewal = setInterval(() => this.#keepAlive(), ALIVE_RENEW_MS);
    this.removeProof = leaveProof(run);
    const ready = () => leases.all.filter(({ state }) => state === 'ready').length;
    const isDecided = () => {
      onWaiting?.(ready(), count);
      return ready() === count || this.lost !== null || signal?.aborted === true;
    };
    const wake = () => leases.changed();
    signal?.addEventListener('abort', wake, { once: true });
    const untilMs = Math.round(toNs(await client.time()) / 1e6) + waitMs + LEASE_MS;
    await leases.offer({ storages: [...options.storages], untilMs }, this.signed);
    await leases.until(isDecided, waitMs);
    signal?.removeEventListener('abort', wake);
    if (signal?.aborted) throw new DragstripError('E_ABORTED', `run ${run} was stopped`);
    if (ready() < count) throw this.#tooFew(ready(), waitMs);
    // Every agent has checked it, so a controller killed later leaves no file.
    this.removeProof();
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
    const wanted = /** @type {import('./configuration.js').Identity} */ (this.identity);
    const texts = this.leases.all.flatMap(({ agent, identity }) => {
      const found = identity === null ? ['unknown versions'] : differencesOf(wanted, identity);
      return found.length === 0 ? [] : [`agent ${agent} has ${found.join(', ')}`];
    });
    if (texts.length === 0) return;
    throw targetError(
      `${texts.join('; ')}: all machines of a run must have the same configuration`,
      'install the same versions everywhere, with the same package-lock.json',
    );
  }

  /** @param {number} [ms] time that agents continue without another heartbeat */
  async #renew(ms = ALIVE_MS) {
    if (this.lost !== null) return;
    await this.client.set(runKey(this.run, 'alive'), '1', 'PX', ms);
  }

  /** Without the coordinator no agent can report, so the run ends. */
  async #keepAlive() {
    if (this.#renewing) return;
    this.#renewing = true;
    const slow = setTimeout(() => {
      const name = formatEndpoint(this.options.coordinator.endpoint);
      this.lost ??= { agent: `at ${name}`, reason: 'coordinator unreachable', aliveNs: null };
      this.#isCutOff = true;
      this.#stop.abort();
      this.leases.changed();
    }, COORDINATOR_MS);
    const isReached = await this.#renew().then(
      () => true,
      () => false,
    );
    if (isReached) this.#isCutOff = false;
    clearTimeout(slow);
    this.#renewing = false;
  }

  /** @param {import('./session.js').Order} order */
  async #order(order) {
    this.#orders += 1;
    const text = orderText(this.run, this.#orders, order);
    const fields = ['order', text, 'signature', this.signed(text)];
    await this.client.xadd(runKey(this.run, 'orders'), '*', ...fields);
  }

  /** @param {Lease} lease */
  #onLost({ agent, seat, reason }) {
    if (this.lost !== null) return;
    const name = agent === '' ? `${seat + 1}` : agent;
    this.lost = { agent: name, reason, aliveNs: null };
    // Agents stop when this key is missing, as they do if this process is lost.
    this.client.del(runKey(this.run, 'alive')).catch(() => {});
  }

  /**
   * @param {import('bullmq').Job} job
   * @returns {Promise<string>}
   */
  async #receive(job) {
    const { data } = jobSchema.safeParse(job.data);
    const { seat: number = -1, step = 0, payload = '', signature = '' } = data ?? {};
    const seat = this.leases.all[number];
    const current = this.#step;
    const isWanted =
      seat !== undefined &&
      seat.state !== 'lost' &&
      current?.number === step &&
      !current?.uploads.has(number) &&
      isSignedBy(seat.key, { run: this.run, seat: number, step, payload }, signature);
    if (!isWanted || current === null) {
      this.refused += 1;
      return 'refused';
    }
    const upload = readUpload(payload, current, seat);
    current.uploads.set(number, upload);
    seat.clock = upload.clock;
    this.targets.set(seat.agent, { ...this.targets.get(seat.agent), ...upload.targets });
    // The entry stays, so that a second upload of the same name is refused; its contents are kept
    // here.
    await job.updateData({ seat: number, step });
    this.leases.changed();
    return 'taken';
  }

  /**
   * All agents begin together when all are ready.
   * @param {readonly Lease[]} leases
   * @param {import('./fleet-rounds.js').Order} order
   * @param {{ signal?: AbortSignal, onStart?: () => void }} how
   * @returns {Promise<Step>} resolves when all uploads are received, one has failed, or an agent is
   *   lost
   */
  async runStep(leases, order, { signal, onStart }) {
    this.#steps += 1;
    const step = new Step(this.#steps, leases, order);
    this.#step = step;
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const stop = () => {
      this.#order({ type: 'stop' }).catch(() => {});
      timer ??= setTimeout(() => this.#stopWaiting(step), STOP_MS);
    };
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      const seats = leases.map(({ seat }) => seat);
      if (this.lost === null) {
        const keys = leases.map(({ key }) => key);
        await this.#order({ ...order, type: 'play', step: step.number, seats, keys });
      }
      await this.#follow(step, onStart);
      // Merging may block this process for seconds, during which agents must not stop.
      await this.#renew(MERGE_MS);
      if (this.lost !== null) await this.#gather(step);
      return step;
    } finally {
      signal?.removeEventListener('abort', stop);
      clearTimeout(timer);
      this.#step = null;
    }
  }

  /** @param {Step} step Stopped a while ago; some agents may never upload. */
  #stopWaiting(step) {
    const message = `no upload ${STOP_MS / 1000} s after the stop order`;
    step.stopWaiting({ code: 'E_ABORTED', message });
    this.leases.changed();
  }

  /**
   * @param {Step} step
   * @param {() => void} [onStart]
   */
  async #follow(step, onStart) {
    const { leases } = this;
    const isOver = () => this.lost !== null || step.isUploaded();
    const someFailed = () => step.uploads.size > 0;
    await leases.until(() => step.isReady || someFailed() || isOver());
    if (step.isReady && !isOver()) {
      const trips = leases.all.map(({ clock }) => clock.roundTripNs);
      const nowNs = monotonicNs() + this.clock.offsetNs;
      step.atNs = commonStart(nowNs, [...trips, this.clock.roundTripNs]);
      await this.#order({ type: 'start', step: step.number, atNs: step.atNs });
      onStart?.();
      await leases.until(() => isOver() || step.failure() !== null);
    }
    if (isOver()) return;
    // One agent failed, so the others would measure a different load.
    await this.#order({ type: 'stop' });
    await leases.until(isOver, STOP_MS);
    this.#stopWaiting(step);
  }

  /** An agent was lost; the uploads of the others may be needed. @param {Step} step */
  async #gather(step) {
    const lost = /** @type {NonNullable<Fleet['lost']>} */ (this.lost);
    this.#stop.abort();
    if (this.options.onLoss !== 'truncate' || step.atNs === 0) return;
    lost.aliveNs = await lastSeenNs(this.client, lost.agent);
    const left = step.leases.filter(({ state }) => state !== 'lost');
    await this.leases.until(() => step.isUploaded(left), STOP_MS);
  }

  /** @returns {{ code: string, message: string }} the round in which an agent was lost */
  lossFailure() {
    const { agent, reason } = /** @type {NonNullable<Fleet['lost']>} */ (this.lost);
    return { code: 'E_AGENT_LOST', message: `agent ${agent} was lost: ${reason}` };
  }

  /**
   * @param {Step} step step of one contender without blocks
   * @param {import('../../engine/roles.js').Contender} contender
   */
  async mergeStep(step, contender) {
    const { atNs } = step;
    if (this.lost !== null) {
      const left = this.#leftOf(step);
      const failure = left.length === 0 ? this.lossFailure() : null;
      return mergeWhole(left, { contender, failure, atNs });
    }
    const mergeNs = monotonicNs();
    const failure = step.failure();
    const seat = await mergeWhole(step.contributions(), { contender, failure, atNs });
    const waitedNs = mergeNs + this.clock.offsetNs - atNs;
    this.onMerge?.({ waitedNs, mergedNs: monotonicNs() - mergeNs });
    return seat;
  }

  /**
   * @param {Step} step @returns {import('./merge-agents.js').Contribution[]} contributions of the
   *   remaining agents
   */
  #leftOf(step) {
    const { atNs } = step;
    const { aliveNs = null } = this.lost ?? {};
    if (this.options.onLoss !== 'truncate' || atNs === 0 || aliveNs === null) return [];
    return truncate(step.contributions(), { atNs, aliveNs });
  }

  /** @param {import('./portable.js').Target} target */
  async requireTargets(target) {
    const endpoints = endpointsOf(target);
    const key = endpoints.map(formatEndpoint).join(' ');
    if (this.#checked.has(key)) return;
    requireOther(endpoints, this.options.coordinator.endpoint);
    await requireOtherProcess(target, this.client);
    this.#checked.add(key);
  }

  /** Ends the leases and removes all keys of the run. */
  async close() {
    clearInterval(this.renewal);
    this.removeProof?.();
    // Without the coordinator nothing can be removed; the missing dead-man key stops the agents.
    const removed = this.#isCutOff || this.#remove().catch(() => {});
    await Promise.race([removed, sleep(CLOSE_MS, null, { ref: false })]);
    this.receiver.close(true).catch(() => {});
    this.uploads.disconnect().catch(() => {});
    this.leases.disconnect();
    this.client.disconnect();
  }

  async #remove() {
    const { client, run, leases } = this;
    await this.#order({ type: 'end' });
    await leases.withdraw();
    await leases.until(() => leases.all.every(({ state }) => state !== 'ready'), END_MS);
    const taken = leases.all.map((_, seat) => runKey(run, `taken-${seat}`));
    await client.del(runKey(run, 'alive'), runKey(run, 'orders'), ...taken);
    await this.receiver.close(true);
    await this.uploads.obliterate({ force: true });
    await this.uploads.close();
    await leases.close();
  }
}

/**
 * @param {string} payload
 * @param {Step} step
 * @param {Lease} lease
 * @returns {Upload} an invalid upload is a failure of its agent
 */
function readUpload(payload, { order }, { clock }) {
  try {
    return unpackUpload(payload, order);
  } catch (error) {
    const { code, message } = error;
    return { seats: [], failure: { code, message }, clock, targets: {} };
  }
}
