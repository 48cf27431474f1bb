/**
 * The variants of a workload that a contender has: their handles, opened and checked once.
 */

import { loadWorkload } from '../workloads/index.js';
import { closeBounded, withTimeout } from './guard.js';
import { bindWorkload, CHECK_ROWS, checkRows, openStorage } from './opening.js';
import { keepOpen } from './reconnecting.js';

/** Loading a driver is not a reply, so a short --timeout does not limit it. */
const OPEN_TIMEOUT_MS = 10_000;

/** @typedef {import('./contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('./contender.js').ContenderContext} ContenderContext */
/** @typedef {import('./contender.js').Task} Task */

/**
 * @typedef {object} Variant variant of a workload: its loads share a handle and keys
 * @property {import('./opening.js').OpenedStorage} opened
 * @property {import('./opening.js').Bound} bound
 * @property {import('../lib/types.js').BoundWorkload} measured
 * @property {import('../lib/types.js').CallStyle} calls
 */

export class Variants {
  /** @type {Map<string, Variant>} */
  #variants = new Map();
  /** @type {Map<string, import('./opening.js').OpenedStorage>} */
  #handles = new Map();
  /** Until the first one has read its first row. */
  createdNs = 0;

  /** @param {ContenderSpec} spec @param {ContenderContext} context */
  constructor(spec, context) {
    this.spec = spec;
    this.context = context;
    this.clock = context.instruments.clock;
    this.openNs = this.clock.now();
  }

  get all() {
    return [...this.#variants.values()];
  }

  /**
   * @param {Task} task
   * @returns {Promise<Variant>} the same for the same operations over the same connections
   */
  async open(task) {
    if (this.#variants.size === 0) this.openNs = this.clock.now();
    const key = JSON.stringify([task.workload, task.workloadOptions, connectionsOf(task)]);
    try {
      const variant = this.#variants.get(key) ?? (await this.#openOne(task));
      this.#variants.set(key, variant);
      return variant;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** @param {Task} task @returns {Promise<Variant>} */
  async #openOne(task) {
    const { context, clock } = this;
    const { load, stallNs, workload } = task;
    const full = this.#specOf(task);
    const stallMs = stallNs / 1e6;
    const { shares } = await loadWorkload(workload);
    const name = shares?.(/** @type {any} */ (task.workloadOptions['parameters'] ?? {}));
    const key =
      name === undefined
        ? String(this.#handles.size)
        : JSON.stringify([workload, name, connectionsOf(task)]);
    const openMs = Math.max(OPEN_TIMEOUT_MS, stallMs);
    const opened =
      this.#handles.get(key) ?? (await withTimeout(openStorage(full), context, openMs, 'open'));
    this.#handles.set(key, opened);
    if (load.onOutage === 'continue') keepOpen(opened, clock);
    const bound = await bindWorkload(full, opened, clock);
    await withTimeout(checkRows(bound, opened, 1), context, stallMs, 'the first read');
    if (this.createdNs === 0) this.createdNs = clock.now() - this.openNs;
    await withTimeout(checkRows(bound, opened, CHECK_ROWS), context, stallMs, 'the check');
    const { measured } = bound;
    return { opened, bound, measured, calls: measured.calls ?? opened.calls };
  }

  /** @param {Task} task @returns {import('./opening.js').BenchmarkSpec} */
  #specOf({ workload, workloadOptions, load, operations, stallNs, slot, others }) {
    const { storage, isCopy = false, opener } = this.spec;
    return {
      ...storage,
      workload,
      workloadOptions,
      load,
      stallNs,
      slot: { at: slot, isCopy, isProgram: opener === 'program' },
      others: (storage.others ?? []).filter(({ name }) => others.includes(name)),
      ...(operations !== undefined && { operations }),
    };
  }

  async close() {
    for (const { handles } of this.#handles.values()) await closeBounded(handles[0]);
  }
}

/** @param {Task} task @returns {unknown} the number of connections of a handle */
function connectionsOf({ load: { connections = 1, valueSize, inFlight }, workloadOptions }) {
  // A pool has as many connections as requests in flight.
  return [connections, valueSize ?? null, workloadOptions['pool'] ? inFlight : null];
}
