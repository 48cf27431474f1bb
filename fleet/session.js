/**
 * One run on an agent: takes orders from the run's stream, executes its share of each benchmark in
 * child processes, and uploads what came of it. It ends with the run: by the controller's word, or
 * by the dead-man key, which the controller deletes or no longer renews.
 */

import path from 'node:path';
import { executeParts } from '../engine/executor.js';
import { formatEndpoint } from '../lib/address.js';
import { processScope } from '../lib/process-identity.js';
import { compareClocks, monotonicNs } from './clock.js';
import { requireNames, requireTarget, roundTripOf } from './guard.js';
import { ALIVE_CHECK_MS, ALIVE_MS, runKey } from './names.js';
import { runShare, targetOf } from './slices.js';
import { packUpload } from './upload.js';

/** @typedef {import('../engine/benchmark.js').BenchmarkSpec} BenchmarkSpec */
/** @typedef {import('./upload.js').Upload} Upload */

/**
 * @typedef {object} LeaseData of a lease: names and options, never functions, and no secret
 * @property {string} run
 * @property {number} seat of this agent, from 0
 * @property {number} count of agents
 * @property {string | null} scope where the controller's process numbers are valid
 * @property {string[]} storages
 *
 * @typedef {{ type: 'measure', spec: BenchmarkSpec }
 *   | { type: 'slices', round: import('./slices.js').RoundOrder }} Work one benchmark of one round,
 *   or one round of slices of all of them
 * @typedef {Work & { step: number, seats: number[] }} Step seats: that take part
 *
 * @typedef {Step | { type: 'start', step: number, atNs: number } | { type: 'stop' }
 *   | { type: 'end' }} Order
 *
 * @typedef {object} SessionContext
 * @property {LeaseData} data
 * @property {import('ioredis').Redis} client
 * @property {(message: Record<string, unknown>) => Promise<void>} tell the controller
 * @property {() => Promise<boolean>} holdsLease false: it was lost, so nothing may be uploaded
 * @property {(step: number, payload: string) => Promise<void>} upload
 * @property {readonly string[]} allowTargets
 * @property {string} home
 * @property {(reading: import('./clock.js').ClockReading) => void} onClock
 * @property {typeof executeParts} [execute] its processes; absent: child processes
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
  /** @type {Map<string, number | null>} */
  #roundTrips = new Map();

  /** @param {SessionContext} context */
  constructor(context) {
    this.context = context;
    /** @type {import('./clock.js').ClockReading} */
    this.clock = { offsetNs: 0, roundTripNs: 0, exchanges: 0 };
    this.sameMachine = context.data.scope !== null && context.data.scope === processScope();
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
        this.#take(/** @type {Order} */ (JSON.parse(fields[1])));
      }
    }
  }

  /** @param {Order} order */
  #take(order) {
    if (order.type === 'end') this.#ended = true;
    if (order.type === 'stop') this.#current?.abort();
    if (order.type === 'start') {
      this.#starts.get(order.step)?.(order.atNs - this.clock.offsetNs);
      this.#starts.delete(order.step);
    }
    if (order.type !== 'measure' && order.type !== 'slices') return;
    if (!order.seats.includes(this.context.data.seat)) return;
    this.#work = this.#work.then(() => this.#measure(order));
  }

  /** @param {Step} order */
  async #measure(order) {
    const { step } = order;
    const stop = new AbortController();
    this.#current = stop;
    const { holdsLease, upload } = this.context;
    /** @type {Upload} */
    const made = { executions: [], failure: null, clock: this.clock, targets: {} };
    try {
      const how = { signal: stop.signal, atStart: () => this.#awaitStart(step) };
      Object.assign(made, await this.#execute(order, how));
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
      if (await holdsLease()) await upload(step, packUpload(made));
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
    const { data, home, allowTargets, execute = executeParts } = this.context;
    const { seats } = order;
    const specs = order.type === 'measure' ? [order.spec] : order.round.entrants.map(targetOf);
    if (order.type === 'slices') order.round.loads.forEach(requireNames);
    for (const spec of specs) {
      requireNames(spec);
      await requireTarget(spec, { allowTargets, sameMachine });
    }
    /** @type {Upload['targets']} */
    const targets = {};
    for (const spec of specs) Object.assign(targets, await this.#measureRoundTrips(spec));
    if (order.type === 'measure') {
      const { executions } = await execute(this.#partsOf(order.spec, seats), how);
      return { executions, targets };
    }
    const share = { index: seats.indexOf(data.seat), count: seats.length };
    const contenders = await runShare(order.round, { share, home, sameMachine, ...how });
    return { contenders, targets };
  }

  /**
   * Process p of agent a has share a + N · p of N · P: operation k belongs to agent k mod N.
   * @param {BenchmarkSpec} spec
   * @param {readonly number[]} seats
   * @returns {BenchmarkSpec[]}
   */
  #partsOf(spec, seats) {
    const { home, data } = this.context;
    const processes = spec.load.processes ?? 1;
    return Array.from({ length: processes }, (_, p) => ({
      ...spec,
      folder: path.join(home, 'embedded'),
      // Of another machine these would be the numbers of any processes.
      serverPids: this.sameMachine ? spec.serverPids : [],
      perSecond: true,
      share: {
        index: seats.indexOf(data.seat) + seats.length * p,
        count: seats.length * processes,
      },
    }));
  }

  /**
   * @param {number} step
   * @returns {Promise<number>} when to begin, on the system's monotonic clock
   */
  async #awaitStart(step) {
    /** @type {Promise<number>} */
    const start = new Promise((resolve) => this.#starts.set(step, resolve));
    await this.context.tell({ type: 'barrier', step });
    return start;
  }

  /** @param {Pick<BenchmarkSpec, 'address'>} spec */
  async #measureRoundTrips({ address }) {
    /** @type {Record<string, number | null>} */
    const targets = {};
    for (const endpoint of Object.values(address)) {
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
    const isThere = await withinMs(client.exists(runKey(data.run, 'alive')), ALIVE_CHECK_MS * 2);
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

/**
 * @template T
 * @param {Promise<T>} work
 * @param {number} ms
 * @returns {Promise<T | null>} null: no answer in time, or a failure
 */
async function withinMs(work, ms) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<null>} */
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  const answer = await Promise.race([work.catch(() => null), late]);
  clearTimeout(timer);
  return answer;
}
