/**
 * The only module that reads a clock. Every measuring module receives a clock, so that a fake one
 * makes a whole run deterministic.
 *
 * performance.now() is monotonic, is not slewed by changes of the date, and costs about 50 ns;
 * process.hrtime.bigint() allocates. It is imported instead of read from the global object, where
 * `performance` is a getter that costs another 27 ns per reading.
 */

import { performance } from 'node:perf_hooks';

/**
 * @typedef {object} Clock
 * @property {() => number} now nanoseconds since an arbitrary moment, monotonic
 * @property {number} [originNs] its zero on the system's monotonic clock (CLOCK_MONOTONIC), common
 *   to all processes of the machine
 * @property {() => string} date date and time of day, ISO 8601, for labels only
 */

/**
 * process.hrtime reads CLOCK_MONOTONIC (libuv, uv_hrtime), and so does performance.now(), relative
 * to the start of the process. performance.timeOrigin is a time of day, which may be set during a
 * run. Accurate to the microsecond between the two readings.
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
 * A clock that advances by a fixed step per reading: time is a function of the calls made.
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
