/**
 * The parent's side of a contender's process: one request at a time, its answer as a promise. A
 * process that ends, or is silent for too long, fails the request that is open.
 */

import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describeEnd, startChild } from '../../lib/node-child.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const SILENCE_MS = 60_000;

export class Remote {
  /** @type {{ resolve: (value: any) => void, reject: (error: Error) => void } | null} */
  #open = null;
  #ended = false;

  /**
   * @param {{ silenceMs?: number, runtime?: import('../../lib/node-child.js').Runtime }} [options]
   */
  constructor({ silenceMs = SILENCE_MS, runtime } = {}) {
    this.child = startChild(CHILD, { runtime });
    this.child.then((ended) => {
      this.#ended = true;
      this.#fail(new Error(`the contender’s process ${describeEnd(ended)}`));
    });
    this.silence = setTimeout(() => this.kill(), silenceMs);
    this.silence.unref();
    this.child.on('message', (/** @type {any} */ { value, failure }) => {
      this.silence.refresh();
      const open = this.#open;
      this.#open = null;
      if (failure === undefined) open?.resolve(value);
      else open?.reject(Object.assign(new Error(failure.message), { code: failure.code }));
    });
  }

  /**
   * @param {{ type: 'open' | 'warm' | 'prepare' | 'slice' | 'settle' | 'end',
   *   [key: string]: unknown }} message
   * @returns {Promise<any>}
   */
  ask(message) {
    return new Promise((resolve, reject) => {
      if (this.#ended) reject(new Error('the contender’s process has ended'));
      this.#open = { resolve, reject };
      this.silence.refresh();
      // A failed send means that the process is ending: how it ended is the error that helps.
      this.child.send(message, () => {});
    });
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

  /** @param {Error} error */
  #fail(error) {
    this.#open?.reject(error);
    this.#open = null;
  }

  kill() {
    clearTimeout(this.silence);
    if (!this.#ended) this.child.kill('SIGKILL');
  }
}
