/**
 * How long requests wait until a pool gives them a connection: apart from the time on the wire,
 * which the latency contains together with it.
 */

import { systemClock } from '../measure/clock.js';
import { Histogram } from '../measure/histogram.js';

export class PoolWait {
  #histogram = new Histogram();

  /** @param {{ now(): number }} [clock] ns, monotonic */
  constructor(clock = systemClock) {
    this.clock = clock;
  }

  /** @returns {() => void} to be called when this request has its connection */
  begin() {
    const { clock } = this;
    const startNs = clock.now();
    return () => this.#histogram.record(Math.max(0, Math.round(clock.now() - startNs)));
  }

  /** @returns {import('../lib/types.js').HistogramCounts} of waits since the last call */
  take() {
    const taken = this.#histogram;
    this.#histogram = new Histogram();
    return taken.toMessage();
  }
}
