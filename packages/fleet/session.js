/**
 * One run on an agent: reads orders from the run's stream, executes its share of each benchmark in
 * child processes, and uploads the results. It ends by an order, or if the controller deletes or no
 * longer renews the dead-man key.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { formatEndpoint } from '../../lib/address.js';
import { DragstripError, refusedError } from '../../lib/errors.js';
import { admit } from './admission.js';
import { endpointsOf, roundTripOf } from './allowed-targets.js';
import { ALIVE_CHECK_MS, ALIVE_MS, runKey } from './coordination-keys.js';
import { compareClocks, monotonicNs } from './coordinator-clock.js';
import { playShare } from './fleet-rounds.js';
import { readOrder } from './order-schema.js';
import { targetOf } from './portable.js';
import { hasProof } from './same-machine.js';
import { packUpload } from './upload.js';

/** @typedef {import('./upload.js').Upload} Upload */

/**
 * @typedef {import('./fleet-rounds.js').Order & { type: 'play', step: number, seats: number[],
 *   keys: string[] }} Step seats: participating ones; keys: public key of the agent of each
 *
 * @typedef {Step | { type: 'start', step: number, atNs: number } | { type: 'stop' }
 *   | { type: 'end' }} Order
 *
 * @typedef {object} SessionContext
 * @property {import('./order-schema.js').LeaseData} data
 * @property {import('ioredis').Redis} client
 * @property {(message: Record<string, unknown>) => Promise<void>} notify sends it to the
 *   controller
 * @property {(text: string, signature: string) => boolean} verifies verifies the signature of the
 *   controller
 * @property {string} key public key of the agent
 * @property {(step: number) => string} signed signed message that it is ready to start this step
 * @property {() => Promise<boolean>} holdsLease false: the lease was lost, so uploads are not
 *   allowed
 * @property {(step: number, payload: string) => Promise<void>} upload
 * @property {readonly string[]} allowTargets
 * @property {string} home
 * @property {(reading: import('./coordinator-clock.js').ClockReading) => void} onClock
 * @property {typeof playShare} [play] instead of its processes
 */

export class Session {
  /** The current step. @type {AbortController | null} */
  #current = null;
  /** @type {Promise<void>} */
  #work = Promise.resolve();
  /** Resolved by the order to start. @type {Map<number, (atNs: number) => void>} */
  #starts = new Map();
  #ended = false;
  /** Reason for ending without an order. @type {string | null} */
  #cut = null;
  /** The coordinator does not reply. */
  #isAlone = false;
  #aliveNs = monotonicNs();
  /** Number of the last order. */
  #last = 0;
  /** @type {Map<string, number | null>} */
  #roundTrips = new Map();

  /** @param {SessionContext} context */
  constructor(context) {
    this.context = context;
    /** @type {import('./coordinator-clock.js').ClockReading} */
    this.clock = { offsetNs: 0, roundTripNs: 0, exchanges: 0 };
    this.sameMachine = hasProof(context.data.run);
  }

