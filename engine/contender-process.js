/**
 * The parent's side of a contender's process: one request at a time, its answer as a promise. A
 * process that ends, or is silent for too long during a request, fails that request.
 * For tests with a fake clock the same runs in this process.
 */

import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { DragstripError } from '../lib/errors.js';
import { describeEnd, startChild } from '../lib/node-child.js';
import { systemClock } from '../measure/clock.js';
import { openContender } from './contender.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

/**
 * A storage may block its event loop for ever; nothing but its parent can end that. Opening and
 * drawing keys for millions of rows, or issuing millions of operations at once, takes some seconds.
 */
const SILENCE_MS = 60_000;
/** After an abort a contender drains for a second and answers; then it is killed. */
const ABORT_GRACE_MS = 4000;

/** @typedef {import('./contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('./contender.js').Amount} Amount */
/** @typedef {import('./contender.js').Start} Start */
/** @typedef {import('./segment.js').Failure} Failure */

/**
 * @typedef {object} ProcessEvents
 * @property {(progress: Progress) => void} [onProgress]
 * @property {(segment: import('./segment.js').Segment) => void} [onPartial] about each second, what
 *   the segment under way has measured
 *
 * @typedef {{ phase: string, settled: number,
 *   live?: import('./recorded.js').LiveFigures }} Progress
 *
 * @callback ProcessFactory
 * @param {ContenderSpec} spec
 * @param {ProcessEvents} events
 * @returns {RemoteContender}
 */

/**
 * @typedef {object} RemoteContender as Contender, each answer by a process
 * @property {() => Promise<void>} open
 * @property {import('./contender.js').Contender['warm']} warm
 * @property {import('./contender.js').Contender['prepare']} prepare
 * @property {(load: number, start: Start, amount?: Amount) =>
 *   Promise<import('./segment.js').Segment>} run with an amount it is prepared first
 * @property {import('./contender.js').Contender['close']} close
 * @property {(cpus: readonly number[]) => Promise<void>} pin
 * @property {() => void} abort what it does
 * @property {() => void} kill
 * @property {() => Promise<number | null>} ended resolves when the process has ended, with its wall
 *   time in ns; null: it is this process
 */

/**
 * @param {{ silenceMs?: number }} [options] silenceMs: how long a process may be without a sign of
 *   life during a request, at least six of its time limits
 * @returns {ProcessFactory}
 */
export function createProcesses({ silenceMs = SILENCE_MS } = {}) {
  return (spec, events) => {
    const stallNs = Math.max(0, ...spec.tasks.map((task) => task?.stallNs ?? 0));
    return new ContenderProcess(spec, events, Math.max(silenceMs, (6 * stallNs) / 1e6));
  };
}

/** @implements {RemoteContender} */
class ContenderProcess {
  /** @type {{ resolve: (value: any) => void, reject: (error: Error) => void } | null} */
  #open = null;
  /** @type {Failure | null} */
  #ended = null;
  #isBlocked = false;
  #isAborted = false;
  /** @type {Promise<number>} */
  #exit;
  /** @type {NodeJS.Timeout | undefined} */
  #silence;
  /** @type {NodeJS.Timeout | undefined} */
  #killer;

