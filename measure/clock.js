/**
 * The only place that reads a clock. Everything that measures is handed one of these, so that a
 * fake one makes a whole run deterministic (habit 13).
 *
 * performance.now() is monotonic, is not slewed by the system's date, and costs about 50 ns;
 * process.hrtime.bigint() allocates. It is imported and not taken from the global object: there
 * `performance` is a getter, which costs another 27 ns at each reading.
 */

import { performance } from 'node:perf_hooks';

/**
 * @typedef {object} Clock
 * @property {() => number} now nanoseconds since an arbitrary moment, monotonic
 * @property {number} [originNs] what it shows as 0, on the system's own monotonic clock
 *   (CLOCK_MONOTONIC), which all processes of the machine read alike
 * @property {() => string} date the date and time of day, ISO 8601, for labels only
 */

/**
 * process.hrtime reads CLOCK_MONOTONIC (libuv, uv_hrtime), and so does performance.now(), counted
 * from the start of the process. Not performance.timeOrigin: that is a time of day, which may be
 * set while we run. Exact to the microsecond that lies between the two readings.
 */
function readOriginNs() {
  const beforeNs = performance.now() * 1e6;
  const systemNs = Number(process.hrtime.bigint());
  return systemNs - (beforeNs + performance.now() * 1e6) / 2;
}

/** @type {Clock} */
export const systemClock = {
  now: () => performance.now() * 1e6,
  originNs: readOriginNs(),
  date: () => new Date().toISOString(),
};

/**
 * A clock that moves by a fixed step at each reading: time is then a function of the calls made.
 * @param {{ stepNs?: number, date?: string }} [options]
 * @returns {Clock}
 */
export function createFakeClock({ stepNs = 1000, date = '2026-01-01T00:00:00.000Z' } = {}) {
  let time = 0;
  return {
    now: () => {
      time += stepNs;
      return time;
    },
    originNs: 0,
    date: () => date,
  };
}

/**
 * The clock's own cost, which every recorded latency contains once.
 * @param {Clock} clock
 * @param {number} [readings]
 * @returns {number} nanoseconds for a reading, the smallest of five passes
 */
export function clockCostNs(clock, readings = 100_000) {
  let best = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < 5; pass += 1) {
    const start = clock.now();
    for (let i = 0; i < readings; i += 1) clock.now();
    best = Math.min(best, (clock.now() - start) / readings);
  }
  return best;
}
