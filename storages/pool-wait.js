/**
 * Time that requests wait for a connection of a pool, which the latency includes together with the
 * time on the wire.
 */

import { systemClock } from '../measure/clock.js';
import { Histogram } from '../measure/histogram.js';

export class PoolWait {
  #histogram = new Histogram();

  /** @param {{ now(): number }} [clock] ns, monotonic */
  constructor(clock = systemClock) {
    this.clock = clock;
  }

  /** @returns {() => void} function to call when this request has its connection */
  begin() {
    const { clock } = this;
    const startNs = clock.now();
    return () => this.#histogram.record(Math.max(0, Math.round(clock.now() - startNs)));
  }

  /**
   * @returns {import('../lib/types.js').HistogramCounts} sum and number of waits since the last
   *   call
   */
  take() {
    const taken = this.#histogram;
    this.#histogram = new Histogram();
    return taken.toMessage();
  }
}