  /**
   * @returns {Promise<void>} resolves when the run is over for this agent
   * @throws {Error} it was cut short
   */
  async run() {
    const { client, data } = this.context;
    const reader = client.duplicate();
    reader.on('error', () => {});
    const watch = setInterval(() => this.#checkAlive(reader), ALIVE_CHECK_MS);
    try {
      await this.#obey(reader, runKey(data.run, 'orders'));
    } catch (error) {
      if (this.#cut === null) throw error;
    } finally {
      clearInterval(watch);
      this.#current?.abort();
      await this.#work;
      reader.disconnect();
    }
    if (this.#cut !== null) throw new Error(this.#cut);
  }

  /**
   * @param {import('ioredis').Redis} reader
   * @param {string} key
   */
  async #obey(reader, key) {
    let last = '0';
    while (!this.#ended) {
      const reply = await reader.xread('BLOCK', 1000, 'STREAMS', key, last);
      for (const [id, fields] of reply?.[0]?.[1] ?? []) {
        last = id;
        this.#take(fields);
      }
    }
  }

  /**
   * An order is ignored if it is unsigned, belongs to a different run, or was received before,
   * because every holder of the agents' token can write into the stream.
   * @param {string[]} fields fields of an entry of the stream
   * @throws {DragstripError} E_REFUSED: not an order, and not of a step that could fail
   */
  #take([, text = '', , signature = '']) {
    if (!this.context.verifies(text, signature)) return;
    const { order, step, issue } = readOrder(text);
    if (order === null) {
      const refused = refusedError(`invalid order: ${issue}`, 'use the same version');
      if (step === null) throw refused;
      this.#work = this.#work.then(() =>
        this.#measure({ step }, async () => {
          throw refused;
        }),
      );
      return;
    }
    if (order.run !== this.context.data.run || order.number <= this.#last) return;
    this.#last = order.number;
    if (order.type === 'end') this.#ended = true;
    if (order.type === 'stop') this.#current?.abort();
    if (order.type === 'start') {
      this.#starts.get(order.step)?.(order.atNs - this.clock.offsetNs);
      this.#starts.delete(order.step);
    }
    if (order.type !== 'play') return;
    const at = order.seats.indexOf(this.context.data.seat);
    if (at < 0) return;
    if (order.keys[at] !== this.context.key) {
      this.#cut = 'its seat was given to another agent';
      this.#ended = true;
      return;
    }
    this.#work = this.#work.then(() => this.#measure(order, (how) => this.#execute(order, how)));
  }

  /**
   * @param {Step | { step: number }} order
   * @param {(how: { signal: AbortSignal, atStart: () => Promise<number> }) =>
   *   Promise<Partial<Upload>>} execute
   */
  async #measure(order, execute) {
    const { step } = order;
    const stop = new AbortController();
    this.#current = stop;
    const { holdsLease, upload } = this.context;
    /** @type {Upload} */
    const made = { seats: [], failure: null, clock: this.clock, targets: {} };
    try {
      const how = { signal: stop.signal, atStart: () => this.#awaitStart(step, stop.signal) };
      Object.assign(made, await execute(how));
      // The link is idle again: measures the offset and its drift.
      if (!this.#isAlone) await this.#compareClocks();
      made.clock = this.clock;
    } catch (error) {
      made.failure = { code: String(error.code ?? 'E_AGENT'), message: String(error.message) };
    }
    this.#current = null;
    this.#starts.delete(step);
    // Messages queued for a reconnect would belong to a finished run.
    if (this.#isAlone) return;
    try {
      if (await holdsLease())
        await upload(step, packUpload(made, 'contenders' in order ? order : null));
    } catch {
      // The run is over or the coordinator is unavailable, so the upload is dropped.
    }
  }

  /**
   * @param {Step} order
   * @param {{ signal: AbortSignal, atStart: () => Promise<number> }} how
   * @returns {Promise<Partial<Upload>>}
   */
  async #execute(order, how) {
    const { sameMachine } = this;
    const { data, home, allowTargets, play = playShare } = this.context;
    const { seats } = order;
    /** @type {Upload['targets']} */
    const targets = {};
    /** @type {typeof order.contenders} */
    const contenders = [];
    for (const one of order.contenders) {
      const spec = await admit(one.spec, { allowTargets, sameMachine, home });
      contenders.push({ ...one, spec });
    }
    for (const { spec } of contenders) {
      Object.assign(targets, await this.#measureRoundTrips(targetOf(spec)));
    }
    const share = { index: seats.indexOf(data.seat), count: seats.length };
    return {
      seats: await play({ ...order, contenders }, { share, home, sameMachine, ...how }),
      targets,
    };
  }

  /**
   * @param {number} step
   * @param {AbortSignal} signal
   * @returns {Promise<number>} start time on the system's monotonic clock
   */
  async #awaitStart(step, signal) {
    /** @type {Promise<number>} */
    const start = new Promise((resolve, reject) => {
      this.#starts.set(step, resolve);
      const stop = () => reject(new DragstripError('E_ABORTED', 'stopped before the start'));
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
    });
    const { notify, signed } = this.context;
    const ready = notify({ type: 'barrier', step, signature: signed(step) });
    const [startNs] = await Promise.all([start, ready]);
    return startNs;
  }

  /** @param {import('./portable.js').Target} target */
  async #measureRoundTrips(target) {
    /** @type {Record<string, number | null>} */
    const targets = {};
    for (const endpoint of endpointsOf(target)) {
      const name = formatEndpoint(endpoint);
      if (!this.#roundTrips.has(name)) this.#roundTrips.set(name, await roundTripOf(endpoint));
      targets[name] = this.#roundTrips.get(name) ?? null;
    }
    return targets;
  }

  async #compareClocks() {
    this.clock = await compareClocks(this.context.client);
    this.context.onClock(this.clock);
  }

  /**
   * Stops the load if the dead-man key is missing or the coordinator does not reply.
   * @param {import('ioredis').Redis} reader
   */
  async #checkAlive(reader) {
    const { client, data } = this.context;
    const isThere = await Promise.race([
      client.exists(runKey(data.run, 'alive')).catch(() => null),
      sleep(ALIVE_CHECK_MS * 2, null),
    ]);
    if (isThere === 1) this.#aliveNs = monotonicNs();
    const silentMs = (monotonicNs() - this.#aliveNs) / 1e6;
    if (isThere === 1 || this.#ended || (isThere === null && silentMs < ALIVE_MS)) return;
    this.#cut =
      isThere === 0 ? 'the run was ended' : `no reply from the coordinator for ${ALIVE_MS} ms`;
    this.#isAlone = isThere === null;
    this.#ended = true;
    this.#current?.abort();
    reader.disconnect();
  }
}
