/**
 * The parent's side of a contender's process: one request at a time, its answer as a promise. A
 * process that ends, or is silent for too long, fails the request that is open.
 */

import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { MeasuringProcess } from '../measuring-process.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

export class Remote {
  /** @type {{ resolve: (value: any) => void, reject: (error: Error) => void } | null} */
  #open = null;

  /**
   * @param {{ silenceMs?: number, runtime?: import('../../lib/node-child.js').Runtime }} [options]
   */
  constructor(options = {}) {
    this.process = new MeasuringProcess(CHILD, {
      ...options,
      name: 'the contender’s process',
      onMessage: ({ value, failure }) => {
        if (failure !== undefined) return this.#fail(failure);
        const open = this.#open;
        this.#open = null;
        open?.resolve(value);
      },
    });
    this.process.ended.then((failure) => this.#fail(failure));
  }

  /**
   * @param {{ type: 'open' | 'warm' | 'prepare' | 'slice' | 'settle' | 'end' | 'timetable',
   *   [key: string]: unknown }} message
   * @returns {Promise<any>}
   */
  ask(message) {
    return new Promise((resolve, reject) => {
      if (this.process.hasEnded) reject(new Error('the contender’s process has ended'));
      this.#open = { resolve, reject };
      this.process.send(message);
    });
  }

  /**
   * Keeps its main thread on some processors. V8's helper threads stay free: they compile and
   * collect garbage beside it, as they do for any user.
   * @param {readonly number[]} cpus
   */
  async pin(cpus) {
    const args = ['--cpu-list', '--pid', cpus.join(','), String(this.process.pid)];
    await execa('taskset', args, { reject: false });
  }

  /** @param {import('../measuring-process.js').ProcessFailure} failure */
  #fail({ code, message }) {
    this.#open?.reject(Object.assign(new Error(message), { code }));
    this.#open = null;
  }

  kill() {
    this.process.kill();
  }
}
