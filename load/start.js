/**
 * Waits for a common start time with processes on other machines: sleeps until shortly before,
 * because a process that has slept is scheduled immediately when it wakes, then spins, because a
 * timer may be some milliseconds late. Slow work is done before; only reading the clock remains.
 */

/** @typedef {import('../measure/clock.js').Clock} Clock */

/** Timers have a resolution of 1 ms, and those of libuv are rounded. */
export const SPIN_NS = 3e6;
/** Interval of clock readings, because a timer of a minute may be some milliseconds late. */
const SLEEP_MS_MAX = 100;

/**
 * @param {number} startNs on the clock
 * @param {{ clock: Clock, signal?: AbortSignal }} context
 * @returns {Promise<void>} resolves SPIN_NS before it, immediately if that is in the past, or when
 *   aborted
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
 * @param {number} startNs start; out of reach of spinning if it is more than SPIN_NS away
 * @param {Clock} clock
 */
export function spinUntilStart(startNs, { now }) {
  const lastNs = startNs - SPIN_NS;
  for (let nowNs = now(); nowNs >= lastNs && nowNs < startNs; ) nowNs = now();
}
