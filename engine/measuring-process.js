/**
 * The parent's side of every process that measures: it is started, listened to, stopped by message
 * or ended by force, and how it ended is described.
 */

import { describeEnd, startChild } from '../lib/node-child.js';

/**
 * A storage may block its event loop for ever; nothing but its parent can end that. Opening and
 * drawing keys for millions of rows, or issuing millions of operations at once, takes some seconds.
 */
export const SILENCE_MS = 60_000;
/** After an abort a benchmark drains for a second and closes; then it is killed. */
const ABORT_GRACE_MS = 4000;

/** @typedef {{ code: string, message: string }} ProcessFailure */

export class MeasuringProcess {
  #hasEnded = false;
  #isBlocked = false;
  #isAborted = false;
  /** @type {NodeJS.Timeout | undefined} */
  #killer;
  /** @type {NodeJS.Timeout} */
  #silence;

  /**
   * @param {string} entry path of its module, built on served-process.js
   * @param {{ name: string, cpus?: number[], silenceMs?: number,
   *   runtime?: import('../lib/node-child.js').Runtime,
   *   onMessage: (message: any) => void }} options name: what messages call it; silenceMs: how long
   *   it may be without a sign of life
   */
  constructor(entry, { name, cpus, silenceMs = SILENCE_MS, runtime, onMessage }) {
    this.name = name;
    this.silenceMs = silenceMs;
    this.child = startChild(entry, { cpus, runtime });
    this.#silence = setTimeout(() => {
      this.#isBlocked = true;
      this.kill();
    }, silenceMs);
    this.child.on('message', (/** @type {any} */ message) => {
      this.#silence.refresh();
      if (message.type !== 'alive') onMessage(message);
    });
    /** @type {Promise<ProcessFailure>} never rejects; why it is over, where it was not meant to be */
    this.ended = this.child.then((end) => {
      this.#hasEnded = true;
      clearTimeout(this.#silence);
      clearTimeout(this.#killer);
      return this.#failureOf(end);
    });
  }

  get pid() {
    return this.child.pid;
  }

  get hasEnded() {
    return this.#hasEnded;
  }

  /** @param {unknown} message A failed send means that it is ending: how it ended says more. */
  send(message) {
    this.#silence.refresh();
    if (this.child.connected) this.child.send(/** @type {any} */ (message), () => {});
  }

  /** Stops by message what it does; ends it by force where that takes too long. */
  abort() {
    this.#isAborted = true;
    this.send({ type: 'abort' });
    this.#killer = setTimeout(() => this.kill(), ABORT_GRACE_MS);
  }

  kill() {
    clearTimeout(this.#silence);
    if (!this.#hasEnded) this.child.kill('SIGKILL');
  }

  /**
   * @param {Parameters<typeof describeEnd>[0]} end
   * @returns {ProcessFailure}
   */
  #failureOf(end) {
    if (this.#isAborted) {
      return { code: 'E_ABORTED', message: 'stopped before it returned a result' };
    }
    if (!this.#isBlocked) {
      return { code: 'E_BENCHMARK_PROCESS', message: `${this.name} ${describeEnd(end)}` };
    }
    const message =
      `the storage blocked the event loop for ${this.silenceMs / 1000} s; ` +
      'its process was killed';
    return { code: 'E_BENCHMARK_BLOCKED', message };
  }
}
