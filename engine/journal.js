/**
 * Stores the running round in the result as an aborted one, so that a killed run loses at most its
 * last second. Between two segments nothing is measured during the write, which takes a bounded
 * share of the time.
 */

import { systemClock } from '../measure/clock.js';

const EVERY_NS = 0.5e9;
const SHARE_MAX = 0.05;

/** @typedef {import('../lib/result.js').Result} Result */
/** @typedef {{ benchmark: Result['benchmarks'][number],
 *   round: import('../lib/result.js').Round }} Unfinished */

export class Journal {
  #nextNs = systemClock.now() + EVERY_NS;
  #isBusy = false;

  /**
   * @param {{ result: Result, onPartial?: (result: Result) => unknown }} context
   */
  constructor({ result, onPartial }) {
    this.result = result;
    this.onPartial = onPartial;
  }

  /**
   * @param {() => Promise<Unfinished[]>} makeRounds called when it is time to store them
   * @param {{ waits: boolean }} how waits: nothing is measured until it is stored
   */
  async keep(makeRounds, { waits }) {
    const startNs = systemClock.now();
    if (this.onPartial === undefined || this.#isBusy || startNs < this.#nextNs) return;
    this.#isBusy = true;
    const rounds = await makeRounds();
    const benchmarks = this.result.benchmarks.map((one) => {
      const own = rounds.filter(({ benchmark }) => benchmark === one).map(({ round }) => round);
      if (own.length === 0) return one;
      const state = one.rounds.length === 0 ? /** @type {const} */ ('aborted') : one.state;
      return { ...one, state, rounds: [...one.rounds, ...own] };
    });
    await this.onPartial({ ...this.result, benchmarks });
    const endNs = systemClock.now();
    const pauseNs = waits ? (endNs - startNs) / SHARE_MAX : 0;
    this.#nextNs = Math.max(startNs + EVERY_NS, endNs + pauseNs);
    this.#isBusy = false;
  }
}
