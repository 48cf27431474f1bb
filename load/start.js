/**
 * Beginning at a given moment, with processes elsewhere: asleep until shortly before, because a
 * process that has slept is scheduled at once when it wakes, then in a loop, because a timer is up
 * to some milliseconds late. Whatever takes time is done before: what is left is reading the clock.
 */

/** @typedef {import('../measure/clock.js').Clock} Clock */

/** Timers have a resolution of 1 ms, and those of libuv are rounded. */
export const SPIN_NS = 3e6;
/** The clock is read again so often, because a timer of a minute may be late by some milliseconds. */
const SLEEP_MS_MAX = 100;

/**
 * @param {number} startNs of the clock
 * @param {{ clock: Clock, signal?: AbortSignal }} context
 * @returns {Promise<void>} SPIN_NS before it, at once where that is past, or when aborted
 */
export async function sleepUntilStart(startNs, { clock, signal }) {
  for (;;) {
    const leftMs = (startNs - SPIN_NS - clock.now()) / 1e6;
    if (leftMs <= 0 || signal?.aborted) return;
    await new Promise((resolve) => {
      setTimeout(resolve, Math.min(SLEEP_MS_MAX, Math.floor(leftMs)));
    });
  }
}

/**
 * @param {number} startNs not reached by turns of a loop where it is further away than SPIN_NS
 * @param {Clock} clock
 */
export function spinUntilStart(startNs, { now }) {
  const lastNs = startNs - SPIN_NS;
  for (let nowNs = now(); nowNs >= lastNs && nowNs < startNs; ) nowNs = now();
}