  /**
   * @param {ContenderSpec} spec
   * @param {ProcessEvents} events
   * @param {number} silenceMs
   */
  constructor(spec, { onProgress, onPartial }, silenceMs) {
    this.spec = spec;
    this.silenceMs = silenceMs;
    this.partials = onPartial !== undefined;
    this.child = startChild(CHILD, { cpus: spec.cpus, runtime: spec.runtime });
    this.child.on('message', (/** @type {any} */ message) => {
      this.#silence?.refresh();
      if (message.type === 'alive') return;
      if (message.type === 'progress') onProgress?.(message.progress);
      else if (message.type === 'partial') onPartial?.(message.segment);
      else if (message.failure !== undefined) this.#settle(message.failure);
      else this.#settle(null, message.value);
    });
    const startNs = systemClock.now();
    this.#exit = this.child.then((end) => {
      clearTimeout(this.#killer);
      this.#ended = this.#failureOf(end);
      this.#settle(this.#ended);
      return systemClock.now() - startNs;
    });
  }

  /**
   * @param {string} type
   * @param {Record<string, unknown>} [fields]
   * @returns {Promise<any>}
   */
  #ask(type, fields = {}) {
    return new Promise((resolve, reject) => {
      this.#open = { resolve, reject };
      if (this.#ended !== null) {
        this.#settle(this.#ended);
        return;
      }
      this.#silence = setTimeout(() => {
        this.#isBlocked = true;
        this.kill();
      }, this.silenceMs);
      this.#send({ type, ...fields });
    });
  }

  /** @param {unknown} message A failed send means that it is ending: how it ended says more. */
  #send(message) {
    if (this.child.connected) this.child.send(/** @type {any} */ (message), () => {});
  }

  /** @param {Failure | null} failure @param {unknown} [value] */
  #settle(failure, value) {
    const open = this.#open;
    clearTimeout(this.#silence);
    this.#open = null;
    if (failure === null) open?.resolve(value);
    else open?.reject(Object.assign(new Error(failure.message), { code: failure.code }));
  }

  open() {
    const { runtime: _runtime, cpus: _cpus, ...spec } = this.spec;
    return this.#ask('open', { spec, partials: this.partials });
  }

  /** @param {number} load */
  warm(load) {
    return this.#ask('warm', { load });
  }

  /** @param {number} load @param {Amount} amount */
  prepare(load, amount) {
    return this.#ask('prepare', { load, amount });
  }

  /** @param {number} load @param {Start} start @param {Amount} [amount] */
  run(load, start, amount) {
    return this.#ask('run', { load, start, amount });
  }

  close() {
    return this.#ask('close');
  }

  /**
   * Keeps its main thread on some processors. V8's helper threads stay free: they compile and
   * collect garbage beside it, as they do for any user.
   * @param {readonly number[]} cpus
   */
  async pin(cpus) {
    const args = ['--cpu-list', '--pid', cpus.join(','), String(this.child.pid)];
    await execa('taskset', args, { reject: false });
  }

  abort() {
    this.#isAborted = true;
    this.#send({ type: 'abort' });
    this.#killer ??= setTimeout(() => this.kill(), ABORT_GRACE_MS);
  }

  ended() {
    this.#killer ??= setTimeout(() => this.kill(), ABORT_GRACE_MS);
    return this.#exit;
  }

  kill() {
    clearTimeout(this.#silence);
    if (this.#ended === null) this.child.kill('SIGKILL');
  }

  /**
   * @param {Parameters<typeof describeEnd>[0]} end
   * @returns {Failure} why it has ended, for the request that is open
   */
  #failureOf(end) {
    if (this.#isAborted) {
      return { code: 'E_ABORTED', message: 'stopped before it returned a result' };
    }
    if (!this.#isBlocked) {
      return { code: 'E_BENCHMARK_PROCESS', message: `the benchmark process ${describeEnd(end)}` };
    }
    const message =
      `the storage blocked the event loop for ${this.silenceMs / 1000} s; ` +
      'its process was killed';
    return { code: 'E_BENCHMARK_BLOCKED', message };
  }
}

/**
 * @param {import('../measure/usage.js').Instruments} instruments
 * @returns {ProcessFactory} contenders in this process
 */
export function inThisProcess(instruments) {
  return (spec, { onProgress }) => {
    const stop = new AbortController();
    /** @type {import('./contender.js').Contender | null} */
    let contender = null;
    const own = () => /** @type {import('./contender.js').Contender} */ (contender);
    return {
      async open() {
        if (spec.driver !== undefined) {
          // A process has one version of a driver: what it has loaded cannot be exchanged.
          throw new DragstripError('E_INTERNAL', 'another version needs a separate process');
        }
        const context = { instruments, signal: stop.signal };
        contender = await openContender(spec, {
          ...context,
          onProgress: ({ phase, settled }) => onProgress?.({ phase, settled }),
        });
      },
      warm: (load) => own().warm(load),
      prepare: (load, amount) => own().prepare(load, amount),
      async run(load, start, amount) {
        if (amount !== undefined) await own().prepare(load, amount);
        return own().run(load, start);
      },
      close: () => own().close(),
      pin: async () => {},
      abort: () => stop.abort(),
      ended: async () => null,
      kill() {},
    };
  };
}
