/**
 * One run on an agent: takes orders from the run's stream, executes its share of each benchmark in
 * child processes, and uploads what came of it. It ends with the run: by the controller's word, or
 * by the dead-man key, which the controller deletes or no longer renews.
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
 * @typedef {import('./fleet-rounds.js').Order &
 *   { type: 'play', step: number, seats: number[] }} Step seats: that take part
 *
 * @typedef {Step | { type: 'start', step: number, atNs: number } | { type: 'stop' }
 *   | { type: 'end' }} Order
 *
 * @typedef {object} SessionContext
 * @property {import('./order-schema.js').LeaseData} data
 * @property {import('ioredis').Redis} client
 * @property {(message: Record<string, unknown>) => Promise<void>} tell the controller
 * @property {(text: string, signature: string) => boolean} verifies that the controller has signed
 * @property {(step: number) => string} signed that it is ready to start this step
 * @property {() => Promise<boolean>} holdsLease false: it was lost, so nothing may be uploaded
 * @property {(step: number, payload: string) => Promise<void>} upload
 * @property {readonly string[]} allowTargets
 * @property {string} home
 * @property {(reading: import('./coordinator-clock.js').ClockReading) => void} onClock
 * @property {typeof playShare} [play] in place of its processes
 */

export class Session {
  /** The step that is being executed. @type {AbortController | null} */
  #current = null;
  /** @type {Promise<void>} */
  #work = Promise.resolve();
  /** Resolved by the order to start. @type {Map<number, (atNs: number) => void>} */
  #starts = new Map();
  #ended = false;
  /** Why it ended before the controller's word. @type {string | null} */
  #cut = null;
  /** The coordinator does not answer. */
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
   * @returns {Promise<void>} when the run is over for this agent
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
   * An order is ignored if the controller has not signed it, if it is of another run, or if it was
   * taken before: every holder of the agents' token can write into the stream.
   * @param {string[]} fields of an entry of the stream
   * @throws {DragstripError} E_REFUSED: no order, and of no step that could fail
   */
  #take([, text = '', , signature = '']) {
    if (!this.context.verifies(text, signature)) return;
    const { order, step, issue } = readOrder(text);
    if (order === null) {
      const refused = refusedError(`an order is not valid: ${issue}`, 'use the same version');
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
    if (!order.seats.includes(this.context.data.seat)) return;
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
      // The link is idle again: the offset of before, and how far it has drifted.
      if (!this.#isAlone) await this.#compareClocks();
      made.clock = this.clock;
    } catch (error) {
      made.failure = { code: String(error.code ?? 'E_AGENT'), message: String(error.message) };
    }
    this.#current = null;
    this.#starts.delete(step);
    // What would be sent when the link is back belongs to a run that is over.
    if (this.#isAlone) return;
    try {
      if (await holdsLease())
        await upload(step, packUpload(made, 'contenders' in order ? order : null));
    } catch {
      // The run is over, or the coordinator away: nobody waits for it any more.
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
   * @returns {Promise<number>} when to begin, on the system's monotonic clock
   */
  async #awaitStart(step, signal) {
    /** @type {Promise<number>} */
    const start = new Promise((resolve, reject) => {
      this.#starts.set(step, resolve);
      const stop = () => reject(new DragstripError('E_ABORTED', 'stopped before the start'));
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
    });
    const { tell, signed } = this.context;
    const ready = tell({ type: 'barrier', step, signature: signed(step) });
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
   * The dead-man key: where it is gone, or the coordinator does not answer, nobody wants the load
   * any more.
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
      isThere === 0 ? 'the run was ended' : `no answer of the coordinator for ${ALIVE_MS} ms`;
    this.#isAlone = isThere === null;
    this.#ended = true;
    this.#current?.abort();
    reader.disconnect();
  }
}
