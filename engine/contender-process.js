/**
 * Parent side of a contender's process: one request at a time, answered by a promise. If the
 * process ends or sends nothing for too long during a request, the request fails. With a fake
 * clock, tests run the same code in this process.
 */

import { fileURLToPath } from 'node:url';
import { DragstripError } from '../lib/errors.js';
import { describeEnd, startChild } from '../lib/node-child.js';
import { bindToCpus } from '../lib/taskset.js';
import { systemClock } from '../measure/clock.js';
import { readOomKills } from '../measure/conditions.js';
import { openContender } from './contender.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

/**
 * A storage may block its event loop forever, and only its parent can end it. Opening, drawing keys
 * for millions of rows, or issuing millions of operations at once takes seconds.
 */
const SILENCE_MS = 60_000;
/** After an abort a contender drains for a second and answers; then it is killed. */
const ABORT_GRACE_MS = 4000;

/** Another process may have been OOM-killed at that time, and this one by hand. */
const OUT_OF_MEMORY =
  'the kernel killed a process for lack of memory: raise the memory limit, or use fewer --ops ' +
  'or a smaller --in-flight';

/** @typedef {import('./contender.js').ContenderSpec} ContenderSpec */
/** @typedef {import('./contender.js').Amount} Amount */
/** @typedef {import('./contender.js').Start} Start */
/** @typedef {import('./segment.js').Failure} Failure */

/**
 * @typedef {object} ProcessEvents
 * @property {(progress: Progress) => void} [onProgress]
 * @property {(segment: import('./segment.js').Segment) => void} [onPartial] measurements of the
 *   running segment, about once per second
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
 * @typedef {object} RemoteContender same as Contender, but answered by a process
 * @property {() => Promise<void>} open
 * @property {import('./contender.js').Contender['warm']} warm
 * @property {import('./contender.js').Contender['prepare']} prepare
 * @property {(load: number, start: Start, amount?: Amount) =>
 *   Promise<import('./segment.js').Segment>} run with an amount, prepares first
 * @property {import('./contender.js').Contender['close']} close
 * @property {(cpus: readonly number[]) => Promise<void>} pin
 * @property {() => void} abort stops the running segment
 * @property {() => void} kill
 * @property {() => Promise<number | null>} ended resolves when the process has ended, with its wall
 *   time in ns; null if it is this process
 */

/**
 * @param {{ silenceMs?: number }} [options] silenceMs: maximum time without a heartbeat during a
 *   request; at least six of its time limits
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
    this.oomKills = readOomKills();
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
    this.#exit = this.child.ended.then((end) => {
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

  /**
   * @param {unknown} message A failed send means that the process is ending; its exit status is
   *   more informative.
   */
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
   * Binds its main thread to processors. V8's helper threads stay free: they compile and collect
   * garbage concurrently, as they do for users.
   * @param {readonly number[]} cpus
   */
  async pin(cpus) {
    if (this.child.pid !== undefined) await bindToCpus([this.child.pid], cpus, { isWhole: false });
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
   * @returns {Failure} reason of its end, for the pending request
   */
  #failureOf(end) {
    if (this.#isAborted) {
      return { code: 'E_ABORTED', message: 'stopped before it returned a result' };
    }
    if (!this.#isBlocked) {
      const isOutOfMemory =
        end.signal === 'SIGKILL' && Number(readOomKills()) > Number(this.oomKills);
      const why = isOutOfMemory ? `${describeEnd(end)}: ${OUT_OF_MEMORY}` : describeEnd(end);
      return { code: 'E_BENCHMARK_PROCESS', message: `the benchmark process ${why}` };
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
    const opened = () => /** @type {import('./contender.js').Contender} */ (contender);
    return {
      async open() {
        if (spec.driver !== undefined) {
          // A process has one version of a driver, since loaded modules cannot be replaced.
          throw new DragstripError('E_INTERNAL', 'another version needs a separate process');
        }
        const context = { instruments, signal: stop.signal };
        contender = await openContender(spec, {
          ...context,
          onProgress: ({ phase, settled }) => onProgress?.({ phase, settled }),
        });
      },
      warm: (load) => opened().warm(load),
      prepare: (load, amount) => opened().prepare(load, amount),
      async run(load, start, amount) {
        if (amount !== undefined) await opened().prepare(load, amount);
        return opened().run(load, start);
      },
      close: () => opened().close(),
      pin: async () => {},
      abort: () => stop.abort(),
      ended: async () => null,
      kill() {},
    };
  };
}
